/**
 * Everything that a person or a program does with payments, as methods of one object. Each method asks for the servers
 * that it needs and no others, so it works while the others are away; none waits for a server that hangs.
 */
import { cleanTexts } from "@durable-payments/client/values";
import type { Duration, OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import type { EarlyAnswer } from "@durable-payments/protocol/calls";
import { type Workflow, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { checkBatchFile } from "../actions/batch/check-rows.ts";
import { type FilePlan, payFile, planFile } from "../actions/batch/pay-file.ts";
import { answer, answerAll } from "../actions/decide/answer.ts";
import { approve, reject } from "../actions/decide/approve.ts";
import { checkName } from "../actions/decide/record.ts";
import { checkWait, firstAnswer } from "../actions/first-answer.ts";
import { type LimitsView, setLimits } from "../actions/limits.ts";
import { planRepair, type RepairOptions, type RepairPlan } from "../actions/retry/repair.ts";
import { planRetryOf, retryPayment } from "../actions/retry/retry.ts";
import { startRepair } from "../actions/retry/start-repair.ts";
import { checkStart, startPayment, startRun, type SubmittedRun } from "../actions/start.ts";
import { checkWorkflow, typeOf } from "../actions/start-request.ts";
import { cancel, cancelBatch, pause, resume } from "../actions/stopping.ts";
import { type DecidedMeaning, decideWord } from "../actions/words.ts";
import { accountNamed, type Connected, type Deciding } from "../facts/connection/connections.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { Connections } from "../facts/connection/open-connections.ts";
import type { FileType } from "../facts/read-file.ts";
import { ConnectionFailed, connectionFailed, invalidInput, refused } from "../errors.ts";
import {
  idOfKey,
  checkId,
  planOnboarding,
  type PlannedRun,
  planPayout,
  warningsOf,
} from "../rules/input.ts";
import { paymentOf, summaryOf } from "../rules/payment.ts";
import type {
  CheckFileOptions,
  LimitsGiven,
  PauseGiven,
  RetriedRun,
  RetryGiven,
  StartedFile,
  StartedRepair,
  StartedRun,
  StartFileOptions,
  StartGiven,
  StartWorkflow,
  WordGiven,
} from "./options.ts";
import { filterOf, filterText, type ListFilter } from "../views/list.ts";
import { checkedFilter, PaymentsReading } from "./reading.ts";
import { type Action, checkCall, checkOptions } from "./checks.ts";
import type { Installation } from "./settings.ts";
import { type Upkeep, upkeepOf } from "./upkeep.ts";

/**
 * Payments of an installation. One object serves all calls of a program, for years: `openPayments` opens it. Times are
 * milliseconds since 1970, and amounts decimal strings in units of their currency.
 *
 * Every method rejects with `ConnectionFailed` within five seconds if a server that it needs is away or hangs.
 */
export class Payments extends PaymentsReading {
  /** Rare work: recover, replay, prune, back up, migrate, test the webhook. */
  readonly upkeep: Upkeep;

  readonly #connections: Connections;

  constructor(installation: Installation, connections = new Connections(installation.connections)) {
    super(installation, connections);
    this.#connections = connections;
    this.upkeep = upkeepOf(installation, connections, (name) => this.account(name));
  }

  /** Binds a function that needs only the ledger, and an id. */
  #onLedger<Options, A>(
    action: Action,
    act: (opened: Pick<Connected, "ledger">, id: string, options: Options) => Promise<A>,
  ) {
    return async (id: string, options: Options): Promise<A> => {
      const kept = checkCall(action, id, options);
      return this.#connections.ledger((opened) => act(opened, id, kept));
    };
  }

  /** Binds a function that needs the ledger, Temporal if it answers, and an id. */
  #deciding<Options, A>(
    action: Action,
    act: (deciding: Deciding, id: string, options: Options) => Promise<A>,
  ) {
    return async (id: string, options: Options): Promise<A> => {
      const kept = checkCall(action, id, options);
      return this.#connections.deciding((deciding) => act(deciding, id, kept));
    };
  }

  /**
   * Starts a payout, or finds the run of that id or key. It can be called again after any failure: the same id never makes
   * a second payout.
   *
   * @param input payee and payout, with the service's own field names; amounts are decimal strings.
   * @returns the run; `isNew` says whether this call has started it.
   * @throws InvalidInput that names each fault; NotAllowed if it is likely a duplicate, or the id has another input;
   *   ConnectionFailed with `carriedOut: "unknown"` if it may have been started: call it again.
   * @example
   * ```ts
   * const run = await payments.pay(input, { key: "invoice-17", by: "ada" });
   * ```
   */
  async pay(input: PayoutInput, options: StartGiven): Promise<StartedRun> {
    const kept = checkOptions("pay", options);
    return this.#start(planPayout(input, this.#assumptionsFor(input)), kept);
  }

  /**
   * Starts the onboarding of a cardholder, as `pay` starts a payout: verification, funds, card.
   *
   * @param input cardholder and card, with the service's own field names; the limit of the card is in USD.
   * @returns the run; `isNew` says whether this call has started it.
   * @throws as `pay`.
   * @example
   * ```ts
   * await payments.onboard(input, { key: "employee-4", by: "ada" });
   * ```
   */
  async onboard(input: OnboardCardholderInput, options: StartGiven): Promise<StartedRun> {
    const kept = checkOptions("onboard", options);
    return this.#start(planOnboarding(input, this.#assumptionsFor(input)), kept);
  }

  #assumptionsFor(input: unknown) {
    const { account } = (input ?? {}) as { readonly account?: string };
    const { settings } = this.#connections;
    // The queue of a named account has its name, so nothing else names it in an input.
    return settings.assumptionsOf(
      account === undefined ? undefined : accountNamed(settings, account),
    );
  }

  async #start(
    planned: PlannedRun,
    { by, how, id, isDryRun = false, key, notDuplicate }: StartGiven,
  ): Promise<StartedRun> {
    if (id !== undefined && key !== undefined)
      throw invalidInput("Give either id or key: the id is made of the key. Nothing was started.");
    const { key: own } = planned.input;
    if (key !== undefined && own !== undefined && own !== cleanTexts(key))
      throw invalidInput(
        `The input has the key ${JSON.stringify(own)}, and the options ${JSON.stringify(key)}: give it once. Nothing was started.`,
      );
    // The payment of a key has its id: a run of another id would be a second payment in the events.
    const named = key ?? (id === undefined ? own : undefined);
    const workflowId =
      named === undefined ? checkId(id ?? planned.contentId) : idOfKey(planned.workflowType, named);
    const options = { startedBy: by, how, notDuplicate };
    const start = isDryRun ? checkStart : startRun;
    const run = await this.#connections.both((connected) =>
      start(connected, workflowId, planned, options),
    );
    return {
      isNew: false,
      runId: null,
      ...run,
      workflowId,
      summary: summaryOf(paymentOf(planned.input), planned.workflowType),
      isDryRun,
      isKnown: run !== undefined,
      warnings: [
        ...(run?.hasOtherOptions
          ? ["The run was started with other options, such as its approval: those still hold."]
          : []),
        ...warningsOf(planned, Date.now()),
      ],
    };
  }

  /**
   * Starts a workflow of your own once, or finds the run of its key. For its first answer, call `firstAnswer`.
   *
   * @param workflowType the workflow, or its name with its type: `start<typeof payOrder>("payOrder", …)`.
   * @returns the run, whose id is `TYPE/KEY`; `isNew` says whether this call has started it.
   * @throws InvalidInput; NotAllowed if it is likely a duplicate, or the key has another input; ConnectionFailed.
   * @example
   * ```ts
   * await payments.start<typeof payOrder>("payOrder", { key: "order-17", by: "ada", args: [order] });
   * ```
   */
  async start<W extends Workflow>(
    workflowType: string | W,
    given: StartWorkflow<W>,
  ): Promise<SubmittedRun> {
    const { account, by, how, ...options } = checkOptions("start", given);
    checkWorkflow(workflowType, options.args);
    const workflowId = idOfKey(typeOf(workflowType), options.key);
    checkName(by);
    return this.#connections.both(async (connected) => {
      const { client, ledger, taskQueue } = connected;
      const starting = { taskQueue, ...options, startedBy: by, how, ledger };
      try {
        const hash = accountNamed(connected, account);
        const run = await startPayment<W>(client, workflowType, { ...starting, account: hash });
        return { workflowId, runId: run.firstExecutionRunId, isNew: true };
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        const known = await findRun(client, workflowId);
        return { workflowId, runId: known?.runId ?? null, isNew: false };
      }
    });
  }

  /**
   * Waits for the first answer about the payment of a run, new or known.
   *
   * @param within longest time to wait; then it answers `started`.
   * @returns `created` with the service's id, `needs approval`, `refused`, or `started`: its outcome is not known yet, so
   *   never start the payment under another id. An ended run answers by the ledger, with `created` or `started`.
   * @throws NotFound; ConnectionFailed.
   * @example
   * ```ts
   * const { workflowId } = await payments.pay(input, { key: "invoice-17", by: "ada" });
   * const first = await payments.firstAnswer(workflowId);
   * if (first.is === "created") console.log(first.id);
   * ```
   */
  async firstAnswer(id: string, within: Duration = "30 seconds"): Promise<EarlyAnswer> {
    const workflowId = checkId(id);
    checkWait(within);
    return this.#connections.both((connected) => firstAnswer(connected, workflowId, within));
  }

  /**
   * Checks a file of payouts or cardholders, and compares it with earlier ones. Nothing is changed.
   *
   * @param file path of a `.csv`, `.jsonl` or `.ndjson` file.
   * @param options `type` of its rows; default: `payout`.
   * @returns the id of the batch, the sums by currency, and warnings about likely duplicates.
   * @throws InvalidInput that names the faults of all rows.
   * @example
   * ```ts
   * const { batch, totals, warnings } = await payments.checkFile("october.csv", { by: "ada" });
   * ```
   */
  async checkFile(file: string, given: CheckFileOptions): Promise<FilePlan> {
    checkOptions("checkFile", given);
    const { type = "payout", ...options } = given;
    const checked = await checkBatchFile(type, file, this.#connections.settings.assumptionsOf());
    return this.#connections.both((connected) => planFile(connected, checked, options));
  }

  /**
   * Pays each row of a file once, also if other files have the same row. After any failure, call it again to continue.
   *
   * @param options `batch` of `checkFile`: a file with other rows is refused.
   * @returns the plan that was followed, and the state of the batch: `needsApproval`, or `approved` if its rows are started.
   * @throws as `checkFile`; NotAllowed if rows are likely duplicates and `notDuplicate` has no reason.
   * @example
   * ```ts
   * const { batch, state } = await payments.payFile("october.csv", { by: "ada" });
   * ```
   */
  payFile(file: string, options: StartFileOptions): Promise<StartedFile> {
    return this.#startFile("payout", file, options);
  }

  /**
   * Onboards each cardholder of a file once, as `payFile` pays its rows: the sum of the card limits may need approval.
   *
   * @param options `batch` of `checkFile`: a file with other rows is refused.
   * @returns the plan that was followed, and the state of the batch.
   * @throws as `payFile`; a person who was onboarded before is a likely duplicate.
   * @example
   * ```ts
   * const { batch, state } = await payments.onboardFile("people.csv", { by: "ada" });
   * ```
   */
  onboardFile(file: string, options: StartFileOptions): Promise<StartedFile> {
    return this.#startFile("onboardCardholder", file, options);
  }

  async #startFile(type: FileType, file: string, given: StartFileOptions): Promise<StartedFile> {
    checkOptions("payFile", given);
    const { batch, ...options } = given;
    const checked = await checkBatchFile(type, file, this.#connections.settings.assumptionsOf());
    if (batch !== undefined && batch !== checked.batch)
      throw refused(`${file} has changed since it was checked. Nothing was started.`);
    return this.#connections.both(async (connected) => {
      const plan = await planFile(connected, checked, options);
      const { approvedBy, createdBy, state } = await payFile(connected, checked, plan, options);
      return { ...plan, approvedBy, createdBy, state };
    });
  }

  /**
   * Answers a question about the outcome of a write. It needs only the ledger: an open run continues within seconds.
   *
   * @param given `question` of the inbox's item; `choose`: found (with the service's id), resend or end.
   * @throws InvalidInput; NotAllowed if the question is not open; NotFound.
   * @example
   * ```ts
   * await payments.answer(id, { question, choose: "end", by: "ada", reason: "order withdrawn" });
   * ```
   */
  readonly answer = this.#onLedger("answer", answer);

  /**
   * Gives one answer to several questions of the inbox. Questions that are asked later are not answered.
   *
   * @example
   * ```ts
   * const { items } = await payments.inbox();
   * await payments.answerAll(items.filter(({ kind }) => kind === "question"), { choose: "resend", by: "ada", reason: "outage" });
   * ```
   */
  async answerAll(
    items: Parameters<typeof answerAll>[1],
    given: Parameters<typeof answerAll>[2],
  ): ReturnType<typeof answerAll> {
    const kept = checkOptions("answerAll", given);
    return this.#connections.ledger((opened) => answerAll(opened, items, kept));
  }

  /**
   * Approves, as a second person, exactly what was read: a payment, a file, or limits. It needs only the ledger.
   *
   * @param given `hash` of the inbox's item: nothing else is approved.
   * @throws NotAllowed if the approver has a part in it, or it has changed; NotFound if nothing waits for approval.
   * @example
   * ```ts
   * await payments.approve(item.workflowId, { hash: item.hash ?? "", by: "grace", how: "single sign-on" });
   * ```
   */
  readonly approve = this.#onLedger("approve", approve);

  /**
   * Rejects a payment or a file: nothing more is sent under its id. It needs only the ledger.
   *
   * @throws as `approve`; InvalidInput without a reason.
   * @example
   * ```ts
   * await payments.reject(id, { by: "grace", reason: "wrong payee" });
   * ```
   */
  readonly reject = this.#onLedger("reject", reject);

  /**
   * Retries a failed run: completed steps are kept. An open run checks again.
   *
   * @param options `amend`: the fields of the input to change; `isDryRun`: plans it, and changes nothing.
   * @returns the plan by steps, the changed fields, and the id of the new run.
   * @throws NotAllowed if a retry cannot help; EndedByPerson; NotFound; InvalidInput.
   * @example
   * ```ts
   * await payments.retry(id, { by: "ada", reason: "amount", amend: { payout: { amount: "12.50" } } });
   * ```
   */
  async retry(id: string, given: RetryGiven): Promise<RetriedRun> {
    const { isDryRun = false, ...options } = checkCall("retry", id, given);
    return this.#connections.both(async (connected) => {
      const done = isDryRun
        ? { ...(await planRetryOf(connected, id, options)), runId: null }
        : await retryPayment(connected, id, options);
      const { changed: amended = [], warnings = [] } = done.amendment ?? {};
      return { ...done.plan, amended, warnings, isDryRun, newRunId: done.runId };
    });
  }

  /**
   * Plans a repair: the retry of all failed runs that match. Nothing is changed. It needs only the ledger; with an amendment
   * or `from`, also Temporal.
   *
   * @param filter as of `list`: `group` of `failed`, `step`, `error`, `account`, `batch` and others.
   * @param options how they are retried: with `amend` or `amendEach`, with other inputs; `from`, from a chosen step.
   * @returns the steps of each retry, the runs that no retry can help with the reason, and the sums.
   * @throws InvalidInput if the filter, an option or an amended input is invalid; NotFound if there is no such batch, repair
   *   or group.
   * @example
   * ```ts
   * const plan = await payments.planRepair({ batch: id }, { by: "ada" });
   * ```
   */
  async planRepair(filter: ListFilter, given: RepairOptions): Promise<RepairPlan> {
    const options = checkOptions("planRepair", given);
    const read = async (opened: Connected | Deciding) => {
      const { rows: _, ...plan } = await this.#planRepair(opened, filter, options);
      return plan;
    };
    return (options.amend ?? options.amendEach ?? options.from) === undefined
      ? this.#connections.deciding(read)
      : this.#connections.both(read);
  }

  async #planRepair(connected: Connected | Deciding, filter: ListFilter, options: RepairOptions) {
    const which = await filterOf(connected.ledger, checkedFilter(this, filter));
    return planRepair(connected, which, options);
  }

  /**
   * Makes a repair: a durable job that retries each failed run that matches, once. A worker runs it, at a rate; it is shown,
   * followed, paused, cancelled and approved by its id, as a batch is. A run that was retried meanwhile is left out.
   *
   * @param options `content` of `planRepair`: other retries than those are refused.
   * @returns the plan that was followed, the id of the repair, and its state: `needsApproval`, or `approved`.
   * @throws as `planRepair`; NotAllowed if no run can be helped; ConnectionFailed: call it again.
   * @example
   * ```ts
   * const { repair } = await payments.repair({ batch: id }, { by: "ada", reason: "outage" });
   * ```
   */
  async repair(
    filter: ListFilter,
    given: RepairOptions & { readonly content?: string | undefined },
  ): Promise<StartedRepair> {
    const { content, ...options } = checkOptions("repair", given);
    const started = this.#connections.both(async (connected) => {
      const planned = await this.#planRepair(connected, filter, options);
      if (content !== undefined && content !== planned.content)
        throw refused("The failed runs have changed since they were shown. Nothing was done.");
      const about = `failed runs${filterText(filter, this.accounts)}`;
      const { id, state } = await startRepair(connected, planned, options, about);
      const { rows: _, ...plan } = planned;
      return { ...plan, repair: id, state };
    });
    return started.catch((error: unknown) => {
      if (!(error instanceof ConnectionFailed) || error.carriedOut === "unknown") throw error;
      throw connectionFailed(error.reason, `${error.message} Nothing was started.`, error.next);
    });
  }

  /**
   * Stops a run for good: nothing more is sent under its id. Requests that were sent are not reversed. It works while
   * Temporal is away.
   *
   * @throws NotFound; NotAllowed for a child; InvalidInput without a reason.
   * @example
   * ```ts
   * const { succeeded } = await payments.cancel(id, { by: "ada", reason: "order withdrawn" });
   * ```
   */
  readonly cancel = this.#deciding("cancel", cancel);

  /**
   * Cancels a batch: rows that have not started are not paid. With `isStarted`, the others are stopped as well.
   *
   * @throws NotFound; NotAllowed if it is finished or rejected; InvalidInput without a reason.
   * @example
   * ```ts
   * const { goOn } = await payments.cancelBatch(id, { by: "ada", reason: "wrong file" });
   * ```
   */
  readonly cancelBatch = this.#deciding("cancelBatch", cancelBatch);

  /**
   * Pauses sends: those of a run or a batch, or all of them without `id`. It needs only the ledger.
   *
   * @throws NotFound; InvalidInput without a reason.
   * @example
   * ```ts
   * await payments.pause({ by: "ada", reason: "wrong balance" });
   * ```
   */
  async pause(given: PauseGiven): ReturnType<typeof pause> {
    const { id, ...acting } = checkOptions("pause", given);
    return this.#connections.ledger((opened) => pause(opened, id, acting));
  }

  /**
   * Resumes sends. It needs only the ledger: an open run continues within seconds.
   *
   * @throws NotAllowed if nothing was paused; NotFound.
   * @example
   * ```ts
   * await payments.resume({ by: "ada" });
   * ```
   */
  async resume(given: PauseGiven): ReturnType<typeof resume> {
    const { id, ...acting } = checkOptions("resume", given);
    return this.#connections.ledger((opened) => resume(opened, id, acting));
  }

  /**
   * Sets limits of an account. Looser ones wait until another person approves `limits/HASH`. It needs only the ledger.
   *
   * @returns the limits now, and those that wait.
   * @throws InvalidInput if an amount or a currency is invalid, or the reason is missing.
   * @example
   * ```ts
   * await payments.setLimits({ maxAmounts: { EUR: "1000.00" }, by: "ada", reason: "audit" });
   * ```
   */
  async setLimits(given: LimitsGiven): Promise<LimitsView> {
    const { account, approveAbove, maxAmounts, ...acting } = checkOptions("setLimits", given);
    const hash = this.account(account);
    const limits = { approveAbove, maxAmounts };
    return this.#connections.ledger((opened) => setLimits(opened, hash, limits, acting));
  }

  /**
   * Records the meaning of a status of the service, for all payouts of an account. It needs only the ledger.
   *
   * @throws NotAllowed if a setting lists the status, or no payout has it; InvalidInput.
   * @example
   * ```ts
   * await payments.word({ word: "Paid out", means: "completed", by: "ada", reason: "the bank statement" });
   * ```
   */
  async word(given: WordGiven): Promise<DecidedMeaning> {
    const { account, means, word, ...acting } = checkOptions("word", given);
    const hash = this.account(account);
    const assumptions = this.#connections.settings.assumptionsOf(hash);
    return this.#connections.ledger((opened) =>
      decideWord(opened, hash, word, means, acting, assumptions),
    );
  }
}
