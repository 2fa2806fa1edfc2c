import { messageOf } from "@durable-payments/api-core/values";
import { AsyncLocalStorage } from "node:async_hooks";
import { BeforeSend, type PaymentsError, Unavailable } from "@durable-payments/api-core";
import {
  type BegunSend,
  forbidding,
  type Journal,
  JournalUnavailable,
  type MadeBySend,
  type Send,
  type WriteName,
} from "@durable-payments/journal";
import { COMMAND, temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { ApplicationFailure } from "@temporalio/common";
import { Effect, Result } from "effect";
import { countJournalConflict } from "./metrics.ts";
import type { ReadPause } from "./pause.ts";
import { alreadySent, paused, runCancelling, runEnded } from "./failures.ts";
import { echoIn, idsIn } from "./recorded-send.ts";
import type { ReadEarlierRuns } from "./earlier-runs.ts";
import type { ReadRunState } from "./run-state.ts";
import { readForgottenSends } from "./sends-in-history.ts";
import { DISPATCH_WITHIN_MS, sentAlready } from "./send-intent.ts";

/** An answer that is older than this at a send, by the monotonic clock, is asked for again. */
const ANSWERS_HOLD_MS = 5_000;

/** The same of what the Temporal server has answered: the latest that a pause takes hold depends on it. */
const PAUSE_HOLDS_MS = 500;

/** Reading what earlier runs have sent takes no longer than this. */
const HISTORIES_WITHIN_MS = 30_000;

/** A first dispatch within this time follows at once on the start of its activity: its run was open. */
const AT_ONCE_MS = 1_000;

/** What the Temporal server answers. Without an answer nothing is sent. */
const answerOf = <A>(answer: Promise<A>, what: string): Promise<A> =>
  answer.catch((error: unknown) => {
    throw new Error(
      `the Temporal server did not answer whether ${what} (${temporalReason(error)})`,
      {
        cause: error,
      },
    );
  });

/** What a guard asks before each dispatch. */
export interface GuardOptions {
  readonly operation: string;
  readonly readPause: ReadPause;
  readonly readRunState: ReadRunState;
  readonly readEarlierRuns: ReadEarlierRuns;
  /** Whether its run finds out by itself what runs before it have sent. */
  readonly knowsEarlierRuns: boolean;
  /** Whether it is sent although its run was asked to be cancelled. */
  readonly evenIfCancelled: boolean;
  readonly journal: Journal;
  /** What is to be written into the journal; left out for a write that may be sent twice. */
  readonly send: Send | undefined;
  /** What is undone by it. */
  readonly undoes: MadeBySend | undefined;
}

/**
 * Guards the dispatches of one attempt of an activity that writes. Before each one it asks whether
 * sends are paused, whether its run is still open (where it does not follow at once on the start of
 * the attempt), whether the journal permits it, and whether it is still early enough. Make it when
 * the attempt begins.
 */
export class GuardedSend {
  readonly #options: GuardOptions;
  readonly #activity = Context.current();
  // The call's fibers may be resumed by those of another activity.
  readonly #inActivity = AsyncLocalStorage.snapshot();
  readonly #began = performance.now();
  #wasChecked = false;
  #begun: BegunSend | undefined;
  #blockedBy: ApplicationFailure | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Why it was not sent, where the client's own errors have no word for it. */
  get blockedBy(): ApplicationFailure | undefined {
    return this.#blockedBy;
  }

  /** Guard each dispatch of a call of the client. */
  readonly guard = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.provideService(call, BeforeSend, () => this.#beforeDispatch());

  /**
   * Ask for the one dispatch of a call that is none of the client's.
   *
   * @throws ApplicationFailure or Unavailable where it must not be sent.
   */
  async permit(): Promise<void> {
    const asked = await Effect.runPromise(Effect.result(this.#beforeDispatch()));
    if (Result.isFailure(asked)) throw this.#blockedBy ?? asked.failure;
  }

  /**
   * Fail an attempt that is not the first where the journal knows a send of the one before it.
   *
   * @throws ApplicationFailure of type AlreadySent
   */
  async failIfRecorded(): Promise<void> {
    const { operation, send } = this.#options;
    if (send === undefined) return;
    // What cannot be read says nothing: the outcome is unknown then, as without a journal.
    const recorded = await this.#options.journal.find(send).catch(() => []);
    const found = forbidding(send, recorded);
    if (found !== undefined) throw alreadySent(operation, sentAlready(send, found, recorded));
  }

  /**
   * Write what the answer says.
   *
   * @returns who has made what it names before, where the journal has it as another's: then it proves nothing.
   */
  async succeeded(input: unknown, answer: unknown): Promise<WriteName | undefined> {
    const { journal, operation, undoes } = this.#options;
    const echo = this.#begun === undefined ? undefined : echoIn(input, answer);
    // At once: a journal in a file writes both with one wait for the disk.
    const [other] = await Promise.all([
      this.#recordOutcome("carriedOut", idsIn(this.#options.operation, answer)),
      echo === undefined ? undefined : this.#note(() => journal.noteKeyEcho(operation, echo)),
      undoes === undefined ? undefined : this.#note(() => journal.noteUndone(undoes)),
    ]);
    return other;
  }

  /** Write what the call's failure says; anything but an error of the client is no answer. */
  async failed(error: PaymentsError | undefined): Promise<void> {
    await this.#recordOutcome(error?.carriedOut === "no" ? "notCarriedOut" : "unknown");
  }

  async #recordOutcome(
    ...[outcome, ids]: Parameters<BegunSend["recordOutcome"]>
  ): Promise<WriteName | undefined> {
    const begun = this.#begun;
    return begun && (await this.#note(() => begun.recordOutcome(outcome, ids)));
  }

  /** What is known must not be lost because it cannot be written down. */
  async #note<A>(write: () => Promise<A>): Promise<A | undefined> {
    try {
      return await write();
    } catch (error) {
      this.#activity.log.warn("The outcome of a send could not be written to the journal", {
        operation: this.#options.operation,
        error: messageOf(error),
      });
      return undefined;
    }
  }

  readonly #beforeDispatch = (): Effect.Effect<void, Unavailable> =>
    Effect.suspend(() => {
      if (this.#activity.cancellationSignal.aborted) return Effect.interrupt;
      const asked = performance.now();
      return Effect.tryPromise({
        try: () => this.#inActivity(() => this.#check()),
        catch: (error) => this.#notSent(messageOf(error), error),
      }).pipe(
        Effect.flatMap(() => {
          const now = performance.now();
          if (now - this.#began > this.#dispatchWithinMs) {
            return Effect.fail(
              this.#notSent(
                `more than ${this.#dispatchWithinMs / 1000} s have passed since its activity began`,
              ),
            );
          }
          // The process stood still meanwhile: what was true then may not be true now.
          return now - asked > ANSWERS_HOLD_MS ? this.#beforeDispatch() : Effect.void;
        }),
      );
    });

  get #dispatchWithinMs(): number {
    return Math.min(DISPATCH_WITHIN_MS, this.#activity.info.startToCloseTimeoutMs);
  }

  async #check(): Promise<void> {
    const asked = performance.now();
    await this.#checkTemporal();
    await this.#checkJournal();
    // Sends may have been paused, or the run ended, while the journal took its time.
    if (performance.now() - asked > PAUSE_HOLDS_MS) await this.#checkTemporal();
  }

  async #checkTemporal(): Promise<void> {
    const { readPause, evenIfCancelled, operation, readRunState, send } = this.#options;
    const isAtOnce = !this.#wasChecked && performance.now() - this.#began <= AT_ONCE_MS;
    this.#wasChecked = true;
    const [pause, state] = await Promise.all([
      answerOf(readPause(), "sends are paused"),
      isAtOnce ? "open" : answerOf(readRunState(), "its run is open still"),
    ]);
    // What may be sent twice is tried again by Temporal, if the run is open after all.
    if (state === "ended") {
      throw this.#block(runEnded(operation, { nonRetryable: send !== undefined }));
    }
    // What may be sent twice may be what undoes; anything else of it ends with the next heartbeat.
    if (state === "cancelRequested" && send !== undefined && !evenIfCancelled) {
      throw this.#block(runCancelling(operation));
    }
    if (pause !== undefined) {
      throw this.#block(paused(pause, { nonRetryable: send !== undefined }));
    }
  }

  async #checkJournal(): Promise<void> {
    const { operation, send } = this.#options;
    if (send === undefined) return;
    if (this.#begun === undefined) await this.#begin(send);
    else if (!(await this.#begun.isLatest())) {
      const recorded = await this.#options.journal.find(send);
      const latest = forbidding(send, recorded);
      throw latest === undefined
        ? new Error("its entry in the journal is gone")
        : this.#block(alreadySent(operation, sentAlready(send, latest, recorded)));
    }
  }

  /** What the journal has lost, Temporal's histories may have still. */
  async #checkHistories(send: Send): Promise<void> {
    const { journal, knowsEarlierRuns, operation, readEarlierRuns } = this.#options;
    if (knowsEarlierRuns) return;
    const runs = await answerOf(readEarlierRuns(), "earlier runs of its workflow id have sent it");
    if (runs.length === 0) return;
    const recorded = await journal.find(send);
    const { client } = this.#activity;
    const forgotten = await answerOf(
      client.withDeadline(Date.now() + HISTORIES_WITHIN_MS, () =>
        readForgottenSends(client, runs, send, recorded),
      ),
      "earlier runs of its workflow id have sent it",
    );
    const standing = forgotten.filter(({ outcome }) => outcome !== "notCarriedOut");
    if (standing.length === 0) return;
    const all = [...recorded, ...standing];
    const found = forbidding(send, all);
    if (found !== undefined) {
      throw this.#block(alreadySent(operation, sentAlready(send, found, all)));
    }
  }

  async #begin(send: Send): Promise<void> {
    const { journal, operation } = this.#options;
    await this.#checkHistories(send);
    const begun = await journal.begin(send);
    if (begun._tag === "Begun") this.#begun = begun.send;
    else {
      countJournalConflict();
      const recorded = await journal.find(send);
      throw this.#block(alreadySent(operation, sentAlready(send, begun.latest, recorded)));
    }
  }

  #block(failure: ApplicationFailure): ApplicationFailure {
    this.#blockedBy = failure;
    return failure;
  }

  #notSent(why: string, cause?: unknown): Unavailable {
    const { operation } = this.#options;
    const remedy =
      cause instanceof JournalUnavailable
        ? ` It is sent when the journal can be used again; \`${COMMAND} doctor\` checks it.`
        : "";
    return new Unavailable({
      operation,
      carriedOut: "no",
      message: `${operation} was not sent: ${why}.${remedy}`,
    });
  }
}
