import { isExecutionMissing } from "@durable-payments/activities/missing-execution";
import { isRecord } from "@durable-payments/api-core/values";
import { type AuditEntry, instructionIdOf, runsOfIdQuery, STEP } from "@durable-payments/protocol";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { Temporal } from "../connection/temporal.ts";
import { Unreadable } from "../history/events.ts";
import { masked } from "../history/masked.ts";
import { readInput } from "../history/read-input.ts";
import { readRun } from "../history/read-run.ts";
import type { ReadHistory } from "../history/run-history.ts";
import { type KeptSettlement, readSettlements } from "../history/settlement.ts";
import { describeRun } from "../runs/state.ts";
import { heldBy, pauseEntries } from "./pauses.ts";
import { decisionEntries, entriesOfRun } from "./run-entries.ts";
import { type AuditedInstruction, isInstruction, isOverruledBatch } from "./shapes.ts";

/** Who or what did what in the runs of a workflow id, with which key, outcome and reason. */
export interface AuditReport {
  readonly workflowId: string;
  /** The latest run. */
  readonly runId: string;
  /** All its runs that Temporal still has, the latest first. */
  readonly runIds: ReadonlyArray<string>;
  /** Oldest first, of all these runs. */
  readonly entries: ReadonlyArray<AuditEntry & { readonly runId: string }>;
}

/** What a person found out after the run had ended, which the run itself cannot know. */
const settledEntry = ({ at, by, found, reason, step }: KeptSettlement): AuditEntry => ({
  at: new Date(at).toISOString(),
  who: by,
  step,
  what: found === undefined ? "settled: not carried out" : "settled: carried out",
  detail: { reason, ...found },
});

/** All histories of a workflow id that Temporal still has, by run id. */
const readHistories = async (
  { client }: Temporal,
  workflowId: string,
  latest: string,
): Promise<ReadonlyMap<string, History>> => {
  const runIds = new Set([latest]);
  for await (const run of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    if (run.workflowId === workflowId) runIds.add(run.runId);
  }
  const histories = new Map<string, History>();
  for (const runId of runIds) {
    try {
      histories.set(runId, await client.workflow.getHandle(workflowId, runId).fetchHistory());
    } catch (error) {
      // Visibility may still list a run whose retention is over.
      if (!isExecutionMissing(error)) throw error;
    }
  }
  return histories;
};

/** The instruction by which a run was retried; undefined where it was reset in another way, or it is gone. */
const readInstruction = async (
  temporal: Temporal,
  { reset }: ReadHistory,
): Promise<AuditedInstruction | undefined> => {
  const id = instructionIdOf(reset?.reason ?? "");
  if (id === undefined) return undefined;
  try {
    const instruction = await readInput(temporal, { workflowId: id });
    return isInstruction(instruction) ? instruction : undefined;
  } catch (error) {
    if (isExecutionMissing(error) || error instanceof Unreadable) return undefined;
    throw error;
  }
};

/** What the input of a batch says of rows that people had rejected in others. */
const overruledAtStart = ({ startedWith }: ReadHistory): ReadonlyArray<AuditEntry> => {
  const overruled = isRecord(startedWith) ? startedWith["overruled"] : undefined;
  return Array.isArray(overruled)
    ? decisionEntries(STEP.awaitApproval, overruled.filter(isOverruledBatch))
    : [];
};

const entriesOf = async (
  temporal: Temporal,
  runId: string,
  histories: ReadonlyMap<string, History>,
): Promise<ReadonlyArray<AuditEntry>> => {
  const history = histories.get(runId);
  if (history === undefined) return [];
  const read = readRun(history);
  const isBeforeRead = read.reset !== undefined && histories.has(read.reset.runId);
  const settlements = await Promise.all(
    read.steps.map(({ name }) => readSettlements(temporal, runId, name)),
  );
  return [
    ...entriesOfRun(history, await readInstruction(temporal, read), isBeforeRead),
    ...overruledAtStart(read),
    ...settlements.flat().map(settledEntry),
    ...(await pauseEntries(temporal, heldBy(read.activities))),
  ];
};

/** What two runs have alike is one entry: a reset takes over what was before it. */
const distinct = <Entry extends AuditEntry>(
  entries: ReadonlyArray<Entry>,
): ReadonlyArray<Entry> => {
  const seen = new Set<string>();
  return entries.filter(({ at, step, what, who }) => {
    const entry = JSON.stringify([at, who, step, what]);
    return !seen.has(entry) && seen.add(entry);
  });
};

/**
 * Read the audit trail of all runs of a workflow id, from their histories: who started, amended, retried,
 * approved, decided, paused, resumed, cancelled, terminated and settled what, when and why, and what was sent
 * under which key. No worker is asked.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the runs.
 * @returns entries, oldest first, with values masked that must not be shown; those of runs whose retention is
 *   over are gone.
 * @throws NotFound where there is no such run.
 * @example
 * const { entries } = await auditRun(temporal, "invoice-2026-001");
 */
export const auditRun = async (temporal: Temporal, workflowId: string): Promise<AuditReport> => {
  const { runId } = await describeRun(temporal, workflowId);
  const histories = await readHistories(temporal, workflowId, runId);
  const all = await Promise.all(
    [...histories.keys()].map(async (run) =>
      (await entriesOf(temporal, run, histories)).map((entry) => ({ ...entry, runId: run })),
    ),
  );
  const entries = distinct(all.flat().toSorted((a, b) => (a.at < b.at ? -1 : 1)));
  return { workflowId, runId, runIds: [...histories.keys()], entries: masked(entries) };
};
