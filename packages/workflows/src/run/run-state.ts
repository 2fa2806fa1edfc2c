import { NUDGE, type Nudge, type PlannedRequest } from "@durable-payments/protocol/calls";
import {
  CancellationScope,
  condition,
  defineSignal,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";

/** A step that was called in this run. */
export interface CalledStep {
  readonly operation: string;
  readonly isNamed: boolean;
  readonly account: string | undefined;
  /** How often its activity was called. */
  calls: number;
  /** Version of the row that its last result has named. */
  version: number | undefined;
  /** The call that is under way, or was last. */
  last: Promise<unknown> | undefined;
}

/** Returns a step of which nothing was called. */
export const newStep = (
  operation: string,
  isNamed: boolean,
  account: string | undefined,
): CalledStep => ({
  operation,
  isNamed,
  account,
  calls: 0,
  version: undefined,
  last: undefined,
});

/** What the waits need to know of something that was made. */
interface MadeThing {
  readonly account: string | undefined;
  readonly request: Readonly<Record<string, unknown>>;
}

/** What the steps of a run know of it. Its shape is frozen within a major version: copies of this package share it. */
export interface RunState {
  readonly steps: Map<string, CalledStep>;
  /** By its id. */
  readonly made: Map<string, MadeThing>;
  /** Waits under way, by the id of their activity. */
  readonly waits: Map<string, Promise<unknown>>;
  /** Children that this run has vouched for. */
  readonly children: Set<string>;
  /** Requests that the next write takes along to be checked. */
  planned: ReadonlyArray<PlannedRequest>;
  /** Nudges that named all steps, and by step. */
  nudges: number;
  readonly nudged: Map<string, number>;
  /** Fails each workflow task, whatever the workflow catches. */
  fault: Error | undefined;
}

const KEY = Symbol.for("durable-payments/run@1");

// Own properties of the global object are per run, also where one context is reused for all runs.
const shared = globalThis as { [KEY]?: RunState };

const install = (): RunState => {
  const state: RunState = {
    steps: new Map(),
    made: new Map(),
    waits: new Map(),
    children: new Set(),
    planned: [],
    nudges: 0,
    nudged: new Map(),
    fault: undefined,
  };
  setHandler(defineSignal<[Nudge?]>(NUDGE), ({ steps } = {}) => {
    if (steps === undefined) state.nudges += 1;
    for (const step of steps ?? []) state.nudged.set(step, (state.nudged.get(step) ?? 0) + 1);
  });
  return state;
};

/** Returns what the steps of this run know of it; the first step installs it. */
export const runState = (): RunState => (shared[KEY] ??= install());

/**
 * Fails the workflow task: the code is wrong. Nothing is sent, and the run continues with a corrected deployment.
 *
 * @throws Error always; a `catch` of the workflow cannot swallow it.
 */
export const failTask = (message: string): never => {
  const state = runState();
  if (state.fault === undefined) {
    // A condition that throws fails the workflow task. It is asked for the first time before there is a fault.
    void CancellationScope.nonCancellable(() =>
      condition(() => {
        if (state.fault !== undefined) throw state.fault;
        return false;
      }),
    );
    state.fault = new Error(`${message} (${workflowInfo().workflowType})`);
  }
  throw state.fault;
};

/** Returns how often a step was nudged: more than before, and it looks again. */
export const nudgesOf = ({ nudged, nudges }: RunState, step: string): number =>
  nudges + (nudged.get(step) ?? 0);
