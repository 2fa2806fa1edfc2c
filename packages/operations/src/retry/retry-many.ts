import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@durable-payments/api-core/values";
import * as Effect from "effect/Effect";
import { checkActing } from "../acting.ts";
import { asTemporalError } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { invalidInput, isOperationError, type NextOperation } from "../errors.ts";
import { listRuns } from "../runs/list.ts";
import type { ListedRun } from "../runs/listed-run.ts";
import { awaitEndingPatiently } from "../runs/wait.ts";
import type { Ending } from "../runs/state.ts";
import type { Failure } from "../history/failure.ts";
import { OF_ENDED_PAYOUT } from "../timeline/next-steps.ts";
import type { RunFilter } from "../runs/query.ts";
import type { RetryOptions } from "./plan.ts";
import { planRetryOf, retryRun } from "./retry.ts";

/** What became of one of many runs. */
export interface RetriedOne {
  readonly workflowId: string;
  /**
   * `endedByPerson`: a person ended a run of this id, and no retry of many goes past that. `notRetried`:
   * it cannot be, and `reason` explains why. `failed`: Temporal did not do it.
   */
  readonly status: "planned" | "retried" | "endedByPerson" | "notRetried" | "failed";
  /** The run that goes on. */
  readonly runId: string | null;
  /** The step that it goes on from. */
  readonly from: string | null;
  readonly reason: string | null;
  /** What can be done about it. */
  readonly next?: NextOperation;
  /** How the run ended that goes on, and why; where it was awaited. */
  readonly state?: Ending["state"];
  readonly failure?: Failure | null;
}

/** What became of many runs that were to be retried. */
export interface RetryReport {
  readonly count: number;
  readonly planned: number;
  readonly retried: number;
  readonly endedByPerson: number;
  readonly notRetried: number;
  readonly failed: number;
  readonly runs: ReadonlyArray<RetriedOne>;
}

/** How many runs are retried: what a person ended by a decision is left out, whoever calls. */
export interface RetryManyOptions extends Omit<RetryOptions, "decisions" | "expectedRunId"> {
  /** Only plans. */
  readonly isDryRun: boolean;
  /** Runs a second. */
  readonly rate: number;
}

/** A run that was seen: where another run of its id is the latest by now it is left alone. */
export type SeenRun = Pick<ListedRun, "runId" | "workflowId"> & Partial<Pick<ListedRun, "failure">>;

/**
 * List the runs that a filter finds, one of each workflow id.
 *
 * @param temporal the connection of `withTemporal`.
 * @param filter as of `listRuns`.
 * @returns the runs, for whoever confirms it, and for `retryMany`.
 */
export const findRunsToRetry = async (
  temporal: Temporal,
  filter: RunFilter,
): Promise<ReadonlyArray<ListedRun>> => {
  const runs = new Map<string, ListedRun>();
  for await (const run of listRuns(temporal, filter)) runs.set(run.workflowId, run);
  return [...runs.values()];
};

const AT_ONCE = 8;

const STAYS_ENDED =
  "The service says that its payout failed: a retry takes up that very payout, and finds it so again. See there whether its amount was returned; to pay again, start a payout under another id. Nothing was done.";

const retryOne = async (
  temporal: Temporal,
  { failure, runId: expectedRunId, workflowId }: SeenRun,
  many: RetryManyOptions,
): Promise<RetriedOne> => {
  const options = { ...many, decisions: "leaveOut", expectedRunId } as const;
  const none = { workflowId, runId: null, from: null, reason: null };
  if (failure?.type === OF_ENDED_PAYOUT)
    return { ...none, status: "notRetried", reason: STAYS_ENDED };
  try {
    if (options.isDryRun) {
      const { plan } = await planRetryOf(temporal, workflowId, options);
      return { ...none, status: "planned", from: plan.from };
    }
    const { plan, runId } = await retryRun(temporal, workflowId, options);
    return { ...none, status: "retried", runId, from: plan.from };
  } catch (error) {
    if (!isOperationError(error)) {
      const reason = messageOf(asTemporalError(error, temporal.settings));
      return { ...none, status: "failed", reason };
    }
    const faults = error._tag === "InvalidInput" ? (error.faults ?? []) : [];
    return {
      ...none,
      status: error._tag === "EndedByPerson" ? "endedByPerson" : "notRetried",
      reason: [error.message, ...faults.map(({ field, problem }) => `${field} ${problem}.`)].join(
        " ",
      ),
      ...(error.next && { next: error.next }),
    };
  }
};

const reportOf = (count: number, runs: ReadonlyArray<RetriedOne>): RetryReport => {
  const having = (status: RetriedOne["status"]) =>
    runs.filter((run) => run.status === status).length;
  return {
    count,
    planned: having("planned"),
    retried: having("retried"),
    endedByPerson: having("endedByPerson"),
    notRetried: having("notRetried"),
    failed: having("failed"),
    runs,
  };
};

/** Awaits the turn of the n-th at so many a second. */
const rateLimiter = (rate: number): ((index: number) => Promise<void>) => {
  const began = performance.now();
  return (index) => sleep(Math.max(0, began + (index * 1000) / rate - performance.now()));
};

/**
 * Retry runs, a few at a time and no more than `rate` in a second. Where it is interrupted, what was
 * retried goes on, and the same call retries the others.
 *
 * @param temporal the connection of `withTemporal`.
 * @param seen the runs, as {@link findRunsToRetry} returns them.
 * @param options as of one retry; `rate` in runs a second; `isDryRun` only plans.
 * @param onRetried is called after each run, with how many are done.
 * @returns what became of each; a run that cannot be retried, or is not the latest of its id any more, is
 *   reported, and stops none of the others.
 * @throws InvalidInput where name or reason are empty, or the rate is not above zero.
 */
export const retryMany = async (
  temporal: Temporal,
  seen: ReadonlyArray<SeenRun>,
  options: RetryManyOptions,
  onRetried: (done: number) => void = () => undefined,
): Promise<RetryReport> => {
  checkActing(options);
  if (!(Number.isFinite(options.rate) && options.rate > 0)) {
    throw invalidInput("The runs a second (rate) must be more than 0. Nothing was done.");
  }
  const runs: Array<RetriedOne> = [];
  const turnOf = rateLimiter(options.rate);
  await Effect.runPromise(
    Effect.forEach(
      seen,
      (run, index) =>
        Effect.promise(async () => {
          await turnOf(index);
          runs.push(await retryOne(temporal, run, options));
          onRetried(runs.length);
        }),
      { concurrency: AT_ONCE, discard: true },
    ),
  );
  return reportOf(seen.length, runs);
};

/**
 * Await the ends of the runs that were retried. Whoever stops waiting leaves them going.
 *
 * @param temporal the connection of `withTemporal`.
 * @param report what {@link retryMany} returns.
 * @param onEnded is called after each end, with how many have ended.
 * @returns the report, with state and failure of each run that was retried.
 */
export const awaitRetried = async (
  temporal: Temporal,
  report: RetryReport,
  onEnded: (ended: number) => void = () => undefined,
): Promise<RetryReport> => {
  let ended = 0;
  const runs = await Effect.runPromise(
    Effect.forEach(
      report.runs,
      (run) =>
        Effect.promise(async (): Promise<RetriedOne> => {
          const { runId, workflowId } = run;
          if (runId === null) return run;
          const ending = await awaitEndingPatiently(temporal, { workflowId, runId });
          ended += 1;
          onEnded(ended);
          const failure = "failure" in ending ? ending.failure : null;
          return { ...run, state: ending.state, failure };
        }),
      { concurrency: AT_ONCE },
    ),
  );
  return { ...report, runs };
};
