import type { SendIntent, SentAlready } from "@durable-payments/activities";
import { asSentence, isOwnSend, type SentBefore, sendingOf } from "@durable-payments/protocol";
import { CancelledFailure } from "@temporalio/common";
import { CancellationScope, isCancellation, sleep, workflowInfo } from "@temporalio/workflow";
import { activities } from "../run/activities.ts";
import { readSendFailure, rootCause, type SendFailure } from "../run/failures.ts";
import { otherInDoubt } from "../run/in-doubt.ts";
import { awaitService } from "../run/polling.ts";
import type { RunState } from "../run/run-state.ts";
import { approveSend } from "./approval.ts";
import { askToAmend } from "./ask-person.ts";
import { checkRequest } from "./check-requests.ts";
import { earlierRequestText, otherRequestText, shownOfJournal } from "./describe-send.ts";
import { expectNotSentByOthers } from "./earlier-runs.ts";
import { type EarlierSendsKnown, OutcomeFinder } from "./outcome-finder.ts";
import type { Write } from "./write.ts";
import { startTimeMs, WriteState } from "./write-state.ts";

/** How the audit trail names what became of a send. */
const OUTCOMES = {
  Paused: "paused",
  NotCarriedOut: "not carried out",
  NeedsApproval: "needs an approval",
  Refused: "refused",
  AlreadySent: "sent before",
  Unknown: "no answer",
} as const;

/** Longest wait between two sends that were not carried out, while the service can be reached. */
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Times that a request is not accepted as it is (HTTP 400, 422; 401 while ping is answered), before a
 * person is asked.
 */
const MOST_NOT_ACCEPTED = 3;

/**
 * Decides what follows on each send of a write: send it again, reconcile it, or ask a person. A
 * cancellation stops it where nothing is in doubt: not while a request is under way or reconciled, but
 * before it is sent again.
 */
export class Sender<Request extends object, A> {
  readonly #run: RunState;
  readonly #write: Write<Request, A>;
  readonly #state: WriteState<Request>;
  readonly #outcome: OutcomeFinder<Request, A>;
  #notAccepted = 0;
  /** Whether a send is under way. */
  #isSending = false;

  constructor(
    run: RunState,
    write: Write<Request, A>,
    before: Exclude<SentBefore, { readonly outcome: "known" }> | undefined,
  ) {
    this.#run = run;
    this.#write = write;
    this.#state = new WriteState(run, write, before);
    this.#outcome = new OutcomeFinder(run, write, this.#state);
  }

  /** The request as it is to be sent. */
  get request(): Request {
    return this.#state.request;
  }

  /** Whether there is something to do before the first send: an amended input, a send of an earlier run. */
  get hasEarlierSends(): boolean {
    return this.#run.isAmended || this.#state.isSentBefore;
  }

  /**
   * Check an amended request, and reconcile what an earlier run may have sent.
   *
   * @param known what is known of these sends.
   */
  async reconcileEarlierSends(known: EarlierSendsKnown): Promise<A | "send"> {
    if (this.#run.isAmended) await this.#checkAmended();
    if (!this.#state.isSentBefore) return "send";
    return this.#outcome.reconcileEarlierSends(known);
  }

  /**
   * Begin a send.
   *
   * @returns which send it is: no two of a step have the same number.
   * @throws CancelledFailure where the run is cancelled, or its body has ended: nothing is in doubt before a send.
   */
  begin(): SendIntent {
    const maySend = this.#run.sends.maySend(this.#write.step);
    if (!maySend || CancellationScope.current().consideredCancelled) {
      throw new CancelledFailure("Not sent.");
    }
    this.#state.recordInDoubt();
    this.#isSending = true;
    this.#state.log("sending");
    return this.#state.nextSend(this.#outcome.isResend);
  }

  /**
   * Handle the failure of a send.
   *
   * @returns what it made after all, or that it is to be sent again.
   */
  async handleFailure(error: unknown): Promise<A | "send"> {
    const failure = readSendFailure(error);
    this.#isSending = false;
    if (failure._tag !== "Unknown" && !this.#state.isInDoubt) {
      this.#run.sends.notCarriedOut(this.#write.step);
    }
    this.#state.log(OUTCOMES[failure._tag], rootCause(error).message);
    switch (failure._tag) {
      case "NotCarriedOut":
        return this.#onNotCarriedOut(failure);
      case "Paused":
        this.#waits(failure.reason);
        await activities.awaitResume.executeWithOptions(
          { summary: "Await the end of the pause" },
          [],
        );
        return this.#outcome.sendAgain(failure.reason);
      case "NeedsApproval": {
        const { operation, shown, step } = this.#write;
        const { request } = this;
        const { why } = failure;
        await approveSend(this.#run, { operation, request, shown: shown(request), step, why });
        return this.#outcome.sendAgain(failure.reason);
      }
      case "Refused":
        return this.#onRefusal(failure.failure);
      case "AlreadySent":
        return this.#onAlreadySent(failure.sent, failure.reason);
      case "Unknown":
        this.#state.knowSent();
        this.#outcome.markInDoubt();
        return this.#outcome.reconcile(failure.reason, failure.type);
    }
  }

  /** End without a result: where nothing is in doubt, nothing was made. */
  close(): void {
    if (!this.#state.isInDoubt && !this.#isSending) this.#run.sends.clearIntent(this.#write.step);
  }

  /** Say that it waits until it can send again. */
  #waits(reason: string): void {
    const { step } = this.#write;
    if (!this.#state.isInDoubt) this.#run.sends.waitsUnsent(step);
    this.#run.waiting(step, reason);
  }

  async #onNotCarriedOut({
    reason,
    status,
    waitMs,
  }: Extract<SendFailure, { readonly _tag: "NotCarriedOut" }>): Promise<A | "send"> {
    this.#notAccepted += 1;
    // Nothing but another request, or another server, would make a difference to such an answer.
    if (status !== undefined && status < 500 && this.#notAccepted >= MOST_NOT_ACCEPTED) {
      this.#notAccepted = 0;
      return this.#state.isInDoubt ? this.#outcome.ask(reason) : this.#askToAmend(reason);
    }
    this.#waits(reason);
    const longer = waitMs * 2 ** Math.min(this.#notAccepted - 1, 12);
    await sleep(Math.max(waitMs, Math.min(LONGEST_WAIT_MS, longer)));
    // Whether the payment service can be reached says nothing of another one.
    if (!isOwnSend(this.#write.operation)) await awaitService();
    return this.#outcome.sendAgain(reason);
  }

  async #onRefusal(refusal: Error): Promise<A | "send"> {
    // The refusal of a resend does not say what became of a send before it.
    if (this.#outcome.hasUnknownSends) {
      this.#outcome.markInDoubt();
      return this.#outcome.ask(`An earlier send got no answer; the repeat: ${refusal.message}`);
    }
    if (this.#run.onRefusal !== "ask") {
      this.#run.sends.clearIntent(this.#write.step);
      throw refusal;
    }
    return this.#askToAmend(refusal.message);
  }

  /** The journal knows of a send that this run does not: of a run before it, or of a lost worker. */
  async #onAlreadySent(sent: SentAlready, reason: string): Promise<A | "send"> {
    const { begunAt, isNoneCarriedOut, isSamePayload, key, number, outcome, runId } = sent;
    this.#state.knowRecorded(number);
    const isOfThisRun = runId === workflowInfo().runId;
    // A run before may have been about to send it when this one began.
    if (this.#run.hasEarlierRuns && !isOfThisRun) {
      await expectNotSentByOthers(this.#run, this.#write, this.request);
    }
    const isUndone = outcome === "undone" || (outcome === "carriedOut" && this.#state.isGone(sent));
    if (isUndone && this.#state.isKey(key)) this.#state.makeAnew(number);
    // What is undone is written into the journal; but of a cardholder that is replaced a person may say anything.
    const isReplaceable = sendingOf(this.#write.operation)?.isReplaceable === true;
    if (isUndone && outcome === "carriedOut" && !isReplaceable) {
      return this.#outcome.ask(
        `${asSentence(reason)} Its retry says that it was undone, and the journal does not have it as undone.`,
        { candidates: [shownOfJournal(sent)] },
      );
    }
    // A replay of a history alone has the id of the first run: the instruction of the retry decides before that.
    if (isUndone && (this.#state.isKnownGone(sent) || !isOfThisRun)) return "send";
    // It was undone after the copy of the server's database to which this run was put back.
    if (outcome === "undone") {
      return this.#outcome.ask(
        `${asSentence(reason)} To make it anew, resend; to leave it at that, abandon.`,
      );
    }
    this.#state.sentUnder(key);
    // Others before it may be of runs whose history is gone.
    this.#state.mayBeSentSince(isOfThisRun ? begunAt : Math.min(begunAt, startTimeMs()));
    // The outcome of the latest send does not say what became of those before it: all of them do.
    if (outcome === "notCarriedOut" && (number === 1 || isNoneCarriedOut === true)) return "send";
    const { otherInDoubt: earlier } = sent;
    if (outcome === "carriedOut") return this.#onCarriedOut(sent, reason);
    this.#outcome.markInDoubt();
    if (!isSamePayload && outcome !== "notCarriedOut") {
      if (earlier !== undefined) this.#run.sends.leavesInDoubt(otherInDoubt(this.#write, earlier));
      return this.#outcome.reconcileOtherRequest(
        sent,
        `${asSentence(reason)} ${otherRequestText(sent, this.request)}`,
      );
    }
    if (earlier !== undefined) {
      const about = `${asSentence(reason)} ${earlierRequestText(earlier)}`;
      const decided = await this.#outcome.reconcileOtherRequest(earlier, about);
      if (decided !== "send") return decided;
      if (key !== earlier.key) this.#state.sentUnder(key);
      this.#outcome.markInDoubt();
    }
    return this.#outcome.reconcile(reason, outcome === "begun" ? "" : "OutcomeUnknown");
  }

  /** The journal has it as carried out. */
  async #onCarriedOut(sent: SentAlready, reason: string): Promise<A | "send"> {
    const { fromIds, idsWanted } = this.#write;
    const { ids, isSamePayload, otherInDoubt: earlier } = sent;
    if (earlier !== undefined) this.#run.sends.leavesInDoubt(otherInDoubt(this.#write, earlier));
    if (!isSamePayload) this.#state.other = sent;
    this.#outcome.markInDoubt();
    const made = [shownOfJournal(sent)];
    if (!isSamePayload) {
      return this.#outcome.ask(`${asSentence(reason)} ${otherRequestText(sent, this.request)}`, {
        candidates: made,
        canResend: false,
      });
    }
    if (idsWanted.some((id) => ids[id] === undefined)) {
      return this.#outcome.reconcile(reason, "OutcomeUnknown");
    }
    try {
      return await fromIds(ids, this.request);
    } catch (error) {
      if (isCancellation(error)) throw error;
      return this.#outcome.ask(
        `${asSentence(reason)} What it made is not it: ${rootCause(error).message}`,
        { candidates: made, canResend: false },
      );
    }
  }

  async #askToAmend(reason: string): Promise<"send"> {
    const amended = await askToAmend(this.#run, this.#write, { reason, request: this.request });
    if (amended !== undefined) {
      this.#state.amend(amended);
      this.#run.amended(this.#write.operation, amended);
    }
    return "send";
  }

  /** Check the request that an amended input gives, before it is sent. */
  async #checkAmended(): Promise<void> {
    try {
      await checkRequest(this.#run, this.#write, this.request);
    } catch (error) {
      if (!this.#state.isSentBefore) this.#run.sends.clearIntent(this.#write.step);
      throw error;
    }
  }
}
