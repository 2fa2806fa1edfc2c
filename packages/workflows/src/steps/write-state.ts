import type { JournalSend, SendIntent } from "@durable-payments/activities";
import { type SentBefore, sendingOf } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";
import { inDoubtOf, otherInDoubt, type StepInDoubt } from "../run/in-doubt.ts";
import type { RunState } from "../run/run-state.ts";
import { isShielded } from "../run/scopes.ts";
import type { Write } from "./write.ts";
import { StepKeys } from "./step-keys.ts";

/** When the run started, in milliseconds since 1970. */
export const startTimeMs = (): number => workflowInfo().startTime.getTime();

/**
 * What a run knows of one write: the request as it is to be sent, its key, which of its sends may have
 * reached the service, and whether one of them is in doubt.
 */
export class WriteState<Request extends object> {
  readonly #run: RunState;
  readonly #write: Pick<Write<Request, unknown>, "intent" | "isKeyed" | "operation" | "step">;
  /** Whether an earlier run may have sent it. */
  readonly isSentBefore: boolean;
  /** Whether what was sent before this run has been undone since, or is replaced. */
  readonly isUndone: boolean;
  readonly #gone: ReadonlyArray<string> | undefined;
  readonly #keys: StepKeys;
  #request: Request;
  #since: number;
  /** Which send of the step is the next one, in all runs of the workflow id. */
  #number = 1;
  /** Up to which send of the step this run knows what may have reached the service. */
  #knownTo = 0;
  #isInDoubt = false;
  #other: JournalSend | undefined;

  constructor(
    run: RunState,
    write: Pick<Write<Request, unknown>, "intent" | "isKeyed" | "operation" | "request" | "step">,
    before: Exclude<SentBefore, { readonly outcome: "known" }> | undefined,
  ) {
    this.isSentBefore = before?.outcome === "unknown";
    // What nothing undoes is not undone, whatever the instruction of a retry says.
    const canBeUndone = sendingOf(write.operation)?.undoneBy !== undefined;
    this.#gone = canBeUndone ? before?.gone : undefined;
    this.isUndone =
      canBeUndone &&
      (this.#gone !== undefined || (before?.outcome === "nothing" && before.isUndone === true));
    this.#since = this.isSentBefore ? startTimeMs() : Date.now();
    this.#run = run;
    this.#write = write;
    this.#keys = new StepKeys(write, {
      amendments: before?.amendments ?? 0,
      isSentBefore: this.isSentBefore,
    });
    this.#request = this.#prepare(write.request);
  }

  /** The request as it is to be sent. */
  get request(): Request {
    return this.#request;
  }

  /** From when on it may have been sent: milliseconds since 1970. */
  get since(): number {
    return this.#since;
  }

  /** All keys under which it may have been sent. */
  get keys(): ReadonlyArray<string> {
    return this.#keys.all;
  }

  /** Whether something may have been made that this run does not know. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** What was sent before, as the journal has it, where that is another request than the one of now. */
  get other(): JournalSend | undefined {
    return this.#other;
  }

  set other(other: JournalSend | undefined) {
    this.#other = other;
  }

  /** What is in doubt while it is not known what became of a send. */
  get inDoubt(): StepInDoubt {
    if (this.#other !== undefined) return otherInDoubt(this.#write, this.#other);
    return inDoubtOf(this.#write, this.#request, this.#keys.current);
  }

  /** Whether the next send carries this key. */
  isKey(key: string | undefined): key is string {
    return key !== undefined && key === this.#keys.current;
  }

  /** Whether what a send made does not count any more, by the instruction of the retry: it was undone, or is replaced. */
  isKnownGone({ ids }: Pick<JournalSend, "ids">): boolean {
    return Object.values(ids).some((id) => this.#gone?.includes(id));
  }

  /** The same, where the instruction does not say which ids do not count, as those of earlier versions. */
  isGone(sent: Pick<JournalSend, "ids">): boolean {
    return this.#gone === undefined ? this.isUndone : this.isKnownGone(sent);
  }

  /** Take the next number: no two sends of a step have the same. */
  nextSend(isResend: boolean): SendIntent {
    const number = this.#number;
    this.#number += 1;
    const { operation, step } = this.#write;
    return {
      step,
      number,
      knownTo: this.#knownTo,
      isResend,
      ...(this.isUndone && { isUndone: true }),
      ...(isShielded() && { evenIfCancelled: true }),
      ...(this.#run.knowsEarlierRuns && { knowsEarlierRuns: true }),
      ...this.#run.approvals.of({ operation, input: this.#request }, step),
    };
  }

  /** The run knows what may have reached the service by the sends made so far. */
  knowSent(): void {
    this.#knowUpTo(this.#number - 1);
  }

  /** The journal has this send; the next one needs a higher number. */
  knowRecorded(number: number): void {
    this.#number = Math.max(this.#number, number + 1);
    this.#knowUpTo(number);
  }

  /** It may have been sent from then on, if not before. */
  mayBeSentSince(at: number): void {
    this.#since = Math.min(this.#since, at);
  }

  /** It was sent under this key, too; undefined: under none but the step's keys. */
  sentUnder(key: string | undefined): void {
    this.#keys.sentUnder(key);
  }

  /** Something may have been made that this run does not know. */
  markInDoubt(): void {
    this.#isInDoubt = true;
    this.recordInDoubt();
  }

  /** Show in the run what is in doubt now. */
  recordInDoubt(): void {
    this.#run.sends.outcomeUnknown(this.inDoubt);
  }

  /** Nothing was made that this run does not know: it may be sent again. */
  markNotCarriedOut(): void {
    this.#isInDoubt = false;
    this.#run.sends.notCarriedOut(this.#write.step);
  }

  /** A refused request was not carried out, so an amended one has another key. */
  amend(request: Request): void {
    this.#keys.amended();
    this.#request = this.#prepare(request);
  }

  /** It is made anew, or beside the send of this number, whose key it must not have. */
  makeAnew(number: number): void {
    this.#keys.anew(number);
    this.#request = this.#prepare(this.#request);
  }

  /** Write an entry of the audit trail. */
  log(what: string, reason?: string): void {
    const key = this.#keys.current;
    this.#run.audit.add({
      who: "run",
      step: this.#write.step,
      what,
      ...(key !== undefined && { key }),
      ...(reason !== undefined && { detail: { reason } }),
    });
  }

  /** Fixes key and payload before the first send: every further send is the very same. */
  #prepare(request: Request): Request {
    const { intent, step } = this.#write;
    const key = this.#keys.current;
    this.#run.sends.recordIntent(step, {
      intent: intent(request),
      ...(key !== undefined && { key }),
    });
    return key === undefined ? request : { ...request, unique_request_id: key };
  }

  #knowUpTo(number: number): void {
    this.#knownTo = Math.max(this.#knownTo, number);
    this.#run.sends.knowsSendsUpTo(this.#write.step, this.#knownTo);
  }
}
