import { isAtLeast } from "@durable-payments/api-core/decimal";
import type { OperationName } from "@durable-payments/api-core";
import { createHmac, timingSafeEqual } from "node:crypto";
import { Redacted } from "effect";
import { type AmountLimits, moneyOf } from "./amount-limits.ts";
import { type PlannedRequest, textOfRequest } from "./planned-requests.ts";
import { optionsOf, type PaymentsRuntime } from "./run-operation.ts";
import type { SendIntent } from "./send-intent.ts";

/** Money that is to be moved. */
export interface Money {
  readonly amount: string | undefined;
  readonly currency: string | undefined;
}

/** What of a send says whether it was approved. */
type Approved = Pick<SendIntent, "approval" | "approveAbove" | "approvedBy">;

/** When a second person has to approve, as the worker has it, and proofs that one has. */
export class Approvals {
  readonly #runtime: PaymentsRuntime;
  readonly #above: AmountLimits | undefined;

  constructor(runtime: PaymentsRuntime, above: AmountLimits | undefined) {
    this.#runtime = runtime;
    this.#above = above;
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

  /** Why a request must not be sent without the approval of a second person, where it has none. */
  async whyNotSent(
    operation: OperationName,
    input: unknown,
    workflowId: string,
    { approval, approveAbove, approvedBy }: Partial<Approved>,
  ): Promise<string | undefined> {
    const why = this.why(moneyOf(operation, input), approveAbove);
    if (why === undefined || approvedBy !== undefined) return undefined;
    return (await this.isProof(approval, workflowId, [{ operation, input }])) ? undefined : why;
  }

  /**
   * Prove that what a run is going to send was approved, in the approval of its batch: to every worker with
   * the same API key, and for this run and these requests only.
   */
  async proofOf(
    workflowId: string,
    requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
  ): Promise<string> {
    const { apiKey } = await optionsOf(this.#runtime);
    return createHmac("sha256", Redacted.value(apiKey))
      .update(JSON.stringify(["approval", workflowId, requests.map(textOfRequest)]))
      .digest("base64url");
  }

  /** Check a proof that {@link proofOf} has made, if there is one. */
  async isProof(
    proof: unknown,
    workflowId: string,
    requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
  ): Promise<boolean> {
    if (typeof proof !== "string") return false;
    const given = Buffer.from(proof);
    const wanted = Buffer.from(await this.proofOf(workflowId, requests));
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}
