import {
  type InjectedSinks,
  type ReplayResult,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import { type Difference, firstDifference, firstOtherStep } from "./difference.ts";
import { hasBegun } from "./history.ts";
import { quietUnlessInstalled } from "./quiet.ts";
import type { Activation, RecorderSinks } from "./record.ts";
import { expectOwnId, type RunToReplay } from "./run.ts";
import { framesOf } from "./stack.ts";

/**
 * How code differs from a history: it does something else, or throws (`nondeterminism`), or it sends another step
 * (`otherStep`). Or nothing can be said: it has no workflow of that type (`unknownWorkflow`), or a
 * codec has written the history (`unreadable`).
 */
export type DifferenceKind = "nondeterminism" | "otherStep" | "unknownWorkflow" | "unreadable";

/** What came of the replay of one history. */
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
      /** What the SDK says about it; of another step, which it does not see, what that means. */
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
  return `What this run sent as the step ${event?.step} the code sends as ${now}: the ledger knows a payment by its step. Where its outcome is not known yet, or the run is retried, it could be paid a second time. Keep the name, or take the new one behind patched.`;
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
 * Replays histories one after the other, offline: no server and no worker is needed, and no
 * activity runs. The SDK logs nothing of it, unless the process has installed a `Runtime`.
 *
 * @param workflowBundle from {@link bundleForReplay}
 * @param runs from {@link readRun}, or a workflow id with what the client's `fetchHistory` returns.
 * @returns one result for each run, in their order.
 * @throws WrongWorkflowId where a history is of another workflow id.
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
      // The SDK would wait for ever for its first workflow task.
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
