import { isExecutionMissing } from "@durable-payments/activities/missing-execution";
import { type RunExecution, RunRelations } from "@durable-payments/activities/run-relation";
import { isRecord } from "@durable-payments/api-core/values";
import { instructionIdOf, runsOfIdQuery } from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import {
  type ExecutionHistory,
  executionHistoryOf,
  INSTRUCTION,
  type ReadPastRun,
} from "./execution-history.ts";
import { readInput } from "./read-input.ts";
import { readRun } from "./read-run.ts";
import type { SentByOther } from "./sent-by-others.ts";
import { type KeptSettlement, readSettlement } from "./settlement.ts";

/**
 * A run with the instruction of its retry, where it ended before it took that up: what was amended, and who
 * was overruled, holds for what goes on with it.
 *
 * @throws Refused where the instruction is gone
 */
const withInstruction = async (temporal: Temporal, run: ReadPastRun): Promise<ReadPastRun> => {
  const { changes, reset, runId } = run;
  const workflowId = instructionIdOf(reset?.reason ?? "");
  const isTaken = changes.some(
    ({ by, ...change }) => by === "reset" && "answer" in change && askedBy(change.answer, runId),
  );
  if (workflowId === undefined || isTaken) return run;
  try {
    const answer = { runId, [INSTRUCTION]: await readInput(temporal, { workflowId }) };
    return { ...run, changes: [...changes, { by: "reset", answer }] };
  } catch (error) {
    if (!isExecutionMissing(error)) throw error;
    throw refused(
      `How ${runId}, an earlier run of this id, was to be retried is not known any more: its instruction is gone. Nothing was done. Check with the service what was paid before you pay it in another way.`,
    );
  }
};

/** Whether a run asked about its reset itself; its history has the answers to those that it was reset from. */
const askedBy = (answer: unknown, runId: string): boolean =>
  isRecord(answer) && (answer["runId"] ?? runId) === runId;

const historyOf = async (
  temporal: Temporal,
  workflowId: string,
  runId: string,
): Promise<ReadPastRun> => {
  try {
    const handle = temporal.client.workflow.getHandle(workflowId, runId);
    return await withInstruction(temporal, { ...readRun(await handle.fetchHistory()), runId });
  } catch (error) {
    if (!isExecutionMissing(error)) throw error;
    throw refused(
      `The history of ${runId}, an earlier run of ${workflowId}, is gone, so it is not known what it has sent. Nothing was done. Check with the service what was paid before you pay it in another way.`,
    );
  }
};

/** Read the input of a run with all amendments to it, by its own history, which has those of before its reset. */
export const readAmendedInput = async (
  temporal: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<unknown> => executionHistoryOf([await historyOf(temporal, workflowId, runId)]).input;

/** The other runs of the workflow id: of those that do something else, as this one continues them, only where all are wanted. */
const readOthers = async (
  temporal: Temporal,
  own: RunExecution,
  known: Pick<ReadonlySet<string>, "has">,
  which: "all" | "own",
): Promise<ReadonlyArray<ReadPastRun>> => {
  const { client } = temporal;
  const { workflowId } = own;
  const relations = new RunRelations(client);
  const others: Array<ReadPastRun> = [];
  for await (const other of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    const { runId } = other;
    if (other.workflowId !== workflowId || known.has(runId)) continue;
    const relation = await relations.relate(own, { workflowId, runId });
    if (relation === "other" && which === "own") continue;
    const hasOtherInput = relation === "other" || relation === "again";
    const run = await historyOf(temporal, workflowId, runId);
    others.push({ ...run, ...(hasOtherInput && { hasOtherInput }) });
  }
  return others;
};

/**
 * Read what other runs of its workflow id have sent than a run, whatever they are to it, the latest first.
 *
 * @throws Refused where one of them is gone
 */
export const readSentByOthers = async (
  temporal: Temporal,
  { runId, workflowId }: RunExecution,
): Promise<ReadonlyArray<SentByOther>> => {
  const own = { workflowId, runId };
  const others = await readOthers(temporal, own, new Set([runId]), "all");
  return others.flatMap((other) =>
    [...executionHistoryOf([other]).sends].flatMap(([step, { sent }]) => {
      const made = { runId: other.runId, step };
      if (sent.outcome === "known") return [{ ...made, id: sent.id }];
      return sent.outcome === "unknown" ? [made] : [];
    }),
  );
};

/**
 * Read what the runs of a workflow id have done: this one, those that it was reset from, and those that were reset
 * meanwhile.
 *
 * @param which `all` counts those that it continues, too: what they have sent is not what it sends; default: `own`.
 * @throws Refused where one of them is gone
 */
export const readExecutionHistory = async (
  temporal: Temporal,
  { raw, runId, workflowId }: WorkflowExecutionDescription,
  which: "all" | "own" = "own",
): Promise<ExecutionHistory> => {
  const runs = new Map<string, ReadPastRun>();
  let next: string | undefined = runId;
  while (next !== undefined && !runs.has(next)) {
    const run: ReadPastRun = await historyOf(temporal, workflowId, next);
    runs.set(next, run);
    next = run.reset?.runId;
  }
  const inOrder = [...runs.values()].toReversed();
  const isReset = raw.workflowExecutionInfo?.firstRunId !== runId;
  const others = isReset ? await readOthers(temporal, { workflowId, runId }, runs, which) : [];
  const executed = await settled(temporal, [...others, ...inOrder]);
  return executed.steps.length > 0
    ? executed
    : { ...executed, sentByOthers: await readSentByOthers(temporal, { workflowId, runId }) };
};

/**
 * What the runs' histories say, and where they do not know it, what a person found out since: what
 * was found is found for good, and "not carried out" holds for the latest run.
 */
const settled = async (
  temporal: Temporal,
  runs: ReadonlyArray<ReadPastRun>,
): Promise<ExecutionHistory> => {
  const executed = executionHistoryOf(runs);
  const sends = new Map(executed.sends);
  const settlements: Array<KeptSettlement> = [];
  for (const [step, send] of executed.sends) {
    if (send.sent.outcome !== "unknown") continue;
    for (const { runId } of runs) {
      const settlement = await readSettlement(temporal, runId, step);
      if (settlement === undefined) continue;
      settlements.push(settlement);
      const id = settlement.found?.[send.kind.idField];
      if (id !== undefined) {
        sends.set(step, { ...send, sent: { outcome: "known", id, givenBy: settlement.by } });
      } else if (runId === runs.at(-1)?.runId) {
        sends.set(step, { ...send, sent: { outcome: "notSent" } });
      }
    }
  }
  return { ...executed, sends, settlements };
};
