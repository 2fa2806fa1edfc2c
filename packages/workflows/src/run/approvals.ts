import type { PlannedRequest, SendIntent } from "@durable-payments/activities";
import { makerOf, textOfRequest } from "@durable-payments/activities/planned-requests";
import { type AmendedField, namesSomebody, sendings } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";
import { amendedFields } from "./amended-fields.ts";

/** A request that a second person has approved: as it was planned, without what is filled in later. */
interface ApprovedRequest {
  readonly by: string;
  readonly operation: PlannedRequest["operation"];
  readonly later: ReadonlyArray<string>;
  readonly text: string;
  /** Mark of the details of whom it pays, as they were approved. */
  readonly payee: string | undefined;
  /** What was approved with it to be made first, and is named by a field that is filled in later. */
  readonly maker: SendIntent["approvedFor"];
  /** Shows the activity that sends it that it was approved: it believes nothing else. */
  readonly proof: string | undefined;
}

/** Runs of before have approvals without proofs: what they send asks anew. */
export const PROVED = "an approval is proved";

/** Whether it was approved without whom it is for: that could be anybody. */
const isForAnybody = ({ later, maker }: ApprovedRequest): boolean =>
  maker === undefined && sendings.some(({ idField }) => later.includes(idField));

/** What the activity that sends gets of the approval of a request. */
type Approved = Pick<
  SendIntent,
  "approval" | "approveAbove" | "approvedBy" | "approvedFor" | "approvedLater" | "approvedPayee"
>;

type Request = Pick<PlannedRequest, "input" | "operation">;

/** What second persons have approved of a run, and who has changed it, and so is no second person. */
export class Approvals {
  /** The limit with which the run was started: lower than the worker's, or beside it. */
  above: string | undefined;
  /** Whether a payment of this run needs an approval, above some amount: then it is not amended while the run asks. */
  isBound = false;
  /** Whether the worker that has checked the requests says that a second person has to approve them. */
  isWanted = false;
  /** Whether the requests were approved with the batch that they are of. */
  isOfBatch = false;
  /** Whether the input was amended since the run asked whether it needs an approval: what it sends now has none. */
  isOutdated = false;
  /** The hash of the payload that a second person approved last. */
  approved: string | undefined;
  #requests: ReadonlyArray<ApprovedRequest> = [];
  /** The step that sends what was approved: an approval covers each of its requests once. */
  readonly #usedBy = new Map<ApprovedRequest, string>();
  /** By what it says, the step that sends a request that was approved with the batch of the run. */
  readonly #ofBatchUsedBy = new Map<string, string>();
  #isProofOfNow = true;
  readonly #resentBy: Array<string> = [];
  readonly #amendedBy: Array<string> = [];
  readonly #amended: Array<readonly [before: unknown, after: unknown]> = [];

  /** Who has had something sent again of which nobody knew whether it was carried out. */
  get resentBy(): ReadonlyArray<string> {
    return this.#resentBy;
  }

  /** Who has amended a request that this run was about to send. */
  get amendedBy(): ReadonlyArray<string> {
    return this.#amendedBy;
  }

  /** The fields that were amended since the run was started. */
  get amended(): ReadonlyArray<AmendedField> {
    return this.#amended.flatMap(([before, after]) => amendedFields(before, after));
  }

  /**
   * A second person has approved these requests.
   *
   * @param proofs of each of them, where that is not the proof that the run was started with.
   * @param step the one that they were approved for, where that is known: no other one sends them.
   */
  approve(
    requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
    by: string,
    {
      payee,
      proofs = [],
      step,
    }: {
      readonly payee?: string;
      readonly proofs?: ReadonlyArray<string>;
      readonly step?: string;
    } = {},
  ): void {
    const approved = requests.map(({ input, later = [], operation }, index) => ({
      by,
      operation,
      later,
      text: textOfRequest({ operation, input, later }),
      payee,
      maker: makerOf({ later }, requests),
      proof: proofs[index],
    }));
    this.#requests = [...this.#requests, ...approved];
    if (step !== undefined) for (const one of approved) this.#usedBy.set(one, step);
  }

  /**
   * A person has a request of a step sent again that may have been carried out: that is another payment to approve,
   * and takes no approval that was not used yet.
   */
  isSentAgain(request: Request, step: string, by: string): void {
    this.#requests = this.#requests.filter((approved) => {
      const user = this.#usedBy.get(approved);
      return !covers(approved, request) || (user !== undefined && user !== step);
    });
    this.#isProofOfNow = false;
    this.#resentBy.push(by);
  }

  /** The input of the run was amended by a retry. */
  inputWasAmended(before: unknown, after: unknown): void {
    this.#amended.splice(0, this.#amended.length, [before, after]);
  }

  /** A person has amended a request. */
  requestWasAmended(before: unknown, after: unknown, by: string): void {
    this.#amended.push([before, after]);
    this.#amendedBy.push(by);
  }

  /**
   * Use the approval of a request for a step, where no other step has used it. A step that sends nothing more, since
   * earlier runs have sent it, uses it too: another one would be sent by it otherwise.
   */
  use(request: Request, step: string): void {
    const approved = this.#approvalOf(request, step);
    if (approved !== undefined) this.#usedBy.set(approved, step);
    if (proofOfBatch() === undefined) return;
    const text = textOfRequest(request);
    if (!this.#ofBatchUsedBy.has(text)) this.#ofBatchUsedBy.set(text, step);
  }

  /** What the activity that sends a request of a step gets. */
  of(request: Request, step: string): Approved {
    this.use(request, step);
    const approved = this.#approvalOf(request, step);
    const proof = approved?.proof ?? this.#proofOfBatch(request, step);
    return {
      ...(this.above !== undefined && { approveAbove: this.above }),
      ...(approved && { approvedBy: approved.by }),
      ...(approved && approved.later.length > 0 && { approvedLater: approved.later }),
      ...(approved?.payee !== undefined && { approvedPayee: approved.payee }),
      ...(approved?.maker !== undefined && { approvedFor: approved.maker }),
      ...(proof !== undefined && { approval: proof }),
    };
  }

  /** Whether this request was approved, for a step to send that no other step has used. */
  isApproved(request: Request, step: string): boolean {
    return this.#approvalOf(request, step) !== undefined;
  }

  /** The other step that has used the approval of such a request, where none is left for this one. */
  usedByOther(request: Request, step: string): string | undefined {
    if (this.isApproved(request, step)) return undefined;
    const approved = this.#requests.findLast((one) => covers(one, request));
    return approved && this.#usedBy.get(approved);
  }

  #approvalOf(request: Request, step: string): ApprovedRequest | undefined {
    const covering = this.#requests.filter((one) => covers(one, request));
    return (
      covering.findLast((one) => this.#usedBy.get(one) === step) ??
      covering.findLast((one) => !this.#usedBy.has(one))
    );
  }

  /** The proof that the run was started with, for the one step that sends this request. */
  #proofOfBatch(request: Request, step: string): string | undefined {
    const proof = this.#isProofOfNow ? proofOfBatch() : undefined;
    if (proof === undefined) return undefined;
    return this.#ofBatchUsedBy.get(textOfRequest(request)) === step ? proof : undefined;
  }
}

const covers = (approved: ApprovedRequest, request: Request): boolean => {
  const { later, operation, text } = approved;
  return (
    operation === request.operation &&
    text === textOfRequest({ ...request, later }) &&
    !isForAnybody(approved)
  );
};

/** The proof that a run of a batch was started with, that its batch was approved with it. */
export const proofOfBatch = (): string | undefined => {
  const proof: unknown = workflowInfo().memo?.["approval"];
  return namesSomebody(proof) ? proof : undefined;
};
