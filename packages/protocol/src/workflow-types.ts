import { STEP, type StepName } from "./steps.ts";

/** The workflow types of this project, by the names of their functions. */
export const WORKFLOW = {
  payout: "payout",
  onboardCardholder: "onboardCardholder",
  payoutBatch: "payoutBatch",
  payoutBatchChunk: "payoutBatchChunk",
  tracker: "tracker",
  notifier: "notifier",
} as const;

/**
 * The fields of a workflow's input that a retry can amend, by workflow type: each with the last step
 * that uses it. A name that ends with a point stands for all fields below it.
 */
export const amendableFields: Readonly<Record<string, Readonly<Record<string, StepName>>>> = {
  [WORKFLOW.onboardCardholder]: {
    "cardholder.": STEP.createCardholder,
    "card.card_limit": STEP.issueCard,
    "card.product_code": STEP.issueCard,
    "card.card_name": STEP.confirmCard,
    "options.verifyWithin": STEP.awaitVerification,
    "options.fundWithin": STEP.awaitFunds,
    "options.pollInterval": STEP.awaitFunds,
  },
  [WORKFLOW.payout]: {
    "beneficiary.": STEP.createBeneficiary,
    beneficiary_id: STEP.createPayout,
    "payout.": STEP.createPayout,
    "options.completeWithin": STEP.awaitPayout,
    "options.pollInterval": STEP.awaitPayout,
  },
};

/**
 * Find the last step that uses a field of an input.
 *
 * @param field its path, with points: `payout.amount`.
 * @param usedBy as {@link amendableFields} has it for a workflow type.
 * @returns undefined where the field cannot be amended.
 */
export const stepThatUses = (
  field: string,
  usedBy: Readonly<Record<string, string>>,
): string | undefined => {
  const used = Object.keys(usedBy).find((name) =>
    name.endsWith(".") ? field.startsWith(name) : field === name,
  );
  return used === undefined ? undefined : usedBy[used];
};

/**
 * Give the workflow id of the tracker of an account: one for all of its workers.
 *
 * @param accountHash as `accountHash` makes it.
 * @param name of the account, where it has one.
 */
export const trackerId = (accountHash: string, name?: string): string =>
  `tracker/${accountHash}${name === undefined ? "" : `/${name}`}`;

/** An account as the id of its tracker has it. */
export interface TrackedAccount {
  /** As `accountHash` makes it. */
  readonly hash: string;
  /** Absent where it is the one without a name. */
  readonly name?: string;
}

/** Read the account whose tracker has this workflow id; undefined where it is no tracker's. */
export const accountOfTracker = (workflowId: string): TrackedAccount | undefined => {
  const [, hash, name] = /^tracker\/([0-9a-f]{16})(?:\/([^/]+))?$/.exec(workflowId) ?? [];
  return hash === undefined ? undefined : { hash, ...(name !== undefined && { name }) };
};

/** Workflow type of a sign-in lease: nobody runs it, the lease ends by its timeout. */
export const SIGN_IN_LEASE_TYPE = "signInLease";

/** Give the workflow id of a sign-in lease of an account, by the account's hash: one of so many numbers. */
export const signInLeaseId = (accountHash: string, number: number): string =>
  `sign-in/${accountHash}/${number}`;
