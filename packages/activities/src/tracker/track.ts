import type { PaymentsError } from "@durable-payments/api-core";
import type { Ledger, WriteName } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import {
  isTracked,
  type Tracked,
  type TrackerActivities,
} from "@durable-payments/protocol/tracker";
import { Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { Result } from "effect";
import { setTimeout as sleep } from "node:timers/promises";
import { noteTrackerRead } from "../metrics.ts";
import { type Call, type PaymentsRuntime, runCall } from "../run-operation.ts";
import { Janitor } from "./janitor.ts";
import { nudgeUntold } from "./nudges.ts";
import { Waits } from "./waits.ts";

/** What the tracker takes. */
export interface TrackerOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  /** The account of the runtime's client, as a hash. */
  readonly account: () => Promise<string>;
  /** Whose rows of ended runs are settled. */
  readonly operations: ReadonlyArray<string>;
  /** Reconciles a row whose run has ended: nothing is sent. */
  readonly settle: (name: WriteName, signal: AbortSignal) => Promise<void>;
  /** Ends the activity when its worker is to drain, so that another worker takes it up at once. */
  readonly draining?: AbortSignal | undefined;
  /** Time of one activity in milliseconds, default 12 hours; it sweeps at least once. */
  readonly turnMs?: number | undefined;
}

/** How often it is looked at what is due; how often the service is asked is another matter. */
const SWEEP_EVERY_MS = 1_000;
const NUDGE_EVERY_MS = 5_000;
/** Each is billed; what is new of the ledger is said at once. */
const HEARTBEAT_EVERY_MS = 5_000;
const JANITOR_EVERY_MS = 60_000;

/** Longest time that the tracker leaves a service or ledger alone that does not answer. */
const LONGEST_BACKOFF_MS = 60_000;

const TWELVE_HOURS_MS = 12 * 3_600_000;

class CannotRead extends Error {
  override readonly name = "CannotRead";
  readonly waitMs: number;

  constructor(error: PaymentsError) {
    super(error.message);
    this.waitMs = error._tag === "RateLimited" ? error.retryAfter : 0;
  }
}

/** One attempt of the activity. */
class Tracker {
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
    known: Tracked | undefined,
  ) {
    this.#options = options;
    this.#account = account;
    this.#signal = signal;
    // A killed worker's heartbeat is later than what the run was given.
    const details: unknown = this.#activity.info.heartbeatDetails;
    const before = isTracked(details) ? details : known;
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
    this.#waits = new Waits({ ledger, account, client, call, warn });
    this.#janitor = new Janitor({
      ledger,
      account,
      client,
      operations,
      settle: (name) => settle(name, signal),
      warn,
    });
  }

  async track(forMs: number): Promise<Tracked> {
    const until = Date.now() + forMs;
    const heart = setInterval(() => this.#activity.heartbeat(this.#state), HEARTBEAT_EVERY_MS);
    try {
      let failures = 0;
      do {
        let pause = SWEEP_EVERY_MS;
        try {
          await this.#sweep();
          failures = 0;
          this.#note(this.#faults.nudge ?? this.#faults.janitor);
        } catch (error) {
          if (this.#signal.aborted) throw error;
          failures += 1;
          this.#note(temporalReason(error));
          const asked = error instanceof CannotRead ? error.waitMs : 0;
          pause = Math.max(asked, Math.min(LONGEST_BACKOFF_MS, 2 ** failures * 500));
          this.#activity.log.warn(`The tracker waits ${pause} ms: ${temporalReason(error)}`);
        }
        const left = Math.max(0, until - Date.now());
        await sleep(Math.min(pause, left), undefined, { signal: this.#signal });
      } while (Date.now() < until);
      return this.#state;
    } finally {
      clearInterval(heart);
    }
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
    noteTrackerRead(readAt);
  }

  /** Holds what was seen of the ledger against what it has, and remembers what it has. */
  async #bearWitness(): Promise<void> {
    const { ledger } = this.#options;
    const { mark } = this.#state;
    if (mark !== undefined && !(await ledger.expect(mark))) {
      this.#activity.log.error("The ledger was restored: nothing is sent until `recover`.");
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
    throw new CannotRead(result.failure);
  }
}

const drained = () =>
  ApplicationFailure.create({
    type: "Draining",
    message: "The worker drains; another one goes on.",
    nextRetryDelay: SWEEP_EVERY_MS,
    category: ApplicationFailureCategory.BENIGN,
  });

/** Makes the tracker's activity. */
export const makeTrackerActivities = (options: TrackerOptions): TrackerActivities => ({
  track: async (known) => {
    const { draining, turnMs = TWELVE_HOURS_MS } = options;
    const { cancellationSignal } = Context.current();
    const signal = draining ? AbortSignal.any([cancellationSignal, draining]) : cancellationSignal;
    try {
      return await new Tracker(options, await options.account(), signal, known).track(turnMs);
    } catch (error) {
      if (cancellationSignal.aborted) throw cancellationSignal.reason;
      if (draining?.aborted === true) throw drained();
      throw error;
    }
  },
});
