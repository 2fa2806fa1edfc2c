import {
  DefaultLogger,
  type InjectedSinks,
  type ReplayResult,
  Runtime,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import { type Difference, firstDifference, firstOtherStep, framesOf } from "./difference.ts";
import { expectOwnId, hasBegun, type RunToReplay } from "./history.ts";
import type { Activation, Recorded, RecorderSinks } from "./record.ts";

/**
 * How code differs from a history: it does something else, or throws (`nondeterminism`), or it sends another step
 * (`otherStep`). Or nothing can be said: it has no workflow of that type (`unknownWorkflow`), or a
 * codec has written the history (`unreadable`).
 */
export type DifferenceKind = "nondeterminism" | "otherStep" | "unknownWorkflow" | "unreadable";

/** Outcome of the replay of one history. */
export type Replay = {
  readonly workflowId: string;
  readonly type: string;
  /** Number of events in the history. */
  readonly events: number;
} & (
  | { readonly deterministic: true }
  | {
      readonly deterministic: false;
      readonly kind: DifferenceKind;
      /** The SDK's message; of another step, which the SDK does not see, its meaning. */
      readonly message: string;
      readonly difference: Difference;
    }
);

/** The SDK's error holds the failure as its core prints it: its texts are quoted as in JSON. */
const quotedField = (text: string, field: string): string | undefined => {
  const quoted = new RegExp(`\\b${field}: ("(?:[^"\\\\]|\\\\.)*")`).exec(text)?.[1];
  try {
    return quoted === undefined ? undefined : String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
};

/** Without the raw events that the core may print: their payloads can hold account numbers. */
const messageOf = ({ message }: Error): string =>
  (quotedField(message, "message") ?? message).replace(/: HistoryEvent \{.*/s, "");

/** How the SDK says that a bundle does not have a workflow. */
const NO_SUCH_WORKFLOW = /no such function is exported by the workflow bundle/;

/** How the SDK says that no converter of the workflow reads a payload. */
const UNKNOWN_ENCODING = /^Unknown encoding: /;

const kindOf = (message: string): DifferenceKind => {
  if (NO_SUCH_WORKFLOW.test(message)) return "unknownWorkflow";
  return UNKNOWN_ENCODING.test(message) ? "unreadable" : "nondeterminism";
};

const otherStepMessage = ({ command, event }: Difference): string => {
  const now =
    command?.step === undefined ? "an activity without a step" : `the step ${command.step}`;
  return `This run sent a request as the step ${event?.step}, but the code sends it as ${now}. The ledger identifies a payment by its step, so it could be paid a second time if its outcome is still unknown, or if the run is retried. Keep the name, or use the new one only behind patched.`;
};

const runOf = ({ history: { events }, workflowId }: RunToReplay) => ({
  workflowId,
  type: events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? "",
  events: events?.length ?? 0,
});

const outcomeOf = (
  replayed: RunToReplay,
  { error }: ReplayResult,
  activations: ReadonlyArray<Activation>,
): Replay => {
  const { history } = replayed;
  const run = runOf(replayed);
  if (error === undefined) {
    const difference = firstOtherStep(history, activations);
    if (difference === undefined) return { ...run, deterministic: true };
    const message = otherStepMessage(difference);
    return { ...run, deterministic: false, kind: "otherStep", message, difference };
  }
  const message = messageOf(error);
  const difference = firstDifference(history, activations);
  const thrownAt = framesOf(quotedField(error.message, "stack_trace") ?? "");
  return {
    ...run,
    deterministic: false,
    kind: kindOf(message),
    message,
    // Code that throws where it did not then is shown where it throws.
    difference: thrownAt.length > 0 ? { ...difference, stack: thrownAt } : difference,
  };
};

/**
 * Lets the SDK log nothing about replays: what it says of a failed replay is in the result. A process that has a
 * Runtime of its own, or options for one, goes by that. The quiet one ends with the replay that it is for.
 */
const quietUnlessInstalled = (): void => {
  if (Runtime._instance !== undefined || Object.keys(Runtime.defaultOptions).length > 0) return;
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  });
  // The SDK keeps them for the next Runtime of the process, which would be as quiet.
  Runtime.defaultOptions = {};
};

/**
 * Replays histories one after the other, offline: no server and no worker is needed, and no
 * activity runs. The SDK logs nothing of it, unless the process has installed a `Runtime`.
 *
 * @param workflowBundle from {@link bundleForReplay}
 * @param runs from {@link readRun}, or a workflow id with what the client's `fetchHistory` returns.
 * @returns one result for each run, in their order.
 * @throws InvalidHistory if a history has another workflow id.
 */
export async function* replayHistories(
  workflowBundle: WorkflowBundle,
  runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>,
): AsyncGenerator<Replay> {
  let replayed: RunToReplay | undefined;
  let activations: Array<Activation> = [];
  let notBegun: Array<Replay> = [];
  async function* oneByOne() {
    for await (const run of runs) {
      expectOwnId(run);
      // The SDK would wait forever for its first workflow task.
      if (!hasBegun(run.history)) {
        notBegun.push({ ...runOf(run), deterministic: true });
        continue;
      }
      replayed = run;
      activations = [];
      yield run;
    }
  }
  const sinks: InjectedSinks<RecorderSinks> = {
    replayRecorder: {
      activation: {
        fn: (_, activation) => void activations.push(activation),
        callDuringReplay: true,
      },
    },
  };
  const options = { workflowBundle, sinks, reuseV8Context: false };
  quietUnlessInstalled();
  for await (const result of Worker.runReplayHistories(options, oneByOne())) {
    yield* notBegun;
    notBegun = [];
    if (replayed !== undefined) yield outcomeOf(replayed, result, activations);
  }
  yield* notBegun;
}

/** `ACTIVITY_TASK_SCHEDULED` as Temporal's Web UI shows it: `ActivityTaskScheduled`. */
const shownType = (type: string): string =>
  type.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const recorded = ({ name, step, type, workflowId }: Recorded): string =>
  [
    name === undefined ? shownType(type) : `${shownType(type)} ${name}`,
    ...(workflowId === undefined ? [] : [`workflow id ${workflowId}`]),
    ...(step === undefined ? [] : [`step ${step}`]),
  ].join(", ");

/**
 * Describes how a replay differs from its history, as tools and tests show it.
 *
 * @param replay that is not deterministic.
 * @returns lines of text: the event, the command of the code, the lines of its sources, and the reason.
 */
export const describeDifference = ({
  difference: { command, event, stack },
  kind,
  message,
}: Extract<Replay, { deterministic: false }>): ReadonlyArray<string> => [
  `history: ${event === undefined ? "no further event" : `event ${event.id}, ${recorded(event)}`}`,
  `code:    ${command === undefined ? "waits, or has ended" : recorded(command)}`,
  ...stack.map(({ column, file, line, source }) =>
    [`         ${file}:${line}:${column}`, ...(source === undefined ? [] : [source])].join("  "),
  ),
  kind === "otherStep" ? message : `Temporal: ${message}`,
];
