/** What a person found out about a send of an ended run whose outcome was not known. */
export interface Settlement {
  readonly step: string;
  readonly by: string;
  readonly reason: string;
  /** What it made, by id; absent where it was not carried out. */
  readonly found?: Readonly<Record<string, string>>;
}

/** Workflow type of a settlement: nobody runs it, its input is the {@link Settlement}. */
export const SETTLEMENT_TYPE = "settlement";

/** Give the workflow id of the settlement of a step of a run. */
export const settlementId = (runId: string, step: string): string => `settlement/${runId}/${step}`;

/** Name the task queue of settlements: no worker polls it. */
export const settlementQueue = (taskQueue: string): string => `${taskQueue}/settlements`;
