/** The workflow types of this project, by the names of their functions. */
export const WORKFLOW = {
  payout: "payout",
  onboardCardholder: "onboardCardholder",
  payoutBatch: "payoutBatch",
  tracker: "tracker",
  notifier: "notifier",
  checkWorker: "checkWorker",
} as const;

/**
 * Returns the workflow id of the tracker of an account: one for all of its workers.
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

/** Reads the account whose tracker has this workflow id; undefined for any other id. */
export const accountOfTracker = (workflowId: string): TrackedAccount | undefined => {
  const [, hash, name] = /^tracker\/([0-9a-f]{16})(?:\/([^/]+))?$/.exec(workflowId) ?? [];
  return hash === undefined ? undefined : { hash, ...(name !== undefined && { name }) };
};
