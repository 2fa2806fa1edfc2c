import { isAtLeast } from "@durable-payments/api-core/decimal";
import { Unavailable } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { Context } from "@temporalio/activity";
import { type AmountLimits, moneyOf } from "./amount-limits.ts";
import { toApplicationFailure } from "./failures.ts";
import { type PlannedRequest, textOfRequest } from "./planned-requests.ts";
import type { Payees } from "./payees.ts";
import { isRunOfQueue, type ReadRunStart, type RunStart } from "./run-start.ts";
import { textOf } from "./recorded-send.ts";
import type { SendIntent } from "./send-intent.ts";
import type { Signed, Signer } from "./signer.ts";

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

type RunId = Pick<RunStart, "firstRunId" | "workflowId">;

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

/** What a proof says that a worker has made. */
const approvedWithBatch = (
  workflowId: string,
  requests: ReadonlyArray<Request>,
  payee: string | undefined,
): Signed => [
  "approval",
  workflowId,
  requests.map(textOfRequest),
  ...(payee === undefined ? [] : [payee]),
];

const approvedByPerson = (
  { firstRunId, workflowId }: RunId,
  requests: ReadonlyArray<Request>,
  payee: string | undefined,
): Signed => [
  "approval by a person",
  workflowId,
  firstRunId,
  requests.map(textOfRequest),
  payee ?? "",
];

const approvedChunk = (
  { firstRunId, workflowId }: RunId,
  { chunk, hash, overruled, payees }: ApprovedChunk,
): Signed => ["approval of a chunk", workflowId, firstRunId, chunk, hash ?? "", payees, overruled];

const PAYEE_CHANGED = "its payee has other details than those that were approved";

/** When a second person has to approve, as the worker has it, and proofs that one has. */
export class Approvals {
  readonly #signer: Signer;
  readonly #above: AmountLimits | undefined;
  readonly #payees: Payees;
  readonly #readStart: ReadRunStart;

  constructor(
    signer: Signer,
    above: AmountLimits | undefined,
    payees: Payees,
    readStart: ReadRunStart,
  ) {
    this.#signer = signer;
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
    const ofPayee =
      approvedBy === undefined
        ? await this.#marksOfPayee(operation, input)
        : [intent.approvedPayee];
    const requests = [
      ...(approvedFor ? [approvedFor] : []),
      { operation, input, ...(later && { later }) },
    ];
    for (const payee of ofPayee ?? [undefined]) {
      if (await this.isProof(approval, workflowId, requests, payee)) return undefined;
      const byPerson = approvedByPerson(start, requests, payee);
      if (await this.#signer.isSigned(approval, byPerson)) return undefined;
    }
    return why;
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
    const marks = await this.#marksOfPayee(operation, input);
    return marks?.includes(approvedPayee) === true ? undefined : PAYEE_CHANGED;
  }

  async #marksOfPayee(
    operation: PlannedRequest["operation"],
    input: unknown,
  ): Promise<ReadonlyArray<string> | undefined> {
    const beneficiary_id = payeeOf(operation, input);
    if (beneficiary_id === undefined) return undefined;
    return (await this.#payees.marksOf(beneficiary_id, OF_SEND)).details;
  }

  /**
   * Prove that what a run is going to send was approved, in the approval of its batch: to every worker with
   * the same secret, and for this workflow id and these requests only.
   *
   * @param payee mark of the details of the beneficiary that it pays, where that is not a new one.
   */
  async proofOf(
    workflowId: string,
    requests: ReadonlyArray<Request>,
    payee?: string,
  ): Promise<string> {
    return await this.#signer.sign(approvedWithBatch(workflowId, requests, payee));
  }

  /** Check a proof that {@link proofOf} has made, if there is one. */
  async isProof(
    proof: unknown,
    workflowId: string,
    requests: ReadonlyArray<Request>,
    payee?: string,
  ): Promise<boolean> {
    return (
      typeof proof === "string" &&
      (await this.#signer.isSigned(proof, approvedWithBatch(workflowId, requests, payee)))
    );
  }

  /**
   * Prove that a person has approved the last of these requests, and what is made for it by those before: for no
   * other run of its workflow id.
   */
  proofByPerson(
    run: RunId,
    requests: ReadonlyArray<Request>,
    payee: string | undefined,
  ): Promise<string> {
    return this.#signer.sign(approvedByPerson(run, requests, payee));
  }

  /** Prove that a person has approved a chunk of a batch: for no other run of its workflow id. */
  proofOfChunk(run: RunId, chunk: ApprovedChunk): Promise<string> {
    return this.#signer.sign(approvedChunk(run, chunk));
  }

  /** Check a proof that {@link proofOfChunk} has made, for the run of the activity. */
  async isChunkApproved(proof: string | undefined, chunk: ApprovedChunk): Promise<boolean> {
    if (proof === undefined) return false;
    const start = await this.#readOwnStart();
    return start !== undefined && (await this.#signer.isSigned(proof, approvedChunk(start, chunk)));
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
