import { ownershipKeys } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";
import { localJournal } from "./activities.ts";
import type { AuditTrail } from "./audit.ts";
import { runFailure } from "./failures.ts";
import {
  forgottenInDoubt,
  namedInDoubt,
  SendingSteps,
  type Sibling,
  type StepInDoubt,
} from "./in-doubt.ts";
import type { ProgressTracker } from "./progress-tracker.ts";
import type { ResetContext } from "./reset-context.ts";
import type { SearchAttributes } from "./search-attributes.ts";

/** Where a run shows what its steps have sent, and what it knows of earlier runs. */
interface RunRecords {
  readonly audit: AuditTrail;
  readonly progress: ProgressTracker;
  readonly resetContext: ResetContext;
  readonly searchAttributes: SearchAttributes;
}

/**
 * What the steps of a run have sent and own, and what of it is in doubt: as other runs, tools and the run's
 * end have to know it.
 */
export class RunSends {
  readonly #audit: AuditTrail;
  readonly #progress: ProgressTracker;
  readonly #resetContext: ResetContext;
  readonly #searchAttributes: SearchAttributes;
  readonly #sending = new SendingSteps();
  readonly #underWay = new Set<string>();
  /** Steps that wait until they can send, with nothing in doubt: the run ends without them. */
  readonly #unsent = new Set<string>();
  /** Whether the body of the run has ended, and what is under way is waited for. */
  isEnding = false;

  constructor({ audit, progress, resetContext, searchAttributes }: RunRecords) {
    this.#audit = audit;
    this.#progress = progress;
    this.#resetContext = resetContext;
    this.#searchAttributes = searchAttributes;
  }

  /**
   * Send for a step, and know until that has ended, however it does: the run ends only then. Nothing else
   * waits for the promise of the send: the stack of a failure would end here.
   */
  async begun<A>(step: string, work: () => Promise<A>): Promise<A> {
    // A second one of its name sends nothing.
    if (this.#underWay.has(step)) return await work();
    this.#underWay.add(step);
    try {
      return await work();
    } finally {
      this.#underWay.delete(step);
      this.#unsent.delete(step);
    }
  }

  /** Nothing of a step was carried out, and it waits until it can send again. */
  waitsUnsent(step: string): void {
    this.#unsent.add(step);
  }

  /**
   * A step sends now.
   *
   * @returns whether it may: what could not be sent before the body of the run ended is not sent any more.
   */
  maySend(step: string): boolean {
    return !this.#unsent.delete(step) || !this.isEnding;
  }

  /** Whether a send has not ended yet, and the run is to wait for that. */
  get areUnderWay(): boolean {
    return this.#underWay.size > this.#unsent.size;
  }

  /**
   * Makes ids findable: in the progress, and by search attribute.
   *
   * @param step the step that made what they name, where one did.
   */
  known(ids: Readonly<Record<string, string>>, step?: string): void {
    this.#progress.know(ids);
    this.#searchAttributes.add(Object.values(ids));
    if (step !== undefined) this.#recordOwnership(step, ownershipKeys(ids));
  }

  /**
   * Makes sure that a step that sends is the only one of its name: keys are derived from names, and
   * two payments of one key would be taken for each other.
   *
   * @throws DuplicateStep
   */
  sendsOnce(step: string): void {
    if (this.#sending.has(step)) {
      throw runFailure(
        "DuplicateStep",
        `This run has a step ${step} that sends already: give the second one another name.`,
      );
    }
    this.#sending.own(step, []);
  }

  /**
   * Fixes what a step is about to send, before it is sent: the key by which the request will be
   * known, and a mark of what it makes, by which other runs know that it may be this one's.
   */
  recordIntent(
    step: string,
    { intent, key }: { readonly intent: string; readonly key?: string },
  ): void {
    if (key !== undefined) this.owns(step, key);
    this.#searchAttributes.recordIntent(step, intent);
    this.#audit.add({ who: "run", step, what: "intended", ...(key !== undefined && { key }) });
  }

  /** Marks are made with a secret, in the place of plain ones. */
  keyMarks(marks: Readonly<Record<string, ReadonlyArray<string>>>): void {
    this.#searchAttributes.keyed(marks);
  }

  /** A step has sent, or is about to, under this key: the run can be found by it. */
  owns(step: string, key: string): void {
    this.#searchAttributes.add([key]);
    this.#recordOwnership(step, ownershipKeys({}, key));
  }

  /** What a step has made, or made known, is its own and this run's: no other may take it. */
  #recordOwnership(step: string, keys: ReadonlyArray<string>): void {
    this.#searchAttributes.add(keys);
    this.#sending.own(step, keys);
  }

  /** What a step had made before, and does not count any more: it must not be taken for what it makes now. */
  isReplaced(step: string, made: ReadonlyArray<Readonly<Record<string, string>>>): void {
    if (made.length === 0) return;
    this.#sending.own(
      `${step}, before it was replaced`,
      made.flatMap((ids) => ownershipKeys(ids)),
    );
  }

  /** It is not known what became of a step's send: until {@link notCarriedOut} or {@link clearIntent}. */
  outcomeUnknown(inDoubt: StepInDoubt): void {
    this.#sending.doubt(inDoubt);
  }

  /** Nothing that a step has sent so far was carried out; it may be sent again. */
  notCarriedOut(step: string): void {
    this.#sending.know(step);
  }

  /** It is known what became of a step's send, and it sends no more. */
  clearIntent(step: string): void {
    this.#sending.know(step);
    this.#searchAttributes.clearIntent(step);
  }

  /** The run knows of all sends of a step, in all runs of the workflow id. */
  knowsAllSends(step: string): void {
    this.knowsSendsUpTo(step, Number.MAX_SAFE_INTEGER);
  }

  /**
   * The run knows of the sends of a step up to this one, by its number in all runs of the workflow id.
   * What was not sent, and is not in the journal, does not count: that may have another of its number.
   */
  knowsSendsUpTo(step: string, number: number): void {
    this.#sending.knowUpTo(step, number);
  }

  /**
   * A person has something sent beside an earlier send of another request, of which nobody knows what
   * became: that is so whatever comes of this one, and is said where the run ends, however it does.
   */
  leavesInDoubt(left: StepInDoubt): void {
    const { amount, currency = "", key, step } = left;
    if (this.#sending.hasLeft(left)) return;
    this.#sending.leave(left);
    this.#searchAttributes.doubts(step);
    this.#audit.add({
      who: "run",
      step,
      what: "left in doubt",
      ...(key !== undefined && { key }),
      ...(amount !== undefined && { detail: { amount, currency } }),
    });
    this.#progress.note(`${namedInDoubt(left)} may have been carried out as well: nobody knows`);
  }

  /** What a step has left in doubt, and has sent something else beside. */
  leftInDoubt(step: string): ReadonlyArray<StepInDoubt> {
    return this.#sending.leftBy(step);
  }

  /** Whether a step has sent and it is not known what became of it. */
  isInDoubt(step: string): boolean {
    return this.#sending.isInDoubt(step);
  }

  /** Whether a step has an unknown outcome now, beside what people have left in doubt. */
  get isAnyUnknown(): boolean {
    return this.#sending.isAnyUnknown;
  }

  /** The steps whose sends have an unknown outcome now. */
  get inDoubt(): ReadonlyArray<StepInDoubt> {
    return this.#sending.inDoubt;
  }

  /**
   * What the other steps of this run own, and may have made: reconciling this step must not take it.
   */
  siblings(step: string): ReadonlyArray<Sibling> {
    return this.#sending.siblings(step, this.#searchAttributes.intents);
  }

  /**
   * Ask the journal for sends that this run, or one that was started again in its place, knows nothing of:
   * where the server's database was put back to an earlier state. Its steps would learn of them from the
   * journal; a run that ends before them has to ask.
   */
  async markForgotten(): Promise<void> {
    const startedAt = workflowInfo().startTime.getTime();
    const forgotten = await localJournal.findForgottenSends(this.#sending.numbers);
    for (const send of forgotten) {
      // Who had it reset has read the outcomes of the runs before it.
      const sent = this.#resetContext.sent(send.step);
      const before = send.begunAt < startedAt ? sent?.outcome : undefined;
      if (before === "known" || before === "nothing") continue;
      // What was undone, or is replaced, is known, and does not count any more.
      if (Object.values(send.ids).some((id) => sent?.gone?.includes(id))) continue;
      this.#sending.doubt(forgottenInDoubt(send));
      this.#searchAttributes.doubts(send.step);
      this.known(send.ids);
      this.#recordOwnership(send.step, ownershipKeys(send.made ?? {}));
      if (send.key !== undefined) this.owns(send.step, send.key);
    }
  }
}
