import { type CreateBeneficiaryInput, defaultAssumptions } from "@durable-payments/client/effect";
import { canonicalDecimal, isRecord } from "@durable-payments/client/values";
import type { PayoutInput, Workflows } from "@durable-payments/protocol";
import { nudgeSignal, VOUCHER } from "@durable-payments/protocol/calls";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { WorkflowExecutionAlreadyStartedError, type WorkflowOptions } from "@temporalio/client";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkBatchFile, decideBatch, payFile, planFile } from "../../src/actions/batch/index.ts";
import { retryPayment, type RetryOptions } from "../../src/actions/retry/retry.ts";
import { startPayment, startRun } from "../../src/actions/start.ts";
import { NotAllowed } from "../../src/errors.ts";
import { type PlannedRun, planOnboarding, planPayout } from "../../src/rules/input.ts";
import type { callActivity, payByChild, paySalary } from "./own-workflows.ts";
import type { Payee, Payment } from "./payment.ts";
import { OWN_QUEUE, type Stack } from "./stack.ts";
import { Watch } from "./watch.ts";
import { approveFile, approveRead } from "../support/approving.ts";

// One person, Ada, has what people have who submit payments: Temporal's client, the ledger through its functions, and an
// honest name. Grace is the second person. Whatever Ada does, the service may have only payouts that are allowed: by the
// policy, because they are small; or because Grace approved exactly this amount to exactly this account, with this
// reference and date, once.

/** Ada as she acts. */
export const ADA = { by: "ada", how: "--by", reason: "it is in order" } as const;

/** The second person as she acts. */
export const GRACE = { by: "grace", how: "--by", reason: "checked" } as const;

type Decision = Parameters<typeof decideBatch>[2];

/** One attempt: what Ada does, what Grace does, and what has become of it. */
export class Attempt extends Watch {
  #files = 0;
  #calls = 0;

  /** A payment above the policy to the honest payee. */
  payment(changes: Partial<Payment> = {}): Payment {
    const reference = `${this.id} Invoice`;
    const to = this.payees.honest;
    return { amount: "900.00", currency: "EUR", to, reference, date: "2026-12-01", ...changes };
  }

  /** The same payment to Ada's accomplice. */
  get toMallory(): Payment {
    return this.payment({ to: this.payees.mallory });
  }

  /** The input of a payout; to a beneficiary that exists, or a new one. */
  input(payment: Payment, beneficiary_id?: string): PayoutInput {
    const { amount, currency, date, reference, to } = payment;
    const payout = {
      amount,
      currency,
      payout_reference: reference,
      payment_date: date,
      payout_reason: `${this.id} goods`,
      is_payer: "Y",
    } as const;
    // The fields are texts of the test; the software checks them.
    return beneficiary_id === undefined
      ? { beneficiary: to as unknown as CreateBeneficiaryInput, payout }
      : { beneficiary_id, payout };
  }

  /** A beneficiary that the service knows. */
  async known(payee: Payee): Promise<string> {
    const fields = payee as unknown as CreateBeneficiaryInput;
    return (await this.stack.service.createBeneficiary(fields)).beneficiary_id;
  }

  /** A beneficiary whose account has another currency: the service refuses each payout to it. */
  refusing(): Promise<string> {
    return this.known({ ...this.payees.honest, account_currency: "USD" });
  }

  /** The request by which the account of a known beneficiary becomes another one. */
  redirected(beneficiary_id: string, payee: Payee) {
    const { iban: _, ...fields } = payee;
    const account_number = this.payees.otherNumber;
    // The fields are texts of the test; the software checks them.
    return {
      clearing_system: "SEPA",
      ...fields,
      beneficiary_id,
      account_number,
    } as unknown as Parameters<Stack["service"]["updateBeneficiary"]>[0];
  }

  async #startPlanned(planned: PlannedRun, id: string, startedBy: string): Promise<string> {
    await startRun(this.stack.operations, id, planned, { startedBy, notDuplicate: "another" });
    return id;
  }

  /** Starts an onboarding as the command line does. */
  onboard(cardholder: object, card_limit: string): Promise<string> {
    const input = {
      cardholder: { ...inputs.cardholder, ...cardholder },
      card: { ...inputs.card, card_limit },
    };
    return this.#startPlanned(planOnboarding(input, defaultAssumptions), this.id, "ada");
  }

  /** Starts a payout as the command line does. */
  start(input: object, id = this.id, startedBy = "ada"): Promise<string> {
    return this.#startPlanned(planPayout(input, defaultAssumptions), id, startedBy);
  }

  /** Starts the workflow `payout` with Temporal's own client; she forges the voucher that the run is the first of its id. */
  async startBare(
    input: object,
    id = this.id,
    options: Pick<WorkflowOptions, "memo" | "workflowIdReusePolicy"> = {},
  ): Promise<string> {
    await this.stack.operations.client.workflow.start<Workflows["payout"]>("payout", {
      workflowId: id,
      taskQueue: "payments",
      // Also what is no input of a payout.
      args: [input as PayoutInput],
      ...options,
      memo: { ...options.memo, [VOUCHER]: { workflowId: id, at: Date.now(), is: "first" } },
    });
    return id;
  }

  /** The arguments of `paySalary`, to a beneficiary that exists; it has {@link salaryId}. */
  async salary(
    payment: Payment,
    rounds = 0,
    key = `${this.id}-salary`,
  ): Promise<Parameters<typeof paySalary>> {
    const beneficiary_id = await this.known(payment.to);
    return [{ ...this.input(payment).payout, beneficiary_id }, key, rounds];
  }

  get salaryId(): string {
    return `paySalary/${this.id}`;
  }

  /** Starts `paySalary` under its id, or another type, by Temporal's own client. */
  async startSalaryBare(args: Parameters<typeof paySalary>, type = "paySalary"): Promise<void> {
    await this.stack.operations.client.workflow.start<typeof paySalary>(type, {
      workflowId: this.salaryId,
      taskQueue: "payments",
      args,
      workflowIdConflictPolicy: "TERMINATE_EXISTING",
    });
  }

  /** Starts `paySalary` by `startPayment`; with a ledger, it records who has started it. */
  startSalary(args: Parameters<typeof paySalary>, startedBy: string, hasLedger = true) {
    const { client, ledger } = this.stack.operations;
    return startPayment<typeof paySalary>(client, "paySalary", {
      key: this.id,
      startedBy,
      args,
      ...(hasLedger && { ledger }),
    });
  }

  /** Starts a workflow whose child pays, by `startPayment`; returns the id of the child. */
  async startParent(input: PayoutInput, startedBy: string, hasLedger = true): Promise<string> {
    const { client, ledger } = this.stack.operations;
    const child = `payByChild/${this.id}/child`;
    await startPayment<typeof payByChild>(client, "payByChild", {
      key: this.id,
      startedBy,
      args: [child, input],
      ...(hasLedger && { ledger }),
    });
    await this.starts(child);
    return child;
  }

  /** Terminates such a workflow, and starts its id again with another child. */
  async restartParent(input: PayoutInput): Promise<void> {
    await this.stack.operations.client.workflow.start<typeof payByChild>("payByChild", {
      workflowId: `payByChild/${this.id}`,
      taskQueue: "payments",
      args: [`payByChild/${this.id}/other`, input],
      workflowIdConflictPolicy: "TERMINATE_EXISTING",
    });
  }

  /** A start that Temporal refuses, because another run has the id. */
  async tooLate(starting: Promise<unknown>): Promise<void> {
    const error = await starting.catch((failure: unknown) => failure);
    if (error instanceof WorkflowExecutionAlreadyStartedError || error instanceof NotAllowed)
      return;
    throw error;
  }

  /** Calls an activity of the payments' worker by a workflow of her own; returns its answer, or its failure. */
  async call(name: string, input: unknown, id?: string): Promise<unknown> {
    this.#calls += 1;
    const { client } = this.stack.operations;
    const handle = await client.workflow.start<typeof callActivity>("callActivity", {
      workflowId: id ?? `${this.id}/own/${this.#calls}`,
      taskQueue: OWN_QUEUE,
      args: [name, input],
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "TERMINATE_EXISTING",
    });
    return handle.result().catch((error: unknown) => error);
  }

  /** Calls an activity of a write, and expects that nothing is made. */
  async calls(name: string, input: unknown, id?: string): Promise<void> {
    const answer = await this.call(name, input, id);
    if (isRecord(answer) && answer["is"] === "done") throw new Error("The write was made");
  }

  /** Calls an activity of a write that needs nobody, and expects that it is made. */
  async makes(name: string, input: unknown): Promise<void> {
    const answer = await this.call(name, input);
    if (!isRecord(answer) || answer["is"] !== "done")
      throw new Error(`${name} was not made`, { cause: answer });
  }

  /** The input of the activity `createPayout`, which says about itself whatever Ada wants. */
  async write(payment: Payment, forged: object = {}): Promise<object> {
    const beneficiary_id = (await this.beneficiaryOf(payment.to)) ?? (await this.known(payment.to));
    return {
      step: "createPayout",
      isNamed: true,
      rootId: this.id,
      isContinued: false,
      call: 1,
      isFirst: true,
      startedBy: "linus",
      request: { ...this.input(payment).payout, beneficiary_id },
      ...forged,
    };
  }

  /** Completes the next pending activity of a run by hand, as Temporal's command line does. */
  async completes(
    id: string,
    type: string,
    result: object | ((activityId: string) => object),
  ): Promise<void> {
    const activityId = await this.until(`${id} executes ${type}`, async () => {
      const { raw } = await this.handle(id).describe();
      const pending = raw.pendingActivities?.find((one) => one.activityType?.name === type);
      return pending?.activityId ?? undefined;
    });
    const value = typeof result === "function" ? result(activityId) : result;
    await this.stack.operations.client.activity.complete({ workflowId: id, activityId }, value);
  }

  /** Uploads payments as a file; their keys are `ID-1`, `ID-2`, … */
  async file(rows: ReadonlyArray<object>, options: { readonly approveAbove?: string } = {}) {
    this.#files += 1;
    const path = join(this.stack.folder, `${this.id}-${this.#files}.jsonl`);
    const lines = rows.map((row, at) => JSON.stringify({ key: `${this.id}-${at + 1}`, ...row }));
    await writeFile(path, lines.join("\n"));
    const checked = await checkBatchFile("payout", path, defaultAssumptions);
    const given = { ...ADA, ...options };
    const { operations } = this.stack;
    await payFile(operations, checked, await planFile(operations, checked, given), given);
    await this.until(`${checked.batch} can be decided about`, async () => {
      const batch = await operations.ledger.batch(checked.batch);
      return batch?.state === "needsApproval" ? true : undefined;
    });
    return { batch: checked.batch, row: `payout/${this.id}-1` };
  }

  /** Somebody who has read the rows of a file decides about it. */
  decide(batch: string, kind: Decision, acting: Parameters<typeof decideBatch>[3] = ADA) {
    const { operations } = this.stack;
    return kind === "approve"
      ? approveFile(operations, batch, acting)
      : decideBatch(operations, batch, kind, acting);
  }

  /** Grace, who has read these rows, approves a file. */
  async graceApprovesFile(batch: string, rows: ReadonlyArray<Payment>): Promise<void> {
    for (const row of rows) this.allow(row);
    await this.decide(batch, "approve", GRACE);
  }

  /** Starts the workflow of a file's rows where no worker of payments takes its activity. */
  async startChunk(batch: string, row: string): Promise<string> {
    const workflowId = `${this.id}/chunk`;
    const rows = [{ number: 1, workflowId: row, input: this.input(this.payment()) }];
    const { client } = this.stack.operations;
    await client.workflow.start<Workflows["runBatch"]>("runBatch", {
      workflowId,
      taskQueue: OWN_QUEUE,
      args: [{ batch, startedBy: "linus", window: 1, rows }],
    });
    return workflowId;
  }

  /** Asks the workflow of a file to look again. */
  async nudgeFile(batch: string): Promise<void> {
    await this.handle(`${batch}/1`).signal(nudgeSignal, {});
  }

  /** Retries as the command line does. */
  retry(
    id: string,
    options: Omit<Partial<RetryOptions>, "amend"> & { readonly patch?: object } = {},
  ) {
    const { patch, ...others } = options;
    const amend = patch && { amend: patch };
    return retryPayment(this.stack.operations, id, { ...ADA, ...others, ...amend });
  }

  /** Ada approves what is asked. */
  async approves(id: string, by: string = ADA.by): Promise<unknown> {
    const { question } = await this.asks(id);
    return approveRead(this.stack.operations, id, { ...ADA, by, question: question?.id });
  }

  /** Ada tries to approve, and is refused; the payment waits on. */
  async cannotApprove(id: string, by: string = ADA.by): Promise<void> {
    await this.asks(id);
    await this.refused(this.approves(id, by));
    await this.asks(id);
  }

  /** Grace has read the payment, and approves what is asked now. */
  async graceApproves(id: string, payment: Payment): Promise<void> {
    const { question, request } = await this.asks(id);
    if (canonicalDecimal(request.amount ?? "") !== canonicalDecimal(payment.amount))
      throw new Error(`Grace reads ${request.amount}, and does not approve`);
    this.allow(payment);
    await approveRead(this.stack.operations, id, { ...GRACE, question: question?.id });
  }

  /** The policy allows a small payment without anybody. */
  isSmall(payment: Payment): void {
    if (payment.currency !== "EUR" || Number(payment.amount) > 100)
      throw new Error("The policy does not allow this");
    this.allow(payment);
  }
}

/** A kind of attempt: `steps` ends when it has failed, or succeeded. */
export interface Kind {
  readonly name: string;
  readonly steps: (the: Attempt) => Promise<unknown>;
}
