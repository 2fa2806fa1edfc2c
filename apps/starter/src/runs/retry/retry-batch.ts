import { setTimeout as sleep } from "node:timers/promises";
import * as Effect from "effect/Effect";
import type { Temporal } from "../../connection/temporal.ts";
import { ENDED_BY_PERSON, StarterError } from "../../errors.ts";
import { type Output, styled } from "../../output/output.ts";
import { cut, wrap } from "../../output/text.ts";
import { listRuns } from "../run-list.ts";
import type { RunFilter } from "../run-query.ts";
import type { RetryFlags } from "./plan-retry.ts";
import { planRetryOf, retryRun } from "./retry-run.ts";

/** What became of one run of a batch. */
export interface BatchedRun {
  readonly workflowId: string;
  /**
   * `endedByPerson`: a person ended a run of this id, and no bulk retry goes past that. `notRetried`:
   * it cannot be, and the reason says why. `failed`: Temporal did not do it.
   */
  readonly status: "planned" | "retried" | "endedByPerson" | "notRetried" | "failed";
  /** The run that goes on. */
  readonly runId: string | null;
  /** The step that it goes on from. */
  readonly from: string | null;
  readonly reason: string | null;
}

/** What became of a batch. */
export interface BatchReport {
  readonly count: number;
  readonly planned: number;
  readonly retried: number;
  readonly endedByPerson: number;
  readonly notRetried: number;
  readonly failed: number;
  readonly runs: ReadonlyArray<BatchedRun>;
}

/** How a batch is to be retried. */
export interface BatchFlags extends RetryFlags {
  /** Only plans. */
  readonly isDryRun: boolean;
  /** Runs a second. */
  readonly rate: number;
}

/** The ids of the runs that a filter finds, each once. */
export const findBatch = async (
  temporal: Temporal,
  filter: RunFilter,
): Promise<ReadonlyArray<string>> => {
  const ids = new Set<string>();
  for await (const { workflowId } of listRuns(temporal, filter)) ids.add(workflowId);
  return [...ids];
};

const AT_ONCE = 8;

const retryOne = async (
  temporal: Temporal,
  workflowId: string,
  flags: BatchFlags,
): Promise<BatchedRun> => {
  const none = { workflowId, runId: null, from: null, reason: null };
  try {
    if (flags.isDryRun) {
      const { plan } = await planRetryOf(temporal, workflowId, flags);
      return { ...none, status: "planned", from: plan.from };
    }
    const { plan, runId } = await retryRun(temporal, workflowId, flags);
    return { ...none, status: "retried", runId, from: plan.from };
  } catch (error) {
    const isRefused = error instanceof StarterError;
    const faults = isRefused
      ? (error.faults ?? []).map(({ field, problem }) => ` ${field} ${problem}.`)
      : [];
    return {
      ...none,
      status: !isRefused
        ? "failed"
        : error.type === ENDED_BY_PERSON
          ? "endedByPerson"
          : "notRetried",
      reason: `${error instanceof Error ? error.message : String(error)}${faults.join("")}`,
    };
  }
};

const BAR = 24;

const bar = (done: number, count: number): string =>
  `[${"#".repeat(Math.floor((BAR * done) / count)).padEnd(BAR, ".")}] ${done} of ${count}`;

const reportOf = (count: number, runs: ReadonlyArray<BatchedRun>): BatchReport => {
  const having = (status: BatchedRun["status"]) =>
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
const pacer = (rate: number): ((index: number) => Promise<void>) => {
  const began = performance.now();
  return (index) => sleep(Math.max(0, began + (index * 1000) / rate - performance.now()));
};

/**
 * Retries runs, a few at a time and no more than `rate` in a second. Where it is interrupted, what
 * was retried goes on, and the same command retries the others.
 */
export const retryBatch = async (
  temporal: Temporal,
  workflowIds: ReadonlyArray<string>,
  flags: BatchFlags,
  output: Output,
): Promise<BatchReport> => {
  const count = workflowIds.length;
  const runs: Array<BatchedRun> = [];
  const turnOf = pacer(flags.rate);
  output.onInterrupt = () => {
    output.live(undefined);
    output.say(
      `Interrupted after ${runs.length} of ${count}; the same command retries the others.`,
    );
  };
  await Effect.runPromise(
    Effect.forEach(
      workflowIds,
      (workflowId, index) =>
        Effect.promise(async () => {
          await turnOf(index);
          runs.push(await retryOne(temporal, workflowId, flags));
          output.live(bar(runs.length, count));
        }),
      { concurrency: AT_ONCE, discard: true },
    ),
  );
  output.live(undefined);
  output.onInterrupt = undefined;
  return reportOf(count, runs);
};

const LONGEST_ID = 39;

const STYLES = {
  planned: "cyan",
  retried: "green",
  endedByPerson: "yellow",
  notRetried: "yellow",
  failed: "red",
} as const;

const LONGEST_STATUS = 13;

const runText = ({ from, reason, runId, status, workflowId }: BatchedRun): string => {
  const id = workflowId.length > LONGEST_ID ? `${workflowId}\n` : "";
  const told = styled(STYLES[status], status.padEnd(LONGEST_STATUS));
  const shown = (id === "" ? workflowId : "").padEnd(LONGEST_ID);
  const line = `${id}${shown}  ${told}  ${from === null ? "" : cut(`from ${from}`, 23)}`.trimEnd();
  return runId !== null || reason === null ? line : `${line}\n${wrap(reason, "  ")}`;
};

/** A batch, as a person reads it. */
export const batchText = (report: BatchReport): string => {
  const { count, endedByPerson, failed, notRetried, planned, retried, runs } = report;
  const parts = [
    ...(planned > 0 ? [`${planned} would be retried`] : []),
    ...(retried > 0 ? [`${retried} retried`] : []),
    ...(endedByPerson > 0 ? [`${endedByPerson} left out, ended by a person`] : []),
    ...(notRetried > 0 ? [`${notRetried} cannot be retried so`] : []),
    ...(failed > 0 ? [`${failed} could not be reached`] : []),
  ];
  return [...runs.map(runText), `${count} runs: ${parts.join(", ") || "nothing to do"}`].join("\n");
};
