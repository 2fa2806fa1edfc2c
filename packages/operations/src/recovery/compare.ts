import { messageOf } from "@durable-payments/api-core/values";
import type { Journal, RecordedSend } from "@durable-payments/journal";
import { type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import type { OpenedJournal } from "../connection/journal.ts";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { describeRun } from "../runs/state.ts";
import { runQuery } from "../runs/query.ts";

/** A workflow id of which the journal has sends. */
export interface KnownWrites {
  readonly workflowId: string;
  readonly sends: ReadonlyArray<RecordedSend>;
  /** How Temporal has it; `lost` where it does not know the run that made the last of the sends. */
  readonly standing: "running" | "ended" | "lost";
  /** Whether Temporal has a run of this id that has ended: lost is one that came after it. */
  readonly hasEndedRun: boolean;
}

/** A run that sent something, as Temporal has it, of which the journal has nothing. */
export interface UnrecordedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly steps: ReadonlyArray<{ readonly step: string; readonly operation: string }>;
  /** Why it cannot be read, so that nobody knows what it sent; mostly left out. */
  readonly unread?: string;
}

/** Calls of the server that are under way at once. */
const AT_ONCE = 20;

const inParts = async <A, B>(
  items: ReadonlyArray<A>,
  work: (item: A) => Promise<B>,
): Promise<ReadonlyArray<B>> => {
  const done: Array<B> = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))));
  }
  return done;
};

/** Whether the latest run of an id goes on; undefined where Temporal has none. */
const isRunning = async (
  { client }: Temporal,
  workflowId: string,
): Promise<boolean | undefined> => {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === "RUNNING" || status.name === "PAUSED";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

const hasRun = async ({ client }: Temporal, send: RecordedSend): Promise<boolean> => {
  try {
    await client.workflow.getHandle(send.workflowId, send.runId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
};

/** All that the journal has since, by workflow id, with how Temporal has it. */
export const writesSince = async (
  temporal: Temporal,
  { journal }: OpenedJournal,
  since: Date,
): Promise<ReadonlyArray<KnownWrites>> => {
  const byId = new Map<string, Array<RecordedSend>>();
  for await (const send of journal.since(since.getTime())) {
    byId.set(send.workflowId, [...(byId.get(send.workflowId) ?? []), send]);
  }
  return inParts([...byId], async ([workflowId, sends]): Promise<KnownWrites> => {
    const goesOn = await isRunning(temporal, workflowId);
    const writes = { workflowId, sends, hasEndedRun: goesOn === false };
    if (goesOn === true) return { ...writes, standing: "running" };
    const last = sends.at(-1);
    const isKnown = last !== undefined && (await hasRun(temporal, last));
    return { ...writes, standing: isKnown ? "ended" : "lost" };
  });
};

/** The steps of a run that have sent something, or may have. */
const sentSteps = async (
  temporal: Temporal,
  { runId, workflowId }: Pick<WorkflowExecutionInfo, "runId" | "workflowId">,
): Promise<UnrecordedRun["steps"]> => {
  const run = await describeRun(temporal, workflowId, runId);
  const { sends } = await readExecutionHistory(temporal, run, "all");
  return [...sends].flatMap(([step, { kind, sent }]) =>
    sent.outcome === "known" || sent.outcome === "unknown"
      ? [{ step, operation: kind.operation }]
      : [],
  );
};

/** Find runs that were under way since and have sent something, of which none of the journals has anything. */
export const unrecordedSince = async (
  temporal: Temporal,
  journals: ReadonlyArray<Journal>,
  since: Date,
): Promise<ReadonlyArray<UnrecordedRun>> => {
  const query = runQuery({ standing: [], since });
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of temporal.client.workflow.list({ query, pageSize: 1_000 })) runs.push(run);
  const checked = await inParts(runs, async ({ runId, workflowId }) => {
    const known = await Promise.all(journals.map((journal) => journal.find({ workflowId })));
    if (known.some((sends) => sends.length > 0)) return [];
    try {
      const steps = await sentSteps(temporal, { runId, workflowId });
      return steps.length === 0 ? [] : [{ workflowId, runId, steps }];
    } catch (error) {
      if (isNoAnswer(error)) throw error;
      // It hides none of the others, and is for a person to look at.
      return [{ workflowId, runId, steps: [], unread: messageOf(error) }];
    }
  });
  return checked.flat();
};
