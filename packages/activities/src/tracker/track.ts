import { trackerLease, type WriteName } from "@durable-payments/ledger";
import type { Tracked, TrackerInput } from "@durable-payments/protocol/calls";
import { isTracked } from "@durable-payments/protocol/payloads";
import { readReported } from "@durable-payments/protocol/tracker";
import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { Context as Services, Effect, Metric } from "effect";
import { randomUUID } from "node:crypto";
import {
  type LongActivityOptions,
  type LongPart,
  type LongWork,
  runLong,
} from "../long-activity.ts";
import {
  type AccountOptions,
  type ClientCall,
  notYet,
  readAt,
  readKnown,
} from "../run-operation.ts";
import { endsOf } from "./ends.ts";
import { closeLeftWaits, finishFiles, janitor, notifyRuns } from "./janitor.ts";
import { describePayees } from "./payees.ts";
import { readings } from "./readings.ts";

/** Options of the tracker. */
export interface TrackerOptions extends LongActivityOptions, AccountOptions {
  /** The operations whose rows of ended runs are reconciled. */
  readonly operations: ReadonlyArray<string>;
  /** Where the worker receives hints, if it does. */
  readonly hints?: string | undefined;
  /** Reconciles a row whose run has ended: nothing is sent. */
  readonly settle: (name: WriteName, signal: AbortSignal) => Promise<void>;
}

/** Interval of the loops; the service is asked less often. */
const LOOK_EVERY_MS = 1_000;
const COUNT_EVERY_MS = 60_000;
const FILES_EVERY_MS = 60_000;
const JANITOR_EVERY_MS = 60_000;
const ENDS_EVERY_MS = 5_000;
const PAYEES_EVERY_MS = 5_000;
const LEASE_EVERY_MS = 20_000;

/** Longer than the interval: the lease shows that a worker serves the account. */
const LEASE_MS = 60_000;

/** The least interval of heartbeats with a new entry of the ledger: each is billed. */
const WITNESS_EVERY_MS = 2_000;

/** As often as the tracker sends a heartbeat anyway. */
const OTHERS_WITNESS_EVERY_MS = 5_000;

/** Metrics of the process. */
const REGISTRY = Services.empty();

/** A part of the work, and its state. */
interface Part extends LongPart {
  /** The reason of its last failure. */
  readonly fault: () => string | undefined;
  /** When it had done last what was due. */
  readonly doneAt: () => number;
}

/**
 * The work of one attempt; `before` is the state of the last one. It is made of parts that fail one by one: none waits for a slow
 * one.
 *
 * | part | each | the same at 0.1, 10 and 100 payouts a second |
 * |---|---|---|
 * | readings at the service | second | four statements of the ledger that find what is due; see follow.ts, settled.ts |
 * | notifications of runs | second | two statements, and a signal for each decision |
 * | unfinished writes and waits of ended runs | minute | see janitor.ts |
 * | witness | second | one statement; a heartbeat each 2 s at most, by one tracker of all that share the ledger |
 */
const tracking = (
  options: TrackerOptions,
  { account, name }: TrackerInput,
  signal: AbortSignal,
  before: Tracked | undefined,
): LongWork<Tracked> => {
  const { ledger, operations, runtime } = options;
  const activity = Context.current();
  const { client } = activity;
  const warn = (message: string): void => {
    activity.log.warn(`The tracker continues: ${message}`);
  };
  const call = <A>(of: ClientCall<A>): Promise<A> => readAt(runtime, of, signal);
  const read = <A>(of: ClientCall<A>) => readKnown(runtime, of, signal);
  const readAtGauge = Metric.gauge("payments_tracker_read_timestamp_seconds", {
    description: "When this worker's tracker last completed a pass",
    ...(name !== undefined && { attributes: { account: name } }),
  });

  /** @param work may return the milliseconds until it is due again, if they are more than `everyMs`. */
  const part = (
    what: string,
    everyMs: number,
    work: () => Promise<number | undefined | void>,
  ): Part => {
    /** Set while something is due. */
    let undoneSince: number | undefined = before?.readAt ?? Date.now();
    let fault: string | undefined;
    const run = async () => {
      undoneSince ??= Date.now();
      const nextMs = await work();
      undoneSince = undefined;
      fault = undefined;
      return Math.max(everyMs, nextMs ?? 0);
    };
    const failed = (why: string): void => {
      fault = `${what}: ${why}`;
    };
    return { name: what, run, failed, fault: () => fault, doneAt: () => undoneSince ?? Date.now() };
  };

  const settle = (write: WriteName) => options.settle(write, signal);
  const of = { ledger, account, client, warn };
  const reading = readings({ ...of, call, watermark: before?.settledUntil });
  const begunAt = activity.info.currentAttemptScheduledTimestampMs;
  const ends = endsOf({ ledger, client, begunAt, holder: randomUUID() });

  let mark = before?.mark;
  let rate: Tracked["rate"];
  let failing: Tracked["failing"];
  let isWitness = false;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let reported = mark?.sequence;

  /**
   * Compares the ledger with its witness, and updates the witness. One tracker of all that share the ledger reports each new
   * entry soon; the others with the heartbeats that they send anyway. Who asks for the witness reads those of all.
   */
  const bearWitness = async (): Promise<number> => {
    if (mark !== undefined && !(await ledger.expect(mark))) {
      // The witness stays until then: a second copy may have less than it, too.
      activity.log.error("The ledger was restored: nothing is sent until `recover`.");
      return LOOK_EVERY_MS;
    }
    const isFirst = mark === undefined;
    mark = await ledger.mark();
    if (!isFirst && !isWitness) return OTHERS_WITNESS_EVERY_MS;
    if (mark.sequence !== reported && performance.now() - reportedAt >= WITNESS_EVERY_MS) {
      activity.heartbeat(state());
      reportedAt = performance.now();
      reported = mark.sequence;
    }
    return LOOK_EVERY_MS;
  };

  /** Reports a fault, and its end, at once. */
  const report = async (): Promise<void> => {
    rate = await call((service) => Effect.sync(service.rate));
    readAtGauge.updateUnsafe(lastReadAt() / 1000, REGISTRY);
    const known = failing?.why;
    const now = state();
    if (now.failing?.why !== known) activity.heartbeat(now);
  };

  const readers = Object.entries(reading.parts).map(([what, work]) =>
    part(what, LOOK_EVERY_MS, work),
  );
  const parts = [
    ...readers,
    part("notifications of runs", LOOK_EVERY_MS, () => notifyRuns(ledger, client, account)),
    part("witness", LOOK_EVERY_MS, bearWitness),
    // A tracker of the account that takes over is the same holder.
    part("leases", LEASE_EVERY_MS, async () => {
      await ledger.lease(trackerLease(account), "tracker", LEASE_MS);
      isWitness = await ledger.lease("witness", account, LEASE_MS);
    }),
    part("state", LOOK_EVERY_MS, report),
    part("open waits", COUNT_EVERY_MS, reading.count),
    part("files", FILES_EVERY_MS, () => finishFiles(ledger, account)),
    part("waits of ended runs", JANITOR_EVERY_MS, () => closeLeftWaits(ledger, account, client)),
    part("ends of runs", ENDS_EVERY_MS, ends.recent),
    part("open runs", ENDS_EVERY_MS, ends.known),
    part("payees", PAYEES_EVERY_MS, describePayees({ ledger, account, read })),
    part("writes of ended runs", JANITOR_EVERY_MS, janitor({ ...of, operations, settle })),
  ];

  const lastReadAt = (): number => Math.min(...readers.map(({ doneAt }) => doneAt()));
  const state = (): Tracked => {
    const settledUntil = reading.watermark();
    const why = parts.map(({ fault }) => fault()).find((fault) => fault !== undefined);
    failing = why === undefined ? undefined : { why, since: failing?.since ?? Date.now() };
    return {
      account,
      readAt: lastReadAt(),
      waiting: reading.size(),
      ...(mark && { mark }),
      ...(rate !== undefined && { rate }),
      ...(failing && { failing }),
      ...(settledUntil !== undefined && { settledUntil }),
      ...(options.hints !== undefined && { hints: options.hints }),
    };
  };
  return { state, parts };
};

/** Another worker may have the account, or the settings of this one are changed. */
const OTHER_ACCOUNT_WAIT_MS = 10_000;

/** Makes the tracker's activity. */
export const makeTrackerActivities = (options: TrackerOptions) => ({
  /**
   * Completes waits, notifies runs of answers, and reconciles writes of ended runs. Lasts for hours; then its workflow
   * continues as new with the result.
   *
   * @throws ApplicationFailure, to be retried, if the worker has another account under this name.
   */
  track: async (input: TrackerInput): Promise<Tracked> => {
    const { account, known, name } = input;
    if (account !== (await options.account())) {
      const why = `This worker has another client id for the account ${name ?? "without a name"}.`;
      throw notYet(why, OTHER_ACCOUNT_WAIT_MS);
    }
    return runLong(options, (signal, reported) =>
      // The heartbeat of a killed worker is newer than the input of the run.
      tracking(options, input, signal, isTracked(reported) ? reported : known),
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
