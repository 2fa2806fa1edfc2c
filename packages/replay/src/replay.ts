import {
  type InjectedSinks,
  type ReplayResult,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import { type Difference, firstDifference } from "./difference.ts";
import type { History } from "./history.ts";
import type { Activation, RecorderSinks } from "./record.ts";
import { framesOf } from "./stack.ts";

/** A run whose history is replayed. */
export interface RunToReplay {
  readonly workflowId: string;
  readonly history: History;
}

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
      /** What the SDK says about it. */
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

const outcomeOf = (
  { history, workflowId }: RunToReplay,
  { error }: ReplayResult,
  activations: ReadonlyArray<Activation>,
): Replay => {
  const events = history.events ?? [];
  const run = {
    workflowId,
    type: events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? "",
    events: events.length,
  };
  if (error === undefined) return { ...run, deterministic: true };
  const difference = firstDifference(history, activations);
  const thrownAt = framesOf(quotedField(error.message, "stack_trace") ?? "");
  return {
    ...run,
    deterministic: false,
    message: messageOf(error),
    // Code that throws where it did not then is shown where it throws.
    difference: thrownAt.length > 0 ? { ...difference, stack: thrownAt } : difference,
  };
};

/**
 * Replays histories one after the other, offline: no server and no worker is needed, and no
 * activity runs.
 *
 * @param workflowBundle from {@link bundleForReplay}
 */
export async function* replayHistories(
  workflowBundle: WorkflowBundle,
  runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>,
): AsyncGenerator<Replay> {
  let replayed: RunToReplay | undefined;
  let activations: Array<Activation> = [];
  async function* oneByOne() {
    for await (const run of runs) {
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
  for await (const result of Worker.runReplayHistories(options, oneByOne())) {
    if (replayed !== undefined) yield outcomeOf(replayed, result, activations);
  }
}
