import type { JsonFields } from "./values.ts";

/** The memo by which a run is vouched for. */
export const VOUCHER = "durable-payments/voucher";

/** The memo that says who started a run, and so cannot approve what it sends. */
export const STARTED_BY = "startedBy";

/** A voucher holds for a run that starts within this time of it. */
const HOLDS_MS = 10_000;

/** Written by `startPayment`, `retryPayment`, and the plugin of a client, which start with an id that is refused where it is known. */
export interface Voucher {
  readonly workflowId: string;
  /** Milliseconds since 1970, by the clock of whoever starts. */
  readonly at: number;
  /** `first`: no run had this id. `retry`: the failed run before has named the versions of its rows. */
  readonly is: "first" | "retry";
  readonly versions?: Readonly<Record<string, number>>;
}

/** What a run knows of itself that decides whether its voucher holds. */
export interface VouchedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstExecutionRunId: string;
  readonly cronSchedule?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly memo: JsonFields | undefined;
}

/** Reads the voucher of a run. A copied memo, a reset, a schedule and a continued run have none: their first send is reconciled. */
export const voucherOf = (run: VouchedRun): Voucher | undefined => {
  const { cronSchedule, firstExecutionRunId, memo, runId, startTime, workflowId } = run;
  const given = memo?.[VOUCHER] as Partial<Voucher> | undefined;
  if (given?.workflowId !== workflowId || typeof given.at !== "number") return undefined;
  if (given.is !== "first" && given.is !== "retry") return undefined;
  if (runId !== firstExecutionRunId || (cronSchedule ?? "") !== "") return undefined;
  return Math.abs(startTime - given.at) <= HOLDS_MS ? (given as Voucher) : undefined;
};
