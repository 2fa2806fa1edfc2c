import type { Ledger, WriteName } from "@durable-payments/ledger";
import {
  isTracked,
  type Tracked,
  type TrackerActivities,
} from "@durable-payments/protocol/tracker";
import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { Context as Services, Metric, Result } from "effect";
import {
  AskedToPause,
  type LongActivityOptions,
  type LongWork,
  runLong,
} from "../long-activity.ts";
import { type Call, type PaymentsRuntime, runCall } from "../run-operation.ts";
import { Janitor, nudgeUntold } from "./janitor.ts";
import { Waits } from "./waits.ts";

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

/** One attempt of the activity. */
class Tracker implements LongWork<Tracked> {
  readonly #options: TrackerOptions;
  readonly #account: string;
  readonly #activity = Context.current();
  readonly #signal: AbortSignal;
  readonly #waits: Waits;
  readonly #janitor: Janitor;
  #state: Tracked;
  #nextNudge = 0;
  #nextJanitor = 0;
  /** Why something less than a sweep has failed. */
  #faults: { readonly nudge?: string | undefined; readonly janitor?: string | undefined } = {};

  constructor(
    options: TrackerOptions,
    account: string,
    signal: AbortSignal,
    reported: unknown,
    known: Tracked | undefined,
  ) {
    this.#options = options;
    this.#account = account;
    this.#signal = signal;
    // A killed worker's heartbeat is later than what the run was given.
    const before = isTracked(reported) ? reported : known;
    this.#state = {
      ...(before?.mark && { mark: before.mark }),
      readAt: before?.readAt ?? Date.now(),
      waiting: before?.waiting ?? 0,
    };
    const warn = (message: string): void => {
      this.#activity.log.warn(`The tracker continues: ${message}`);
    };
    const { client } = this.#activity;
    const { ledger, operations, settle } = options;
    const call = <A>(of: Call<A>) => this.#call(of);
    const shared = { ledger, account, client, warn };
    this.#waits = new Waits({ ...shared, call });
    this.#janitor = new Janitor({
      ...shared,
      operations,
      settle: (name) => settle(name, signal),
    });
  }

  get state(): Tracked {
    return this.#state;
  }

  async turn(): Promise<number> {
    await this.#sweep();
    this.#note(this.#faults.nudge ?? this.#faults.janitor);
    return SWEEP_EVERY_MS;
  }

  failed(why: string): void {
    this.#note(why);
  }

  async #sweep(): Promise<void> {
    await this.#bearWitness();
    const { ledger } = this.#options;
    const { client } = this.#activity;
    if (Date.now() >= this.#nextNudge) {
      this.#faults = {
        ...this.#faults,
        nudge: await nudgeUntold(ledger, this.#account, client),
      };
      this.#nextNudge = Date.now() + NUDGE_EVERY_MS;
    }
    if (Date.now() >= this.#nextJanitor) {
      const { fault, lostRuns } = await this.#janitor.sweep();
      this.#faults = { ...this.#faults, janitor: fault };
      this.#state = { ...this.#state, lostRuns };
      this.#nextJanitor = Date.now() + JANITOR_EVERY_MS;
    }
    await this.#waits.sweep();
    const readAt = Date.now();
    this.#state = { ...this.#state, readAt, waiting: this.#waits.size };
    readAtGauge.updateUnsafe(readAt / 1000, REGISTRY);
  }

  /** Holds what was seen of the ledger against what it has, and remembers what it has. */
  async #bearWitness(): Promise<void> {
    const { ledger } = this.#options;
    const { mark } = this.#state;
    if (mark !== undefined && !(await ledger.expect(mark))) {
      // What was seen is remembered until then: a second copy may have less than that, too.
      this.#activity.log.error("The ledger was restored: nothing is sent until `recover`.");
      return;
    }
    const now = await ledger.mark();
    this.#state = { ...this.#state, mark: now };
    // At once: a worker killed in the next second is no loss of what was seen.
    if (now.sequence !== mark?.sequence) this.#activity.heartbeat(this.#state);
  }

  /** What keeps it from its work now; undefined where nothing does. */
  #note(why: string | undefined): void {
    const { failing, ...rest } = this.#state;
    this.#state =
      why === undefined ? rest : { ...rest, failing: { why, since: failing?.since ?? Date.now() } };
    if (why !== failing?.why) this.#activity.heartbeat(this.#state);
  }

  async #call<A>(call: Call<A>): Promise<A> {
    const result = await runCall(this.#options.runtime, call, this.#signal);
    if (Result.isSuccess(result)) return result.success;
    const { failure } = result;
    throw new AskedToPause(
      failure.message,
      failure._tag === "RateLimited" ? failure.retryAfter : 0,
    );
  }
}

/** Makes the tracker's activity. */
export const makeTrackerActivities = (options: TrackerOptions): TrackerActivities => ({
  track: async (known) => {
    const account = await options.account();
    return runLong(
      options,
      (signal, reported) => new Tracker(options, account, signal, reported, known),
    );
  },
});

/**
 * Returns what the tracker has last said to Temporal by its heartbeat: a witness of the ledger that outlives it.
 *
 * @param trackerId workflow id of the account's tracker.
 * @returns undefined where no tracker runs, or it has said nothing yet.
 */
export const readTracked = async (
  client: Client,
  trackerId: string,
): Promise<Tracked | undefined> => {
  try {
    const { raw } = await client.workflow.getHandle(trackerId).describe();
    const [details] = await decodeArrayFromPayloads(
      client.options.loadedDataConverter,
      raw.pendingActivities?.[0]?.heartbeatDetails?.payloads,
    );
    return isTracked(details) ? details : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};
