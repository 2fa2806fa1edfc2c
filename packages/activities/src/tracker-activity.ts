import type { Page, PaymentsError } from "@durable-payments/api-core";
import { temporalReason, trackerId } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/client";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { Effect, Result } from "effect";
import { setTimeout as sleep } from "node:timers/promises";
import { otherAccount } from "./account-check.ts";
import { noteTrackerRead } from "./metrics.ts";
import {
  accountOf,
  type Call,
  HEARTBEAT_EVERY_MS,
  type PaymentsRuntime,
  runCall,
} from "./run-operation.ts";
import { type Wait, type WaitingRun, WaitingRuns } from "./tracker-runs.ts";
import {
  sweep,
  type CompletionSignal,
  type TrackedList,
  trackedCardholders,
  trackedPayouts,
} from "./tracker-sweep.ts";

/** What the tracker's activity reports with each heartbeat; the next attempt goes on from there. */
export interface Tracking {
  /** The page that a sweep has reached, while one is under way. */
  readonly at?: { readonly kind: string; readonly page: number };
  /** Since the attempt began. */
  readonly sweeps: number;
  /** Requests sent to the service since the attempt began. */
  readonly requests: number;
  /** Requests of the longest sweep. */
  readonly mostRequests: number;
  /** Runs that were signalled an end since the attempt began. */
  readonly signalled: number;
  /** Payouts and cardholders that are waited for. */
  readonly waiting: number;
  /** When all that was due was read last, in milliseconds since 1970; at first, when the attempt began. */
  readonly readAt: number;
  /** Why what is due cannot be read, or who waits cannot be listed or signalled, and since when; mostly left out. */
  readonly failing?: { readonly why: string; readonly since: number };
}

/** The tracker's one activity. */
export interface TrackerActivities {
  /**
   * Signals the runs that wait for a payout or a cardholder, as the service's lists show its end. It
   * lasts for hours, then ends so that its workflow continues as new.
   */
  readonly trackWaiting: () => Promise<void>;
}

/** What a tracker takes beside the client. */
export interface TrackerOptions {
  /** Ends the activity when its worker is to drain, so that another worker takes it up at once. */
  readonly draining?: AbortSignal;
  /** Time of one activity, default 12 hours; it polls at least once. */
  readonly turnMs?: number;
}

/** How often it is asked who waits; how often the service is asked is the sweeps' matter. */
const POLL_EVERY_MS = 1_000;

/** Longest time that the tracker leaves a service alone that does not answer. */
const LONGEST_BACKOFF_MS = 60_000;

/** A page could not be read. */
class CannotRead extends Error {
  override readonly name = "CannotRead";
  readonly waitMs: number;

  constructor(error: PaymentsError) {
    super(error.message);
    this.waitMs = error._tag === "RateLimited" ? error.retryAfter : 0;
  }
}

const drained = () =>
  ApplicationFailure.create({
    type: "Draining",
    message: "The worker drains; another one goes on.",
    nextRetryDelay: POLL_EVERY_MS,
    category: ApplicationFailureCategory.BENIGN,
  });

/** Whether heartbeat details are of an attempt of this activity. */
const isTracking = (details: unknown): details is Tracking =>
  typeof details === "object" && details !== null && "sweeps" in details;

/** One attempt of the activity. */
class Tracker {
  readonly #runtime: PaymentsRuntime;
  readonly #name: string | undefined;
  readonly #activity = Context.current();
  readonly #signal: AbortSignal;
  readonly #waiting: WaitingRuns;
  readonly #restsUntil = new Map<string, number>();
  #cursor: Tracking["at"];
  #sweeps = 0;
  #requests = 0;
  #mostRequests = 0;
  #signalled = 0;
  #readAt = Date.now();
  #failing: Tracking["failing"];
  /** Why a run could not be signalled, in this poll. */
  #notSignalled: string | undefined;

  constructor(
    runtime: PaymentsRuntime,
    signal: AbortSignal,
    account: string,
    name: string | undefined,
  ) {
    this.#name = name;
    this.#waiting = new WaitingRuns(account);
    this.#runtime = runtime;
    this.#signal = signal;
    // What a killed worker said last.
    const details: unknown = this.#activity.info.heartbeatDetails;
    if (isTracking(details)) this.#cursor = details.at;
  }

  async track(forMs: number): Promise<void> {
    const until = Date.now() + forMs;
    const heart = setInterval(() => this.#heartbeat(), HEARTBEAT_EVERY_MS);
    try {
      let failures = 0;
      do {
        let pause = POLL_EVERY_MS;
        try {
          await this.#poll();
          this.#readAt = Date.now();
          noteTrackerRead(this.#readAt, this.#name);
          failures = 0;
          this.#note(this.#notSignalled);
        } catch (error) {
          if (this.#signal.aborted) throw error;
          failures += 1;
          this.#note(temporalReason(error));
          const asked = error instanceof CannotRead ? error.waitMs : 0;
          pause = Math.max(asked, Math.min(LONGEST_BACKOFF_MS, 2 ** failures * 500));
          this.#activity.log.warn(`The tracker waits ${pause} ms: ${String(error)}`);
        }
        const left = Math.max(0, until - Date.now());
        await sleep(Math.min(pause, left), undefined, { signal: this.#signal });
      } while (Date.now() < until);
    } finally {
      clearInterval(heart);
    }
  }

  /** What keeps it from its work now; undefined where nothing does. */
  #note(why: string | undefined): void {
    this.#failing =
      why === undefined ? undefined : { why, since: this.#failing?.since ?? Date.now() };
    if (why !== undefined) this.#heartbeat();
  }

  async #poll(): Promise<void> {
    this.#notSignalled = undefined;
    await this.#waiting.refresh(this.#activity.client);
    await this.#sweep(trackedPayouts);
    await this.#sweep(trackedCardholders);
  }

  async #sweep<Item extends { readonly create_time?: string }>(
    list: TrackedList<Item>,
  ): Promise<void> {
    const requestsBefore = this.#requests;
    const restsUntil = await sweep({
      list,
      restsUntil: this.#restsUntil.get(list.kind) ?? 0,
      waiting: this.#waiting,
      assumptions: await this.#call(({ options }) => Effect.succeed(options.assumptions)),
      fromPage: this.#cursor?.kind === list.kind ? this.#cursor.page : 1,
      read: async (page): Promise<Page<Item>> => {
        this.#cursor = { kind: list.kind, page: page.page_num };
        this.#heartbeat();
        this.#requests += 1;
        return this.#call((client) => list.read(client, page));
      },
      signalAll: (signalled) => this.#signalAll(signalled),
    });
    this.#restsUntil.set(list.kind, restsUntil);
    const requests = this.#requests - requestsBefore;
    if (requests > 0) this.#sweeps += 1;
    this.#mostRequests = Math.max(this.#mostRequests, requests);
    if (this.#cursor?.kind === list.kind) this.#cursor = undefined;
  }

  async #call<A>(call: Call<A>): Promise<A> {
    const result = await runCall(this.#runtime, call, this.#signal);
    if (Result.isSuccess(result)) return result.success;
    throw new CannotRead(result.failure);
  }

  /** A page has some 50 items: so many signals at once are few enough. */
  async #signalAll(signalled: ReadonlyArray<readonly [Wait, CompletionSignal]>): Promise<void> {
    const sending = signalled.flatMap(([wait, completion]) =>
      wait.runs.map(async (run) => {
        await this.#signalRun(run, completion);
        this.#waiting.signalled(wait, run);
        this.#signalled += 1;
      }),
    );
    const failed = (await Promise.allSettled(sending)).find(({ status }) => status === "rejected");
    if (failed?.status !== "rejected") return;
    // Its wait stays, and is due again: it keeps none of the others waiting.
    this.#notSignalled = `a run could not be signalled (${temporalReason(failed.reason)})`;
    this.#activity.log.warn(`The tracker goes on: ${this.#notSignalled}`);
  }

  async #signalRun(
    { runId, workflowId }: WaitingRun,
    { content, signal }: CompletionSignal,
  ): Promise<void> {
    try {
      await this.#activity.client.workflow.getHandle(workflowId, runId).signal(signal, content);
    } catch (error) {
      // It has ended by itself meanwhile.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  #heartbeat(): void {
    const tracking: Tracking = {
      ...(this.#cursor && { at: this.#cursor }),
      sweeps: this.#sweeps,
      requests: this.#requests,
      mostRequests: this.#mostRequests,
      signalled: this.#signalled,
      waiting: this.#waiting.size,
      readAt: this.#readAt,
      ...(this.#failing && { failing: this.#failing }),
    };
    this.#activity.heartbeat(tracking);
  }
}

const TWELVE_HOURS_MS = 12 * 60 * 60_000;

/** The tracker's activity over a client, of the account of this name. */
export const makeTrackerActivities = (
  runtime: PaymentsRuntime,
  { draining, turnMs = TWELVE_HOURS_MS }: TrackerOptions = {},
  name?: string,
): TrackerActivities => ({
  trackWaiting: async () => {
    const { cancellationSignal, info } = Context.current();
    const signal = draining ? AbortSignal.any([cancellationSignal, draining]) : cancellationSignal;
    const account = await accountOf(runtime);
    const { workflowId = "" } = info.workflowExecution ?? {};
    if (workflowId !== trackerId(account, name)) {
      throw otherAccount(workflowId.replace(trackerId(""), ""), account, { nonRetryable: false });
    }
    try {
      await new Tracker(runtime, signal, account, name).track(turnMs);
    } catch (error) {
      if (cancellationSignal.aborted) throw cancellationSignal.reason;
      if (draining?.aborted === true) throw drained();
      throw error;
    }
  },
});
