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
   */
  approve(
    requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
    by: string,
    {
      payee,
      proofs = [],
    }: { readonly payee?: string; readonly proofs?: ReadonlyArray<string> } = {},
  ): void {
    this.#requests = [
      ...this.#requests,
      ...requests.map(({ input, later = [], operation }, index) => ({
        by,
        operation,
        later,
        text: textOfRequest({ operation, input, later }),
        payee,
        maker: makerOf({ later }, requests),
        proof: proofs[index],
      })),
    ];
  }

  /** A person has a request sent again that may have been carried out: that is another payment to approve. */
  isSentAgain(request: Request, by: string): void {
    this.#requests = this.#requests.filter((approved) => !covers(approved, request));
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

  /** What the activity that sends a request gets. */
  of(request: Request): Approved {
    const approved = this.#requests.findLast((one) => covers(one, request));
    const proof = approved?.proof ?? (this.#isProofOfNow ? proofOfBatch() : undefined);
    return {
      ...(this.above !== undefined && { approveAbove: this.above }),
      ...(approved && { approvedBy: approved.by }),
      ...(approved && approved.later.length > 0 && { approvedLater: approved.later }),
      ...(approved?.payee !== undefined && { approvedPayee: approved.payee }),
      ...(approved?.maker !== undefined && { approvedFor: approved.maker }),
      ...(proof !== undefined && { approval: proof }),
    };
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
