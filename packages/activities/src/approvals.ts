import { isAtLeast } from "@durable-payments/api-core/decimal";
import { Unavailable } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { Context } from "@temporalio/activity";
import { timingSafeEqual } from "node:crypto";
import { type AmountLimits, moneyOf } from "./amount-limits.ts";
import { toApplicationFailure } from "./failures.ts";
import { type PlannedRequest, textOfRequest } from "./planned-requests.ts";
import type { Payees } from "./payees.ts";
import type { PaymentsRuntime } from "./run-operation.ts";
import { isRunOfQueue, type ReadRunStart, type RunStart } from "./run-start.ts";
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
  "approval" | "approveAbove" | "approvedBy" | "approvedFor" | "approvedLater" | "approvedPayee"
>;

/** A request of which a proof says that it was approved. */
type Request = Omit<PlannedRequest, "at">;

/** A chunk of a batch that was approved, with what of it was shown. */
export interface ApprovedChunk {
  readonly chunk: number;
  /** Hash of its rows. */
  readonly hash: string | undefined;
  /** For each row the mark of whom it pays; empty for a new beneficiary. */
  readonly payees: ReadonlyArray<string>;
  /** Run ids of rejected batches whose rejection was overruled. */
  readonly overruled: ReadonlyArray<string>;
}

/** The beneficiary that a request pays: one that the service knows, which anybody may change there. */
const payeeOf = (operation: PlannedRequest["operation"], input: unknown): string | undefined =>
  operation === "createPayout" ? textOf(input, "beneficiary_id") : undefined;

/** Temporal's own retry of a send would be taken for one whose worker was lost. */
const OF_SEND = { nonRetryable: true };

const OTHER_MADE = "it is not known to be for what was approved with it";

const isSame = (given: string, wanted: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
};

const PAYEE_CHANGED = "its payee has other details than those that were approved";

/** When a second person has to approve, as the worker has it, and proofs that one has. */
export class Approvals {
  readonly #runtime: PaymentsRuntime;
  readonly #above: AmountLimits | undefined;
  readonly #payees: Payees;
  readonly #readStart: ReadRunStart;

  constructor(
    runtime: PaymentsRuntime,
    above: AmountLimits | undefined,
    payees: Payees,
    readStart: ReadRunStart,
  ) {
    this.#runtime = runtime;
    this.#above = above;
    this.#payees = payees;
    this.#readStart = readStart;
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
   * Why a request must not be sent without the approval of a second person, where nothing proves that it has one,
   * or it has one for other details of whom it pays than the service has now, or for another one that was made for it.
   *
   * @throws Unavailable where that cannot be read.
   */
  async whyNotSent(
    operation: PlannedRequest["operation"],
    input: unknown,
    workflowId: string,
    intent: Partial<Approved>,
  ): Promise<string | undefined> {
    const { approval, approveAbove, approvedBy, approvedFor, approvedLater: later } = intent;
    const why = this.why(moneyOf(operation, input), approveAbove);
    const other =
      approvedBy === undefined
        ? undefined
        : await this.#otherPayee(operation, input, workflowId, intent);
    if (other !== undefined) return why === undefined ? other : `${why}, and ${other}`;
    if (why === undefined) return undefined;
    if (approval === undefined) return why;
    const start = await this.#startOf(operation);
    if (start === undefined) return why;
    const payee =
      approvedBy === undefined ? await this.#markOfPayee(operation, input) : intent.approvedPayee;
    const requests = [
      ...(approvedFor ? [approvedFor] : []),
      { operation, input, ...(later && { later }) },
    ];
    const wanted = [
      await this.proofByPerson(start, requests, payee),
      await this.proofOf(workflowId, requests, payee),
    ];
    return wanted.some((proof) => isSame(approval, proof)) ? undefined : why;
  }

  /** Why whom it pays is not whom it was approved for. */
  async #otherPayee(
    operation: PlannedRequest["operation"],
    input: unknown,
    workflowId: string,
    { approvedFor, approvedPayee }: Partial<Approved>,
  ): Promise<string | undefined> {
    if (approvedFor !== undefined) {
      return (await this.#payees.isMadeOf(approvedFor, input, workflowId)) ? undefined : OTHER_MADE;
    }
    if (approvedPayee === undefined || payeeOf(operation, input) === undefined) return undefined;
    const mark = await this.#markOfPayee(operation, input);
    return mark === approvedPayee ? undefined : PAYEE_CHANGED;
  }

  async #markOfPayee(
    operation: PlannedRequest["operation"],
    input: unknown,
  ): Promise<string | undefined> {
    const beneficiary_id = payeeOf(operation, input);
    return beneficiary_id && (await this.#payees.marksOf(beneficiary_id, OF_SEND)).details;
  }

  /**
   * Prove that what a run is going to send was approved, in the approval of its batch: to every worker with
   * the same API key, and for this workflow id and these requests only.
   *
   * @param payee mark of the details of the beneficiary that it pays, where that is not a new one.
   */
  async proofOf(
    workflowId: string,
    requests: ReadonlyArray<Request>,
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
    requests: ReadonlyArray<Request>,
    payee?: string,
  ): Promise<boolean> {
    return (
      typeof proof === "string" && isSame(proof, await this.proofOf(workflowId, requests, payee))
    );
  }

  /**
   * Prove that a person has approved the last of these requests, and what is made for it by those before: for no
   * other run of its workflow id.
   */
  proofByPerson(
    { firstRunId, workflowId }: Pick<RunStart, "firstRunId" | "workflowId">,
    requests: ReadonlyArray<Request>,
    payee: string | undefined,
  ): Promise<string> {
    const approved = [workflowId, firstRunId, requests.map(textOfRequest), payee ?? ""];
    return signWithApiKey(this.#runtime, ["approval by a person", ...approved]);
  }

  /** Prove that a person has approved a chunk of a batch: for no other run of its workflow id. */
  proofOfChunk(
    { firstRunId, workflowId }: Pick<RunStart, "firstRunId" | "workflowId">,
    { chunk, hash, overruled, payees }: ApprovedChunk,
  ): Promise<string> {
    const approved = [workflowId, firstRunId, chunk, hash ?? "", payees, overruled];
    return signWithApiKey(this.#runtime, ["approval of a chunk", ...approved]);
  }

  /** Check a proof that {@link proofOfChunk} has made, for the run of the activity. */
  async isChunkApproved(proof: string | undefined, chunk: ApprovedChunk): Promise<boolean> {
    if (proof === undefined) return false;
    const start = await this.#readOwnStart();
    return start !== undefined && isSame(proof, await this.proofOfChunk(start, chunk));
  }

  /** How the run of the activity was started; undefined where no worker of this task queue runs its code. */
  async #readOwnStart(): Promise<RunStart | undefined> {
    const start = await this.#readStart();
    const { taskQueue } = Context.current().info;
    return start !== undefined && isRunOfQueue(start, taskQueue) ? start : undefined;
  }

  async #startOf(operation: PlannedRequest["operation"]): Promise<RunStart | undefined> {
    try {
      return await this.#readOwnStart();
    } catch (error) {
      throw toApplicationFailure(
        new Unavailable({
          operation,
          carriedOut: "no",
          message: `It was not sent: how its run was started could not be read (${messageOf(error)})`,
        }),
        OF_SEND,
      );
    }
  }
}
