import type { JournalSend, SendIntent, SentAlready } from "@durable-payments/activities";
import type { HumanTask, SentBefore } from "@durable-payments/protocol";
import { CancelledFailure } from "@temporalio/common";
import { CancellationScope, isCancellation, sleep, workflowInfo } from "@temporalio/workflow";
import { activities } from "../run/activities.ts";
import { readSendFailure, rootCause, type SendFailure } from "../run/failures.ts";
import { inDoubtOf, otherInDoubt, type StepInDoubt } from "../run/in-doubt.ts";
import { isShielded } from "../run/is-shielded.ts";
import type { RunState } from "../run/run-state.ts";
import { askPerson, askToAmend } from "./ask-person.ts";
import { checkRequest } from "./check-requests.ts";
import { lookFor } from "./look-for.ts";
import {
  earlierRequestText,
  foundOfOther,
  otherRequestText,
  shownOfJournal,
} from "./other-send.ts";
import type { Reconciled, Seen } from "./reconcile.ts";
import { recordFound } from "./record-found.ts";
import type { LookUp, Sending } from "./send.ts";
import { SendingKeys } from "./sending-keys.ts";
import { serviceAnswers } from "./service-answers.ts";

/** How the audit trail calls what became of a send. */
const OUTCOMES = {
  Paused: "held back",
  NotCarriedOut: "not carried out",
  Refused: "refused",
  AlreadySent: "sent before",
  Unknown: "no answer",
} as const;

/** Longest wait between two sends that were turned away, while the service can be reached. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** Repeats of a request that may be repeated as it is, before a person is asked. */
const MOST_REPEATS = 5;

/** Times that a send is found to be absent and made again, before a person is asked. */
const MOST_ABSENT = 3;

/**
 * Times that a request is turned away as it is (HTTP 400, 422; 401 while ping is answered), before a
 * person is asked.
 */
const MOST_TURNED_AWAY = 3;

/** Events of a history, before a person is asked how to go on: a tenth of the server's limit. */
const MOST_EVENTS = 5_000;

const startTimeMs = (): number => workflowInfo().startTime.getTime();

/** Failures of a send that its worker itself has reported: it sends no more. */
const REPORTED = new Set(["OutcomeUnknown", "UnexpectedAnswer"]);

/**
 * What is known of a write on its way. A cancellation stops it where nothing is in doubt: not while
 * a request is under way or looked up, but before it is sent again.
 */
export class Sender<Request extends object, A> {
  readonly #run: RunState;
  readonly #sending: Sending<Request, A>;
  /** From when on it may have been sent. */
  #since: number;
  readonly #isSentBefore: boolean;
  /** Whether what was sent before this run has been undone since. */
  readonly #isUndone: boolean;
  #request: Request;
  readonly #keys: SendingKeys;
  /** Which send of the step is the next one, in all runs of the workflow id. */
  #number = 1;
  /** Up to which send of the step this run knows what may have reached the service. */
  #knownTo = 0;
  /** What was listed that may be it, by its id. */
  readonly #seen = new Map<string, Seen<A>>();
  #unknownOutcomes = 0;
  #absent = 0;
  #turnedAway = 0;
  #askBeyondEvents = MOST_EVENTS;
  /** Whether a send is under way. */
  #isSending = false;
  /** Whether something may have been made that this run does not know. */
  #isInDoubt = false;
  /** What was sent before, as the journal has it, where that is another request than the one of now. */
  #other: JournalSend | undefined;

  constructor(
    run: RunState,
    sending: Sending<Request, A>,
    before: Exclude<SentBefore, { readonly outcome: "known" }> | undefined,
  ) {
    this.#isSentBefore = before?.outcome === "unknown";
    this.#isUndone = before?.outcome === "nothing" && before.isUndone === true;
    this.#since = this.#isSentBefore ? startTimeMs() : Date.now();
    this.#run = run;
    this.#sending = sending;
    this.#keys = new SendingKeys(sending, {
      amendments: before?.amendments ?? 0,
      isSentBefore: this.#isSentBefore,
    });
    this.#request = this.#fix(sending.request);
  }

  /** The request as it is to be sent. */
  get request(): Request {
    return this.#request;
  }

  /** Whether there is something to do before the first send: an amended input, a send of an earlier run. */
  get hasPast(): boolean {
    return this.#run.isAmended || this.#isSentBefore;
  }

  /** Checks and looks up what is to be known before the first send. */
  async settlePast(): Promise<A | "send"> {
    if (this.#run.isAmended) await this.#checkAmended();
    if (!this.#isSentBefore) return "send";
    this.#doubt();
    // With a list, "absent" is known of the send before: the refusal of a repeat is a refusal.
    if (this.#sending.lookUp !== undefined) this.#unknownOutcomes = 0;
    return this.#lookUp("An earlier run of this workflow may have sent it.", "");
  }

  /**
   * Tells that it is being sent; throws where the run is cancelled: nothing is in doubt before a send.
   *
   * @returns which send it is: no two of a step have the same number.
   */
  begin(): SendIntent {
    if (CancellationScope.current().consideredCancelled) throw new CancelledFailure("Not sent.");
    this.#run.outcomeUnknown(this.#inDoubt);
    this.#isSending = true;
    this.#tell("sending");
    const number = this.#number;
    this.#number += 1;
    return {
      step: this.#sending.step,
      number,
      knownTo: this.#knownTo,
      isResend: this.#unknownOutcomes > 0 || this.#absent > 0,
      ...(this.#isUndone && { isUndone: true }),
      ...(isShielded() && { evenIfCancelled: true }),
    };
  }

  /** What a send that failed came to: what it made after all, or that it is to be sent again. */
  async settle(error: unknown): Promise<A | "send"> {
    const failure = readSendFailure(error);
    this.#isSending = false;
    if (failure._tag !== "Unknown" && !this.#isInDoubt) this.#run.notCarriedOut(this.#sending.step);
    this.#tell(OUTCOMES[failure._tag], rootCause(error).message);
    switch (failure._tag) {
      case "NotCarriedOut":
        return this.#onTurnedAway(failure);
      case "Paused":
        this.#run.waiting(this.#sending.step, failure.reason);
        await activities.awaitResume.executeWithOptions(
          { summary: "Await the end of the pause" },
          [],
        );
        return this.#sendAgain(failure.reason);
      case "Refused":
        return this.#onRefusal(failure.failure);
      case "AlreadySent":
        return this.#onSentBefore(failure.sent, failure.reason);
      case "Unknown":
        this.#knowUpTo(this.#number - 1);
        this.#doubt();
        return this.#lookUp(failure.reason, failure.type);
    }
  }

  /** A run that ends with nothing in doubt has made nothing. */
  leave(): void {
    if (!this.#isInDoubt && !this.#isSending) this.#run.clearIntent(this.#sending.step);
  }

  /** Something may have been made that this run does not know. */
  #doubt(): void {
    this.#unknownOutcomes += 1;
    this.#isInDoubt = true;
    this.#run.outcomeUnknown(this.#inDoubt);
  }

  #knowUpTo(number: number): void {
    this.#knownTo = Math.max(this.#knownTo, number);
    this.#run.knowsSendsUpTo(this.#sending.step, this.#knownTo);
  }

  /** Nothing was made that this run does not know: it may be sent again. */
  #notCarriedOut(): "send" {
    this.#isInDoubt = false;
    this.#run.notCarriedOut(this.#sending.step);
    return "send";
  }

  /** Fixes key and payload before the first send: every further send is the very same. */
  #fix(request: Request): Request {
    const { intent, step } = this.#sending;
    const key = this.#keys.current;
    this.#run.recordIntent(step, { intent: intent(request), ...(key !== undefined && { key }) });
    return key === undefined ? request : { ...request, unique_request_id: key };
  }

  async #onTurnedAway({
    reason,
    status,
    waitMs,
  }: Extract<SendFailure, { readonly _tag: "NotCarriedOut" }>): Promise<A | "send"> {
    this.#turnedAway += 1;
    // Nothing but another request, or another server, would make a difference to such an answer.
    if (status !== undefined && status < 500 && this.#turnedAway >= MOST_TURNED_AWAY) {
      this.#turnedAway = 0;
      return this.#isInDoubt ? this.#ask(reason, []) : this.#askToAmend(reason);
    }
    this.#run.waiting(this.#sending.step, reason);
    const longer = waitMs * 2 ** Math.min(this.#turnedAway - 1, 12);
    await sleep(Math.max(waitMs, Math.min(LONGEST_WAIT_MS, longer)));
    await serviceAnswers();
    return this.#sendAgain(reason);
  }

  /** Nothing goes on until the server ends the run for its history. */
  #sendAgain(reason: string): Promise<A | "send"> | "send" {
    const { historyLength } = workflowInfo();
    if (historyLength < this.#askBeyondEvents) return "send";
    this.#askBeyondEvents = historyLength + MOST_EVENTS / 5;
    return this.#ask(`It was sent in vain very often, so that the history grows: ${reason}`, []);
  }

  async #onRefusal(refusal: Error): Promise<A | "send"> {
    // The refusal of a repeat does not tell what became of a send before it.
    if (this.#unknownOutcomes > 0) {
      this.#doubt();
      return this.#ask(`An earlier send got no answer; the repeat: ${refusal.message}`, []);
    }
    if (this.#run.onRefusal !== "ask") {
      this.#run.clearIntent(this.#sending.step);
      throw refusal;
    }
    return this.#askToAmend(refusal.message);
  }

  /** The journal knows of a send that this run does not: of a run before it, or of a lost worker. */
  async #onSentBefore(sent: SentAlready, reason: string): Promise<A | "send"> {
    const { begunAt, isSamePayload, key, number, outcome, runId } = sent;
    this.#number = Math.max(this.#number, number + 1);
    this.#knowUpTo(number);
    const isOfThisRun = runId === workflowInfo().runId;
    const isUndone = outcome === "undone" || (this.#isUndone && outcome === "carriedOut");
    if (isUndone && key !== undefined && key === this.#keys.current) {
      this.#keys.anew(number);
      this.#request = this.#fix(this.#request);
    }
    if (isUndone && !isOfThisRun) return "send";
    // It was undone after the copy of the server's database to which this run was put back.
    if (outcome === "undone") {
      return this.#ask(`${reason} To make it anew, resend; to leave it at that, abandon.`, []);
    }
    this.#keys.sentUnder(key);
    // Others before it may be of runs whose history is gone.
    this.#since = Math.min(this.#since, begunAt, isOfThisRun ? begunAt : startTimeMs());
    // What it says of the latest send does not tell what became of those before it.
    if (outcome === "notCarriedOut" && number === 1) return "send";
    const { otherInDoubt: earlier } = sent;
    if (outcome === "carriedOut") return this.#onCarriedOut(sent, reason);
    this.#doubt();
    if (!isSamePayload && outcome !== "notCarriedOut") {
      if (earlier !== undefined) this.#run.leavesInDoubt(otherInDoubt(this.#sending, earlier));
      return this.#settleOther(sent, `${reason} ${otherRequestText(sent, this.#request)}`);
    }
    if (earlier !== undefined) {
      const about = `${reason} ${earlierRequestText(earlier)}`;
      const decided = await this.#settleOther(earlier, about);
      if (decided !== "send") return decided;
      if (key !== earlier.key) this.#keys.sentUnder(key);
      this.#doubt();
    }
    return this.#lookUp(reason, outcome === "begun" ? "" : "OutcomeUnknown");
  }

  /** The journal has it as carried out. */
  async #onCarriedOut(sent: SentAlready, reason: string): Promise<A | "send"> {
    const { fromIds, idsWanted } = this.#sending;
    const { ids, isSamePayload, otherInDoubt: earlier } = sent;
    if (earlier !== undefined) this.#run.leavesInDoubt(otherInDoubt(this.#sending, earlier));
    if (!isSamePayload) this.#other = sent;
    this.#doubt();
    const made = [shownOfJournal(sent)];
    if (!isSamePayload) {
      return this.#ask(`${reason} ${otherRequestText(sent, this.#request)}`, made, false);
    }
    if (idsWanted.some((id) => ids[id] === undefined))
      return this.#lookUp(reason, "OutcomeUnknown");
    try {
      return await fromIds(ids, this.#request);
    } catch (error) {
      if (isCancellation(error)) throw error;
      return this.#ask(
        `${reason} What it made is not it: ${rootCause(error).message}`,
        made,
        false,
      );
    }
  }

  /**
   * What was sent before was another request, and nobody knows what became of it. The journal keeps of
   * a request what it moves and its key: it is looked for by that, and only its key tells for certain.
   */
  async #settleOther(other: JournalSend, about: string): Promise<A | "send"> {
    this.#other = other;
    this.#run.outcomeUnknown(this.#inDoubt);
    const { lookUp, step } = this.#sending;
    const asSent = lookUp?.asSent?.(this.#request, other);
    if (lookUp === undefined || asSent === undefined) return this.#ask(about, []);
    this.#run.waiting(step, `looking up what was sent before: ${about}`);
    const type = other.outcome === "begun" ? "" : "OutcomeUnknown";
    const found = await this.#look(lookUp, asSent, type);
    const { candidates, canResend, text } = foundOfOther(found, other, lookUp.shown);
    return this.#ask(`${about} ${text}`, candidates, canResend);
  }

  /** Something is sent beside an earlier send of another request, which may have been carried out. */
  #leaveInDoubt(other: JournalSend): void {
    const left = otherInDoubt(this.#sending, other);
    this.#run.leavesInDoubt(left);
    // What it made is not taken for what is sent now, and a refusal is none of a repeat.
    this.#keys.sentUnder(undefined);
    this.#unknownOutcomes = 0;
    if (left.key === undefined || left.key !== this.#keys.current) return;
    this.#keys.anew(other.number);
    this.#request = this.#fix(this.#request);
  }

  async #lookUp(reason: string, type: string): Promise<A | "send"> {
    const { lookUp, step, whenLost } = this.#sending;
    if (lookUp === undefined) {
      // The service answered, and its answer does not say what a repeat would not say either.
      const isAnswered = type === "UnexpectedAnswer";
      if (whenLost === "ask" || isAnswered || this.#unknownOutcomes >= MOST_REPEATS) {
        return this.#ask(reason, []);
      }
      this.#run.waiting(step, `no answer, repeating the same request: ${reason}`);
      await sleep(this.#unknownOutcomes * 1_000);
      return "send";
    }
    this.#run.waiting(step, `no answer, looking it up: ${reason}`);
    const found = await this.#look(lookUp, this.#request, type);
    if (found._tag === "Found") {
      const owner = await recordFound(this.#run, this.#sending, found.value);
      if (owner === undefined) return found.value;
      return this.#ask(`${reason} One is listed as it was sent, and ${owner} has taken it.`, []);
    }
    if (found._tag === "Unclear") return this.#ask(`${reason} ${found.reason}`, found.candidates);
    this.#absent += 1;
    this.#notCarriedOut();
    return this.#absent > MOST_ABSENT
      ? this.#ask(`${reason} It was sent ${this.#absent} times, and is not listed.`, [])
      : this.#sendAgain(reason);
  }

  /** Looks for what was sent, until it can be known whether it was carried out, or not. */
  #look(lookUp: LookUp<Request, A>, request: Request, type: string): Promise<Reconciled<A>> {
    return lookFor(this.#run, this.#sending, lookUp, {
      request,
      since: this.#since,
      keys: this.#keys.all,
      isWorkerLost: !REPORTED.has(type),
      seen: this.#seen,
      tell: (verdict) => this.#tell(`looked up: ${verdict}`),
    });
  }

  async #ask(
    reason: string,
    candidates: HumanTask["candidates"],
    canResend = true,
  ): Promise<A | "send"> {
    const other = this.#other;
    const decided = await askPerson(this.#run, this.#sending, {
      reason,
      candidates,
      canResend,
      other,
      isInDoubt: this.#isInDoubt,
      request: this.#request,
      since: this.#since,
    });
    if (decided !== "send") return decided;
    // Who decided was shown what was listed, and that it is not this.
    this.#seen.clear();
    this.#notCarriedOut();
    this.#other = undefined;
    if (other !== undefined) this.#leaveInDoubt(other);
    return "send";
  }

  /** A refused request was not carried out, so an amended one has a key of its own. */
  async #askToAmend(reason: string): Promise<"send"> {
    const amended = await askToAmend(this.#run, this.#sending, { reason, request: this.#request });
    if (amended === undefined) return "send";
    this.#keys.amended();
    this.#request = this.#fix(amended);
    return "send";
  }

  /** Checks what an amended input came to, before it is sent. */
  async #checkAmended(): Promise<void> {
    try {
      await checkRequest(this.#sending, this.#request);
    } catch (error) {
      if (!this.#isSentBefore) this.#run.clearIntent(this.#sending.step);
      throw error;
    }
  }

  /** What is in doubt while it is not known what became of a send. */
  get #inDoubt(): StepInDoubt {
    if (this.#other !== undefined) return otherInDoubt(this.#sending, this.#other);
    return inDoubtOf(this.#sending, this.#request, this.#keys.current);
  }

  #tell(what: string, reason?: string): void {
    const key = this.#keys.current;
    this.#run.audit.add({
      who: "run",
      step: this.#sending.step,
      what,
      ...(key !== undefined && { key }),
      ...(reason !== undefined && { detail: { reason } }),
    });
  }
}
