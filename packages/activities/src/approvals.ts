import { isAtLeast } from "@durable-payments/api-core/decimal";
import type { OperationName } from "@durable-payments/api-core";
import { timingSafeEqual } from "node:crypto";
import { type AmountLimits, moneyOf } from "./amount-limits.ts";
import { type PlannedRequest, textOfRequest } from "./planned-requests.ts";
import type { Payees } from "./payees.ts";
import type { PaymentsRuntime } from "./run-operation.ts";
import { textOf } from "./recorded-send.ts";
import type { SendIntent } from "./send-intent.ts";
import { signWithApiKey } from "./sign-with-api-key.ts";

/** Money that is to be moved. */
export interface Money {
  readonly amount: string | undefined;
  readonly currency: string | undefined;
}

/** What of a send says whether it was approved. */
type Approved = Pick<
  SendIntent,
  "approval" | "approveAbove" | "approvedBy" | "approvedFor" | "approvedPayee"
>;

/** The beneficiary that a request pays: one that the service knows, which anybody may change there. */
const payeeOf = (operation: OperationName, input: unknown): string | undefined =>
  operation === "createPayout" ? textOf(input, "beneficiary_id") : undefined;

/** Temporal's own retry of a send would be taken for one whose worker was lost. */
const OF_SEND = { nonRetryable: true };

const OTHER_MADE = "it is not known to be for what was approved with it";

const PAYEE_CHANGED = "its payee has other details than those that were approved";

/** When a second person has to approve, as the worker has it, and proofs that one has. */
export class Approvals {
  readonly #runtime: PaymentsRuntime;
  readonly #above: AmountLimits | undefined;
  readonly #payees: Payees;

  constructor(runtime: PaymentsRuntime, above: AmountLimits | undefined, payees: Payees) {
    this.#runtime = runtime;
    this.#above = above;
    this.#payees = payees;
  }

  /**
   * Why a second person has to approve that so much is moved: by the limit of the worker, or a lower one that
   * whoever started the run has set.
   *
   * @returns `above 1000.00 USD (PAYMENTS_APPROVE_ABOVE)`; undefined where nobody has to.
   */
  why({ amount, currency = "" }: Money, own?: string): string | undefined {
    if (amount === undefined) return undefined;
    if (own !== undefined && !isAtLeast(own, amount)) return `above ${own}`;
    if (this.#above === undefined) return undefined;
    const limit = this.#above[currency];
    if (limit === undefined) return `in ${currency}, which PAYMENTS_APPROVE_ABOVE does not list`;
    return isAtLeast(limit, amount)
      ? undefined
      : `above ${limit} ${currency} (PAYMENTS_APPROVE_ABOVE)`;
  }

  /**
   * Why a request must not be sent without the approval of a second person, where it has none, or one for other
   * details of whom it pays than the service has now, or for another one that was made for it.
   *
   * @throws Unavailable where these cannot be read.
   */
  async whyNotSent(
    operation: OperationName,
    input: unknown,
    workflowId: string,
    { approval, approveAbove, approvedBy, approvedFor, approvedPayee }: Partial<Approved>,
  ): Promise<string | undefined> {
    const why = this.why(moneyOf(operation, input), approveAbove);
    const beneficiary_id = payeeOf(operation, input);
    if (approvedBy !== undefined) {
      if (approvedFor !== undefined) {
        if (await this.#payees.isMadeOf(approvedFor, input, workflowId)) return undefined;
        return why === undefined ? OTHER_MADE : `${why}, and ${OTHER_MADE}`;
      }
      if (approvedPayee === undefined || beneficiary_id === undefined) return undefined;
      if ((await this.#payees.marksOf(beneficiary_id, OF_SEND)).details === approvedPayee)
        return undefined;
      return why === undefined ? PAYEE_CHANGED : `${why}, and ${PAYEE_CHANGED}`;
    }
    if (why === undefined) return undefined;
    if (approval === undefined) return why;
    const payee = beneficiary_id && (await this.#payees.marksOf(beneficiary_id, OF_SEND)).details;
    const requests = [{ operation, input }];
    return (await this.isProof(approval, workflowId, requests, payee)) ? undefined : why;
  }

  /**
   * Prove that what a run is going to send was approved, in the approval of its batch: to every worker with
   * the same API key, and for this run and these requests only.
   *
   * @param payee mark of the details of the beneficiary that it pays, where that is not a new one.
   */
  async proofOf(
    workflowId: string,
    requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
    payee?: string,
  ): Promise<string> {
    return await signWithApiKey(this.#runtime, [
      "approval",
      workflowId,
      requests.map(textOfRequest),
      ...(payee === undefined ? [] : [payee]),
    ]);
  }

  /** Check a proof that {@link proofOf} has made, if there is one. */
  async isProof(
    proof: unknown,
    workflowId: string,
    requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
    payee?: string,
  ): Promise<boolean> {
    if (typeof proof !== "string") return false;
    const given = Buffer.from(proof);
    const wanted = Buffer.from(await this.proofOf(workflowId, requests, payee));
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}
