/** The workflow types of this project, by the names of their functions. */
export const WORKFLOW = {
  payout: "payout",
  onboardCardholder: "onboardCardholder",
  payoutBatch: "payoutBatch",
  tracker: "tracker",
  notifier: "notifier",
  checkWorker: "checkWorker",
} as const;

/** Returns the workflow id of the tracker of an account: one for all of its workers. */
export const trackerId = (accountHash: string, name?: string): string =>
  `tracker/${accountHash}${name === undefined ? "" : `/${name}`}`;
