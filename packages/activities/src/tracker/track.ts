import { type Ledger, trackerLease, type WriteName } from "@durable-payments/ledger";
import type { Tracked, TrackerActivities, TrackerInput } from "@durable-payments/protocol/calls";
import { isTracked } from "@durable-payments/protocol/payloads";
import { readReported } from "@durable-payments/protocol/tracker";
import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { Context as Services, Effect, Metric } from "effect";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type LongActivityOptions, type LongWork, runLong, withBackOff } from "../long-activity.ts";
import {
  type ClientCall,
  notYet,
  type PaymentsRuntime,
  readAt,
  readKnown,
} from "../run-operation.ts";
import { endsOf } from "./ends.ts";
import { follow } from "./follow.ts";
import { closeLeftWaits, finishFiles, janitor, nudgeUntold } from "./janitor.ts";
import { describePayees } from "./payees.ts";

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
const FILES_EVERY_MS = 60_000;
const JANITOR_EVERY_MS = 60_000;
const ENDS_EVERY_MS = 5_000;
const PAYEES_EVERY_MS = 5_000;
const LEASE_EVERY_MS = 20_000;

/** Longer than the interval: the lease shows that a worker serves the account. */
const LEASE_MS = 60_000;

/** Metrics of the process. */
const REGISTRY = Services.empty();

/** Does a part of the work when it is due, and returns the reason of its last failure. */
type Part = () => Promise<string | undefined>;

/** The work of one attempt; `before` is the state of the last one. */
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
  let state: Tracked = {
    account,
    ...(before?.mark && { mark: before.mark }),
    readAt: before?.readAt ?? Date.now(),
    waiting: before?.waiting ?? 0,
  };

  /** Makes a part with a separate back-off: if it fails, the others continue. */
  const part = (what: string, everyMs: number, work: () => Promise<void>): Part => {
    let dueAt = 0;
    let fault: string | undefined;
    const failed = (why: string, waitMs: number) => {
      fault = `${what}: ${why}`;
      warn(`${fault} It tries again in ${waitMs} ms.`);
    };
    const again = async () => {
      await work();
      fault = undefined;
      return everyMs;
    };
    const backingOff = withBackOff(again, failed, signal);
    return async () => {
      if (Date.now() >= dueAt) {
        const waitMs = await backingOff();
        dueAt = Date.now() + waitMs;
      }
      return fault;
    };
  };

  const settle = (write: WriteName) => options.settle(write, signal);
  const followed = follow({ ledger, account, client, warn, call });
  const settleLeft = janitor({ ledger, account, client, warn, operations, settle });
  const ends = endsOf({
    ledger,
    client,
    holder: randomUUID(),
    begunAt: activity.info.currentAttemptScheduledTimestampMs,
  });
  const readings = Object.entries(followed.parts).map(([what, work]) =>
    part(what, SWEEP_EVERY_MS, work),
  );
  const nudges = part("notifications of runs", SWEEP_EVERY_MS, () =>
    nudgeUntold(ledger, client, account),
  );
  const others = [
    part("files", FILES_EVERY_MS, () => finishFiles(ledger, account)),
    part("waits of ended runs", JANITOR_EVERY_MS, () => closeLeftWaits(ledger, account, client)),
    part("ends of runs", ENDS_EVERY_MS, ends.recent),
    part("open runs", ENDS_EVERY_MS, ends.known),
    part("payees", PAYEES_EVERY_MS, describePayees({ ledger, account, read })),
    // A tracker of the account that takes over is the same holder.
    part("lease", LEASE_EVERY_MS, async () => {
      await ledger.lease(trackerLease(account), "tracker", LEASE_MS);
    }),
    part("writes of ended runs", JANITOR_EVERY_MS, async () => {
      const fault = await settleLeft();
      if (fault !== undefined) throw new Error(fault);
    }),
  ];
  /** All at once, so that none waits for a slow one. */
  const run = async (parts: ReadonlyArray<Part>): Promise<string | undefined> =>
    (await Promise.all(parts.map((one) => one()))).find((fault) => fault !== undefined);

  /** Notifies runs each second while other parts read: a person waits for what a decision does. */
  const nudgeWhile = async (work: Promise<unknown>): Promise<string | undefined> => {
    const isOver = work.then(
      () => true,
      () => true,
    );
    for (;;) {
      const fault = await nudges();
      if (await Promise.race([isOver, sleep(SWEEP_EVERY_MS, false)])) return fault;
    }
  };

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
      await followed.refresh();
      const work = Promise.all([run(readings), run(others)]);
      const untold = await nudgeWhile(work);
      const [unread, left = untold] = await work;
      const rate = await call((service) => Effect.sync(service.rate));
      const { rate: _, ...before } = state;
      state = { ...before, waiting: followed.size(), ...(rate !== undefined && { rate }) };
      if (unread === undefined) {
        const readAt = Date.now();
        state = { ...state, readAt };
        readAtGauge.updateUnsafe(readAt / 1000, REGISTRY);
      }
      note(unread ?? left);
      return SWEEP_EVERY_MS;
    },
  };
};

/** Another worker may have the account, or the settings of this one are changed. */
const OTHER_ACCOUNT_WAIT_MS = 10_000;

/** Makes the tracker's activity. */
export const makeTrackerActivities = (options: TrackerOptions): TrackerActivities => ({
  track: async (input) => {
    const { account, known, name } = input;
    if (account !== (await options.account())) {
      const why = `This worker has another client as the account ${name ?? "without a name"}.`;
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
