import {
  DefaultLogger,
  type InjectedSinks,
  type ReplayResult,
  Runtime,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { hasBegun, type RunToReplay } from "./history.ts";
import { type Activation, type RecorderSinks, stepOf } from "./record.ts";

/**
 * How code differs from a history: it does something else, or throws (`nondeterminism`), or it sends another step
 * (`otherStep`). Or nothing can be said: it has no workflow of that type (`unknownWorkflow`), or a
 * codec has written the history (`unreadable`).
 */
export type DifferenceKind = "nondeterminism" | "otherStep" | "unknownWorkflow" | "unreadable";

/** A line of the sources. */
export interface Frame {
  /** Path from the current folder. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The line itself, if the file can be read. */
  readonly source?: string;
}

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
      /** The SDK's message, which names the event; of another step, which the SDK does not see, its meaning. */
      readonly message: string;
      /** Where the code gave the commands that differ, or else waits: lines of its sources; empty if it has ended. */
      readonly lines: ReadonlyArray<Frame>;
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

const FRAME = /(?:\(|^at )((?:file:\/\/)?\/[^():]+|[A-Za-z]:\\[^():]+):(\d+):(\d+)\)?$/;

const sourceOf = (file: string, line: number): string | undefined => {
  try {
    return readFileSync(file, "utf8").split("\n")[line - 1]?.trim();
  } catch {
    return undefined;
  }
};

/** Returns the lines of the workflow's own sources in some stacks, innermost first; frames of libraries say nothing. */
export const linesOf = (stacks: ReadonlyArray<string>): ReadonlyArray<Frame> => {
  const frames = new Map<string, Frame>();
  for (const text of stacks.join("\n").split("\n")) {
    const [at = "", path = "", line = "", column = ""] = FRAME.exec(text.trim()) ?? [];
    if (path === "" || path.includes("node_modules")) continue;
    const file = path.startsWith("file://") ? fileURLToPath(path) : path;
    const source = sourceOf(file, Number(line));
    frames.set(at, {
      file: relative(process.cwd(), file),
      line: Number(line),
      column: Number(column),
      ...(source !== undefined && { source }),
    });
  }
  return [...frames.values()];
};

/** Returns where the code stood in its last workflow task, which is the one that the SDK could not match. */
const lastStacks = (activations: ReadonlyArray<Activation>): ReadonlyArray<string> => {
  const last = activations.at(-1);
  const given = activations.filter(({ task }) => task === last?.task);
  const stacks = given.flatMap(({ commands }) => commands.map(({ stack }) => stack));
  return stacks.length > 0 ? stacks : (last?.waitsAt ?? []);
};

/** Finds the first activity that sends another step than the history has: for the ledger that is another payment. */
const otherStep = (
  { events }: RunToReplay["history"],
  activations: ReadonlyArray<Activation>,
): Pick<Extract<Replay, { deterministic: false }>, "lines" | "message"> | undefined => {
  const commands = activations.flatMap((activation) => activation.commands);
  for (const { activityTaskScheduledEventAttributes: scheduled, eventId } of events ?? []) {
    const step = stepOf(scheduled?.input?.payloads);
    const command = commands.find(({ activityId }) => activityId === scheduled?.activityId);
    if (command === undefined || step === undefined || step === command.step) continue;
    const now =
      command.step === undefined ? "an activity without a step" : `the step ${command.step}`;
    const message = `In event ${Number(eventId)}, this run sent a request as the step ${step}, but the code sends it as ${now}. The ledger identifies a payment by its step, so it could be paid a second time if its outcome is still unknown, or if the run is retried. Keep the name, or use the new one only behind patched.`;
    return { lines: linesOf([command.stack]), message };
  }
  return undefined;
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
  const run = runOf(replayed);
  if (error === undefined) {
    const difference = otherStep(replayed.history, activations);
    return difference === undefined
      ? { ...run, deterministic: true }
      : { ...run, deterministic: false, kind: "otherStep", ...difference };
  }
  const message = messageOf(error);
  // Code that throws where it did not then is shown where it throws.
  const thrownAt = linesOf([quotedField(error.message, "stack_trace") ?? ""]);
  const lines = thrownAt.length > 0 ? thrownAt : linesOf(lastStacks(activations));
  return { ...run, deterministic: false, kind: kindOf(message), message, lines };
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
 * @param runs each a workflow id with what the client's `fetchHistory` returns.
 * @returns one result for each run, in their order.
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

/**
 * Describes how a replay differs from its history, as tools and tests show it.
 *
 * @param replay that is not deterministic.
 * @returns lines of text: the reason, which names the event, and the lines of the code.
 */
export const describeDifference = ({
  kind,
  lines,
  message,
}: Extract<Replay, { deterministic: false }>): ReadonlyArray<string> => [
  kind === "otherStep" ? message : `Temporal: ${message}`,
  ...lines.map(({ column, file, line, source }) =>
    [`code: ${file}:${line}:${column}`, ...(source === undefined ? [] : [source])].join("  "),
  ),
];
