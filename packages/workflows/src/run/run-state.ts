import { isRecord } from "@durable-payments/api-core/values";
import {
  accountNumbersOf,
  amendedPayment,
  consequencesOf,
  type EndingDecision,
  type HumanTask,
  isInputShaped,
  maskFreeTexts,
  NEEDS_ATTENTION,
  patchedFields,
  paymentMemoOf,
  type Progress,
  type Replacement,
  type Resolution,
  type SentBefore,
  STEP,
  UNFINISHED,
} from "@durable-payments/protocol";
import {
  AsyncLocalStorage,
  CancellationScope,
  condition,
  ContinueAsNew,
  currentUpdateInfo,
  isCancellation,
  patched,
  setCurrentDetails,
  workflowInfo,
} from "@temporalio/workflow";
import { accountPin } from "./account-pin.ts";
import { learnAccount } from "./activities.ts";
import { Approvals } from "./approvals.ts";
import { AuditTrail } from "./audit.ts";
import { type Compensation, Compensations } from "./compensations.ts";
import { type CompletionWait, CompletionWaits } from "./completion-waits.ts";
import {
  asCancellation,
  compensationIncomplete,
  failureOfActivity,
  isOfType,
  rootCause,
  runFailure,
} from "./failures.ts";
import { endedInDoubt } from "./in-doubt.ts";
import { ProgressTracker } from "./progress-tracker.ts";
import { type AmendmentCheck, HumanTasks } from "./human-tasks.ts";
import { AMENDMENT_REFUSED, ResetContext } from "./reset-context.ts";
import { RunSends } from "./run-sends.ts";
import { ShownRun } from "./shown-run.ts";
import { SearchAttributes } from "./search-attributes.ts";
import { wheneverIdle } from "./scopes.ts";

/** Before, a run ended while sends were under way for which its workflow did not wait, or in doubt. */
const ENDS_AFTER_SENDS = "a run ends once its sends have";

/** The run whose body, or what undoes it, is what goes on now: not a handler of a signal, of which a failure ends the run by itself. */
const bodyOf = new AsyncLocalStorage<RunState>();

/** How a step is kept. */
interface StepOptions {
  /**
   * Whether the run can be found by it while it is under way (default), or only once it fails: a
   * step that is over at once is not worth an event.
   */
  readonly isSearchable?: boolean;
  /** The stage by which it is found, default its name as it is kept, with its number. */
  readonly stage?: string;
}

/**
 * What the steps of this package keep of a run and ask it: what it has done, where it stands, whom it
 * waits for. Authors of workflows see the `Run` over it.
 */
export class RunState {
  readonly onRefusal: "fail" | "ask";
  /** Who or what did what. */
  readonly audit = new AuditTrail();
  readonly #shield = new CancellationScope({ cancellable: false });
  readonly #progress = new ProgressTracker();
  readonly #humanTasks = new HumanTasks();
  readonly #searchAttributes = new SearchAttributes();
  readonly #resetContext = new ResetContext();
  readonly #completionWaits = new CompletionWaits(this.#searchAttributes);
  readonly #compensations = new Compensations();
  /** What second persons have approved. */
  readonly approvals = new Approvals();
  /** What the steps have sent, and what of it is in doubt. */
  readonly sends = new RunSends({
    audit: this.audit,
    progress: this.#progress,
    resetContext: this.#resetContext,
    searchAttributes: this.#searchAttributes,
  });
  readonly #shown: ShownRun;
  /** Numbers of the payee, which people may have written into its texts. */
  readonly #accountNumbers: ReadonlyArray<string>;

  constructor({
    input,
    onRefusal,
  }: {
    readonly input: unknown;
    readonly onRefusal: "fail" | "ask";
  }) {
    this.onRefusal = onRefusal;
    this.#accountNumbers = accountNumbersOf(isRecord(input) ? input["beneficiary"] : undefined);
    this.#shown = new ShownRun(input, this.#resetContext);
    const pin = accountPin();
    pin.onKnown((account) => this.#searchAttributes.account(account));
    wheneverIdle(this.#shield, () => {
      // The account is known in the same workflow task, and before anything is sent: one event for all.
      if (!pin.isLearning) this.#write();
    });
  }

  /** The state of the run as people and programs read it. */
  get progress(): Progress {
    const attention = this.#humanTasks.asked;
    const progress = { ...this.#progress.progress, ...(attention && { attention }) };
    return maskFreeTexts(progress, this.#accountNumbers);
  }

  /**
   * Run a step and keep its times and outcome. `work` gets the name under which it is kept: a name
   * that was used before in this run is numbered.
   */
  async step<A>(
    called: string,
    note: string,
    work: (name: string) => Promise<A>,
    { isSearchable = true, stage }: StepOptions = {},
  ): Promise<A> {
    this.#completionWaits.endPolling();
    if (this.#resetContext.mustRead()) await this.#readInstruction();
    this.#resetContext.expectAccepted();
    const name = this.#progress.begin(called, note);
    this.#enter(name, { isSearchable, stage: stage ?? name });
    try {
      const result = await work(name);
      this.#progress.end(name, { status: "done" });
      return result;
    } catch (thrown) {
      const error = asCancellation(thrown);
      this.#progress.end(name, { status: "failed", note: rootCause(error).message });
      this.#enter(name, { stage: stage ?? name });
      this.audit.add({
        who: "run",
        step: name,
        what: isCancellation(error) ? "cancelled" : "failed",
        detail: { reason: rootCause(error).message },
      });
      throw error;
    }
  }

  /** Go on with a step, after another one within it. */
  resume(step: string): void {
    this.#enter(step);
  }

  /** The input that the run was started with, or as it was amended since, when the run was retried. */
  async input<Input>(startedWith: Input): Promise<Input> {
    if (this.#resetContext.mustRead()) await this.#readInstruction();
    this.#resetContext.expectAccepted();
    const input = this.#resetContext.input(startedWith);
    if (input !== startedWith) this.approvals.inputWasAmended(startedWith, input);
    return input;
  }

  /** Whether the input was amended since the run was started, so that requests are checked again. */
  get isAmended(): boolean {
    return this.#resetContext.isAmended;
  }

  /** Who has amended the input, or a request of this run. */
  get amendedBy(): ReadonlyArray<string> {
    return [...this.#resetContext.amendedBy, ...this.approvals.amendedBy];
  }

  /** Decisions of people that ended runs of this id before, each overruled by somebody. */
  get decisions(): ReadonlyArray<EndingDecision> {
    return this.#resetContext.decisions;
  }

  /**
   * What became of what a step sent before this run was reset; undefined where it cannot have sent
   * anything.
   */
  async sentBefore(step: string): Promise<SentBefore | undefined> {
    if (this.#resetContext.mustRead()) await this.#readInstruction();
    this.#resetContext.expectAccepted();
    return this.#resetContext.sent(step);
  }

  /** Whether it has asked for the runs before it: see {@link ResetContext}. */
  get knowsEarlierRuns(): boolean {
    return this.#resetContext.knowsEarlierRuns;
  }

  /** Whether runs of its workflow id may have come before that do something else: see {@link ResetContext}. */
  get hasEarlierRuns(): boolean {
    return this.#resetContext.hasEarlierRuns;
  }

  /** Expect that the workflow has read its input since it was amended: see {@link ResetContext.expectInputRead}. */
  expectInputRead(step: string): void {
    this.#resetContext.expectInputRead(step);
  }

  /** Whether the run goes by a change of the code: see {@link ResetContext.goesBy}. */
  goesBy(change: string): boolean {
    return this.#resetContext.goesBy(change);
  }

  /** Who had the run retried; somebody without a name where it does not say. */
  get retriedBy(): string {
    return this.#resetContext.by ?? "nobody known";
  }

  /** What is replaced by what a step makes now, as the person said who had the run retried. */
  replaced(step: string): ReadonlyArray<Replacement> {
    return this.#resetContext.replaced(step);
  }

  /** Says what a step is waiting for, and until when at the longest: milliseconds since 1970. */
  waiting(step: string, note: string, until?: number): void {
    this.#progress.update(step, {
      status: "waiting",
      note,
      ...(until !== undefined && { waitsUntil: new Date(until).toISOString() }),
    });
  }

  /** Says how a step that is about to end has gone. */
  ended(step: string, note: string): void {
    this.#progress.update(step, { status: "running", note });
  }

  /**
   * Wait until a signal announces that something has ended and a reading confirms it, or the run sees
   * it by its own fallback polling, which depends on nobody.
   *
   * @param awaited as the tracker is shown it: `payout:<payout_id>` or `cardholder:<card_holder_id>`.
   */
  signalOrPoll<A>(awaited: string, wait: CompletionWait<A>): Promise<A> {
    return this.#completionWaits.signalOrPoll(awaited, wait);
  }

  /** What the run waited for is open still: it can be found by that, even where it ends so. */
  leavesOpen(): void {
    this.#searchAttributes.stage(UNFINISHED);
  }

  /** Does what a cancellation of the run must not interrupt. */
  shielded<A>(work: () => Promise<A>): Promise<A> {
    return this.#shield.run(work);
  }

  /** Take what a signal of the tracker carries. */
  onSignal(content: unknown): void {
    this.#completionWaits.onSignal(content);
  }

  /**
   * Makes ids findable: in the progress, and by search attribute.
   *
   * @param step the step that made what they name, where one did.
   */
  known(ids: Readonly<Record<string, string>>, step?: string): void {
    this.sends.known(ids, step);
  }

  /** A person has amended the request of a step: lists show what it sends now. */
  amended(operation: string, request: unknown): void {
    this.#searchAttributes.amended((known) => amendedPayment(known, operation, request));
  }

  /** Keeps something that whoever reads the result should know. */
  note(text: string): void {
    this.#progress.note(text);
  }

  /** Shows something in the progress to whom the run waits for. */
  show(what: Readonly<Record<string, unknown>>): void {
    this.#progress.show(what);
  }

  /**
   * Waits, however long it takes, until a person has decided.
   *
   * @throws Abandoned when the decision is to end the run.
   */
  async ask(
    step: string,
    task: Omit<HumanTask, "consequences" | "question" | "step" | "since">,
    checkAmendment: AmendmentCheck = async () => undefined,
  ): Promise<Resolution> {
    const consequences = consequencesOf(task, this.#compensations.registered);
    const decided = this.#humanTasks.ask({ ...task, consequences, step }, checkAmendment);
    this.#progress.update(step, { status: "needsAttention", note: task.reason });
    this.#enter(NEEDS_ATTENTION);
    this.audit.add({ who: "run", step, what: "asked", detail: { reason: task.reason } });
    const resolution = await decided().finally(() =>
      // Another step may ask still.
      this.#enter(this.#humanTasks.asked === undefined ? step : NEEDS_ATTENTION),
    );
    const { by, question: _, ...decision } = resolution;
    this.#progress.update(step, { status: "running", note: `decided by ${by}` });
    this.audit.add({
      who: by,
      step,
      what: Object.keys(decision).join(),
      // An amendment may hold account numbers: the fields are named, the values are not.
      detail: "amend" in decision ? { fields: patchedFields(decision.amend).join(", ") } : decision,
    });
    if ("amend" in resolution && isInputShaped(task.operation, resolution.amend)) {
      this.#shown.amend(by, resolution.amend);
    }
    if ("abandon" in resolution) {
      const why = resolution.abandon;
      throw runFailure("Abandoned", `${step} was abandoned: ${why}`, { by, step, why });
    }
    return resolution;
  }

  /** Why a decision cannot be taken now, or undefined when it can. */
  whyNot(resolution: unknown): string | undefined {
    return this.#humanTasks.whyNot(resolution);
  }

  /** Takes the decision of a person; the update's validator has checked what it can without the contract. */
  resolve(resolution: Resolution): void | Promise<void> {
    return this.#humanTasks.resolve(resolution);
  }

  /** Registers how a step is undone when the run fails or is cancelled. Call it before the step. */
  onFailure(compensation: Compensation): void {
    this.#compensations.register(compensation);
  }

  /**
   * Send, and have the run end after that. Outside of its body, as in the handler of a signal, a failure that nobody
   * catches ends the run at once: it comes once the other sends have ended, and says what is in doubt then.
   */
  send<A>(step: string, work: () => Promise<A>): Promise<A> {
    const sent = this.sends.begun(step, work);
    const failsAlone = bodyOf.getStore() === this || currentUpdateInfo() !== undefined;
    return failsAlone ? sent : sent.catch((error: unknown) => this.#failAfterSends(error));
  }

  async #failAfterSends(error: unknown): Promise<never> {
    const { sends } = this;
    if ((sends.areUnderWay || sends.isAnyUnknown) && patched(ENDS_AFTER_SENDS)) {
      await this.#untilSent();
      const { inDoubt, isAnyUnknown } = sends;
      if (isAnyUnknown)
        throw endedInDoubt(error, { inDoubt, leftOver: [], ids: this.progress.ids });
    }
    throw error;
  }

  /** Wait, whoever cancels the run, until every send has ended: some have to be asked about. */
  #untilSent(): Promise<void> {
    return this.shielded(() => condition(() => !this.sends.areUnderWay));
  }

  /** The same, once the body has ended: what could not be sent until then is not sent any more. */
  async #endSends(): Promise<void> {
    this.sends.isEnding = true;
    await this.#untilSent();
    this.sends.isEnding = false;
  }

  /** Run the body of a workflow: keep its ending, and undo what was registered when it fails. */
  async execute<A>(body: () => Promise<A>): Promise<A> {
    try {
      // The SDK checks conditions before the first promise goes on: by then nothing is to be written.
      await Promise.resolve();
      const { account, name } = accountPin();
      if (name !== undefined && account === undefined) await this.#findAccount();
      const result = await bodyOf.run(this, body);
      const { sends } = this;
      if ((sends.areUnderWay || sends.isAnyUnknown) && patched(ENDS_AFTER_SENDS)) {
        await this.#endSends();
        if (sends.isAnyUnknown) throw new Error("its workflow has returned");
      }
      this.#end("done");
      return result;
    } catch (error) {
      return await bodyOf.run(this, () => this.shielded(() => this.#undoAndFail(error)));
    }
  }

  /**
   * Ask for an account that nobody may have before its queues are used: where no worker has it, nobody polls them. It is
   * a step, so that a run that fails there can be retried.
   */
  #findAccount(): Promise<void> {
    const find = async (): Promise<void> => {
      // The runs before may have learned it, as their instruction says.
      if (accountPin().account === undefined) await learnAccount();
    };
    return this.step(STEP.findAccount, "asking a worker for the account", find, {
      isSearchable: false,
    });
  }

  async #undoAndFail(error: unknown): Promise<never> {
    if (this.sends.areUnderWay && patched(ENDS_AFTER_SENDS)) await this.#endSends();
    const isContinued = error instanceof ContinueAsNew;
    if (isContinued) {
      for (const what of this.#compensations.registered) {
        this.note(
          `continued as new, where nothing undoes this any more unless it registers it: ${what}`,
        );
      }
    }
    // Nothing has failed, or the run was not retried after all: what it has made stands.
    const leftOver =
      isContinued || isOfType(error, AMENDMENT_REFUSED)
        ? []
        : await this.#compensations.undoAll(({ how, what }) =>
            // It stays to be found by the step that failed.
            this.step(`undo: ${what}`, what, how, { isSearchable: false }),
          );
    await this.sends.markForgotten();
    const { inDoubt } = this.sends;
    this.#searchAttributes.clearIntentsBut(inDoubt.map(({ step }) => step));
    const ended = isContinued ? "done" : isCancellation(error) ? "cancelled" : "failed";
    this.#end(inDoubt.length === 0 ? ended : "failed");
    if (inDoubt.length > 0) {
      throw endedInDoubt(error, { inDoubt, leftOver, ids: this.progress.ids });
    }
    if (leftOver.length === 0) throw failureOfActivity(error) ?? error;
    throw compensationIncomplete(error, { leftOver, ids: this.progress.ids });
  }

  async #readInstruction(): Promise<void> {
    const instruction = await this.#resetContext.read();
    if (this.hasEarlierRuns) this.#searchAttributes.stageIsOfOther();
    if (instruction === undefined) return;
    const { by, decisions = [], fields, from, reason } = instruction;
    this.audit.addDecisions(from, decisions);
    // An amendment may hold account numbers: the fields are named, the values are not.
    const detail = { reason, ...(fields.length > 0 && { fields: fields.join(", ") }) };
    this.audit.add({ who: by, step: from, what: "retried", detail });
    if (!this.#resetContext.isAmended) return;
    this.approvals.isOutdated = this.approvals.isBound && this.#resetContext.approvesAnew;
    const payment = paymentMemoOf(workflowInfo().workflowType, instruction.input);
    if (payment !== undefined) {
      this.#searchAttributes.amended(
        () => payment,
        (change) => this.goesBy(change),
      );
    }
  }

  #enter(name: string, { isSearchable = true, stage = name }: StepOptions = {}): void {
    if (isSearchable) this.#searchAttributes.stage(stage);
    this.#progress.enter(name);
  }

  /** The search attribute keeps the last step's name: how a run ended, Temporal shows. */
  #end(stage: "done" | "failed" | "cancelled"): void {
    this.#enter(stage, { isSearchable: false });
    this.#write();
  }

  #write(): void {
    this.#searchAttributes.write();
    if (this.#progress.takeChange()) setCurrentDetails(this.#shown.details(this.progress));
  }
}
