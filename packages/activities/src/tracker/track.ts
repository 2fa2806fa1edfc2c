import type { Ledger, WriteName } from "@durable-payments/ledger";
import {
  isTracked,
  readReported,
  type Tracked,
  type TrackerActivities,
} from "@durable-payments/protocol/tracker";
import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { Context as Services, Metric, Result } from "effect";
import {
  AskedToPause,
  type LongActivityOptions,
  type LongWork,
  runLong,
} from "../long-activity.ts";
import { type Call, type PaymentsRuntime, runCall } from "../run-operation.ts";
import { janitor, nudgeUntold } from "./janitor.ts";
import { waitsOf } from "./waits.ts";

/** Options of the tracker. */
export interface TrackerOptions extends LongActivityOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  /** The account of the runtime's client, as a hash. */
  readonly account: () => Promise<string>;
  /** The operations whose rows of ended runs are reconciled. */
  readonly operations: ReadonlyArray<string>;
  /** Reconciles a row whose run has ended: nothing is sent. */
  readonly settle: (name: WriteName, signal: AbortSignal) => Promise<void>;
}

/** Interval of the checks for due waits; the service is asked less often. */
const SWEEP_EVERY_MS = 1_000;
const NUDGE_EVERY_MS = 5_000;
const JANITOR_EVERY_MS = 60_000;

/** That of the process. */
const REGISTRY = Services.empty();

const readAtGauge = Metric.gauge("payments_tracker_read_timestamp_seconds", {
  description: "When this worker's tracker last completed a pass",
});

/** The work of one attempt; `before` is the state of the last one. */
const tracking = (
  options: TrackerOptions,
  account: string,
  signal: AbortSignal,
  before: Tracked | undefined,
): LongWork<Tracked> => {
  const { ledger, operations, runtime } = options;
  const activity = Context.current();
  const { client } = activity;
  const warn = (message: string): void => {
    activity.log.warn(`The tracker continues: ${message}`);
  };
  const call = async <A>(of: Call<A>): Promise<A> => {
    const result = await runCall(runtime, of, signal);
    if (Result.isSuccess(result)) return result.success;
    const { failure } = result;
    throw failure._tag === "RateLimited"
      ? new AskedToPause(failure.message, failure.retryAfter)
      : failure;
  };
  const settle = (name: WriteName) => options.settle(name, signal);
  const waits = waitsOf({ ledger, account, client, warn, call });
  const settleLeft = janitor({ ledger, account, client, warn, operations, settle });
  let state: Tracked = {
    ...(before?.mark && { mark: before.mark }),
    readAt: before?.readAt ?? Date.now(),
    waiting: before?.waiting ?? 0,
  };
  let nextNudge = 0;
  let nextJanitor = 0;
  /** The reason why a part of a sweep failed. */
  let faults: { readonly nudge?: string | undefined; readonly janitor?: string | undefined } = {};

  /** Compares the ledger with its witness, and updates the witness. */
  const bearWitness = async (): Promise<void> => {
    const { mark } = state;
    if (mark !== undefined && !(await ledger.expect(mark))) {
      // The witness stays until then: a second copy may have less than it, too.
      activity.log.error("The ledger was restored: nothing is sent until `recover`.");
      return;
    }
    const now = await ledger.mark();
    state = { ...state, mark: now };
    // At once, so that a worker killed in the next second does not lose the witness.
    if (now.sequence !== mark?.sequence) activity.heartbeat(state);
  };

  /** The reason why it cannot work now, if any. */
  const note = (why: string | undefined): void => {
    const { failing, ...rest } = state;
    state =
      why === undefined ? rest : { ...rest, failing: { why, since: failing?.since ?? Date.now() } };
    if (why !== failing?.why) activity.heartbeat(state);
  };

  return {
    state: () => state,
    failed: note,
    turn: async () => {
      await bearWitness();
      if (Date.now() >= nextNudge) {
        faults = { ...faults, nudge: await nudgeUntold(ledger, account, client) };
        nextNudge = Date.now() + NUDGE_EVERY_MS;
      }
      if (Date.now() >= nextJanitor) {
        const { fault, lostRuns } = await settleLeft();
        faults = { ...faults, janitor: fault };
        state = { ...state, lostRuns };
        nextJanitor = Date.now() + JANITOR_EVERY_MS;
      }
      await waits.sweep();
      const readAt = Date.now();
      state = { ...state, readAt, waiting: waits.size() };
      readAtGauge.updateUnsafe(readAt / 1000, REGISTRY);
      note(faults.nudge ?? faults.janitor);
      return SWEEP_EVERY_MS;
    },
  };
};

/** Makes the tracker's activity. */
export const makeTrackerActivities = (options: TrackerOptions): TrackerActivities => ({
  track: async (known) => {
    const account = await options.account();
    return runLong(options, (signal, reported) =>
      // The heartbeat of a killed worker is newer than the input of the run.
      tracking(options, account, signal, isTracked(reported) ? reported : known),
    );
  },
});

/**
 * Returns the tracker's last heartbeat: a witness of the ledger that outlives it.
 *
 * @returns undefined if no tracker runs, or it has not reported yet.
 */
export const readTracked = async (
  client: Client,
  trackerId: string,
): Promise<Tracked | undefined> => {
  try {
    const { raw } = await client.workflow.getHandle(trackerId).describe();
    const [activity] = raw.pendingActivities ?? [];
    const reported = await readReported(client.options.loadedDataConverter, activity);
    return isTracked(reported) ? reported : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};
