import type { NotifierState, BatchChunk, TrackerInput, Voucher, VOUCHER } from "./calls.ts";
import type {
  OnboardCardholderInput,
  OnboardCardholderResult,
  PayoutInput,
  PayoutResult,
} from "./inputs.ts";
import { queryText } from "./values.ts";

// Temporal starts a workflow by a name and a list of values, which the compiler compares with nothing: two arguments in
// the wrong order once made the tracker of each named account work for the unnamed one. Packages below the definitions
// start workflows too, so the types are here. A test (`typed-temporal`) requires the type of each start.

/** Input of a check of a worker. */
export interface CheckWorkerInput {
  /** Names of the worker's accounts. Default: the one without a name. */
  readonly accounts?: ReadonlyArray<string>;
}

/** The workflows of this project by type: `workflow.start<Workflows["tracker"]>(…)`. The definitions satisfy it. */
export interface Workflows {
  readonly payout: (input: PayoutInput) => Promise<PayoutResult>;
  readonly onboardCardholder: (input: OnboardCardholderInput) => Promise<OnboardCardholderResult>;
  readonly runBatch: (chunk: BatchChunk) => Promise<void>;
  readonly tracker: (input: TrackerInput) => Promise<void>;
  readonly notifier: (state?: NotifierState) => Promise<void>;
  readonly checkWorker: (input?: CheckWorkerInput) => Promise<void>;
}

/** The workflow types of this project, by the names of their functions. */
export const WORKFLOW = {
  payout: "payout",
  onboardCardholder: "onboardCardholder",
  runBatch: "runBatch",
  tracker: "tracker",
  notifier: "notifier",
  checkWorker: "checkWorker",
} as const satisfies { readonly [Type in keyof Workflows]: Type };

/** Memo field that names the batch of a run: another batch may have the same row. */
export const BATCH_MEMO = "durable-payments/batch";

/** The memo of a run. Anyone may write one, so readers check the values, and it names nobody. */
export type RunMemo = {
  readonly [VOUCHER]?: Voucher;
  readonly [BATCH_MEMO]?: string;
};

/** Returns whether a run is open, by the name of its status: a run that Temporal's own Workflow Pause has paused is. */
export const isOpenStatus = (status: string): boolean =>
  status === "RUNNING" || status === "PAUSED";

/** Visibility condition of open runs. Older servers do not know the status of a paused run. */
export const OPEN_RUNS = "CloseTime IS NULL";

/** Returns the visibility query of the open trackers on a task queue. */
export const trackersOn = (taskQueue: string): string =>
  `${OPEN_RUNS} AND WorkflowType = ${queryText(WORKFLOW.tracker)} AND TaskQueue = ${queryText(taskQueue)}`;
