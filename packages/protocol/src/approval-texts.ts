import type { ApprovalRequest } from "./approval.ts";

/** Anybody can type any name: who is meant by it, nobody has checked. */
export const UNVERIFIED = "names are as given, not verified";

/** Whoever has started it cannot approve it: where that may be anybody, nobody can. */
export const NO_STARTER =
  "Nobody can approve it, as it does not say who started it: reject it, and start it with memo: { startedBy: NAME }. A child workflow gets that from its parent by runChild; retry the parent then, and start no other run for what it has paid.";

/** What the approver of a payment is to know of how it came about, in sentences. */
export interface ApprovalTexts {
  /** Why it waits, and who started it. */
  readonly waits: string;
  /** Who has amended it; what they have amended, the request has as fields. */
  readonly amended?: string;
  /** Who had it sent again, or went past a person's decision. */
  readonly warnings: ReadonlyArray<string>;
}

/**
 * Word what the approver of a payment is to know of how it came about: the same on every screen.
 *
 * @param request the payment that waits.
 * @returns sentences, for a person.
 */
export const approvalTexts = ({
  amendedBy = [],
  overruledBy = [],
  resentBy = [],
  startedBy,
  why,
}: ApprovalRequest): ApprovalTexts => ({
  waits: `Waits for the approval of a second person${why === undefined ? "" : `: ${why}`}; started by ${startedBy ?? "nobody known"} (${UNVERIFIED}).`,
  ...(amendedBy.length > 0 && { amended: `Amended by ${amendedBy.join(", ")}:` }),
  warnings: [
    ...(startedBy === undefined ? [NO_STARTER] : []),
    ...(resentBy.length === 0
      ? []
      : [
          `Sent again by ${resentBy.join(", ")}: if it was carried out before, this pays it twice.`,
        ]),
    ...(overruledBy.length === 0
      ? []
      : [`Somebody had ended it; overruled by ${overruledBy.join(", ")}.`]),
  ],
});
