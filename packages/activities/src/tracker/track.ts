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

/** What the tracker takes. */
export interface TrackerOptions extends LongActivityOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  /** The account of the runtime's client, as a hash. */
  readonly account: () => Promise<string>;
  /** Whose rows of ended runs are settled. */
  readonly operations: ReadonlyArray<string>;
  /** Reconciles a row whose run has ended: nothing is sent. */
  readonly settle: (name: WriteName, signal: AbortSignal) => Promise<void>;
}

/** How often it is looked at what is due; how often the service is asked is another matter. */
const SWEEP_EVERY_MS = 1_000;
const NUDGE_EVERY_MS = 5_000;
const JANITOR_EVERY_MS = 60_000;

/** That of the process. */
const REGISTRY = Services.empty();

const readAtGauge = Metric.gauge("payments_tracker_read_timestamp_seconds", {
  description: "When the tracker that this worker ran last had read all that was due",
});

/** The work of one attempt; `before` is what the last one has reported or handed on. */
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
  /** Why something less than a sweep has failed. */
  let faults: { readonly nudge?: string | undefined; readonly janitor?: string | undefined } = {};

  /** Holds what was seen of the ledger against what it has, and remembers what it has. */
  const bearWitness = async (): Promise<void> => {
    const { mark } = state;
    if (mark !== undefined && !(await ledger.expect(mark))) {
      // What was seen is remembered until then: a second copy may have less than that, too.
      activity.log.error("The ledger was restored: nothing is sent until `recover`.");
      return;
    }
    const now = await ledger.mark();
    state = { ...state, mark: now };
    // At once: a worker killed in the next second is no loss of what was seen.
    if (now.sequence !== mark?.sequence) activity.heartbeat(state);
  };

  /** What keeps it from its work now; undefined where nothing does. */
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
      // A killed worker's heartbeat is later than what the run was given.
      tracking(options, account, signal, isTracked(reported) ? reported : known),
    );
  },
});

/**
 * Returns what the tracker has last said to Temporal by its heartbeat: a witness of the ledger that outlives it.
 *
 * @returns undefined where no tracker runs, or it has said nothing yet.
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
