/**
 * Runs that the ledger has and Temporal does not, and what continues each.
 *
 * Only Temporal has the inputs: the ledger keeps no account number. So nothing here starts a run again. It names what is
 * unfinished, and nothing else: a run whose payout was made needs no run, because the tracker follows payouts. A run that is
 * started under its own id, with its input, continues: its steps have their rows. Under another id, it would be paid twice.
 */
import { lookUp } from "@durable-payments/client/values";
import { type Ledger, PURPOSES, type Run, type WriteRow } from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { chunkId } from "@durable-payments/protocol/calls";
import type { Connected } from "../facts/connection/connections.ts";
import { findRun } from "../facts/connection/temporal.ts";

/** Whether a write is the one for which its run exists; by a key, another run may have made it. */
export const isPurpose = (
  { type, workflowId }: Pick<Run, "type" | "workflowId">,
  row: Pick<WriteRow, "operation" | "ownerId" | "workflowId">,
): boolean =>
  [row.ownerId, row.workflowId].includes(workflowId) && lookUp(PURPOSES, type) === row.operation;

const PAGE = 1_000;

/** Type of a batch whose rows are failed runs. */
const REPAIR = "repair";

/** Returns the runs of a page of which Temporal knows none. */
export const missingAmong = async (
  client: Connected["client"],
  runs: ReadonlyArray<Run>,
): Promise<ReadonlyArray<Run>> => {
  const missing = await atOnce(runs, async (run) =>
    (await findRun(client, run.workflowId)) === undefined ? [run] : [],
  );
  return missing.flat();
};

/** Whether a run has nothing left to do, and the id of its topmost parent, which alone can be started again. */
const readLost = async (ledger: Ledger, run: Run) => {
  const { isStopped, workflowId } = run;
  const rows = await ledger.rowsOf(workflowId);
  const decisions = await ledger.decisionsOf(workflowId);
  const last = decisions.findLast(({ kind }) => kind === "start" || kind === "amend");
  const own = rows.filter(({ ownerId }) => ownerId === workflowId);
  const purpose = rows.find((row) => isPurpose(run, row));
  return {
    run,
    /** Its file has the input from before. */
    isAmended: last?.kind === "amend",
    isDone: isStopped || purpose?.state === "done",
    isFollowed: own.some(({ standing }) => standing === "made"),
    rootId: own[0]?.rootId ?? workflowId,
  };
};

/** Returns those of some runs that are unfinished: a payout that was made needs no run, a wait does. */
export const unfinishedAmong = async (
  ledger: Ledger,
  runs: ReadonlyArray<Run>,
): Promise<ReadonlyArray<Run>> => {
  const read = await atOnce(runs, (run) => readLost(ledger, run));
  return read.flatMap(({ isDone, run }) => (isDone ? [] : [run]));
};

/** Counts the rows that have not started of each file without a workflow that would start them. */
const findStalled = async ({ client, ledger }: Pick<Connected, "client" | "ledger">) => {
  const stalled = new Map<string, number>();
  for (const batch of await ledger.batches({ states: ["reading", "needsApproval", "approved"] })) {
    const chunks = Array.from({ length: batch.chunks }, (_, at) => at + 1);
    const runs = await atOnce(chunks, (number) => findRun(client, chunkId(batch.id, number)));
    if (runs.every((run) => run?.state === "running")) continue;
    const counts = await ledger.batchCounts(batch.id);
    const waiting = counts.filter(({ status }) => status === "notStarted");
    const rows = waiting.reduce((sum, count) => sum + count.rows, 0);
    if (rows > 0) stalled.set(batch.id, rows);
  }
  return stalled;
};

/**
 * Finds the runs of the ledger of which Temporal knows none. Nothing is changed.
 *
 * @param open ids that have an open run in Temporal: they are not asked for one by one.
 */
export const findLostRuns = async (
  { client, ledger }: Pick<Connected, "client" | "ledger">,
  open: ReadonlySet<string>,
) => {
  const files = await findStalled({ client, ledger });
  const unfinished = new Map<string, string>();
  const lost: Array<string> = [];
  let followed = 0;
  for (let after: string | undefined, isLast = false; !isLast;) {
    const page = await ledger.openRuns({ ...(after !== undefined && { after }), limit: PAGE });
    isLast = page.length < PAGE;
    after = page.at(-1)?.workflowId;
    const missing = await missingAmong(
      client,
      page.filter(({ workflowId }) => !open.has(workflowId)),
    );
    const read = await atOnce(missing, (run) => readLost(ledger, run));
    for (const { isAmended, isDone, isFollowed, rootId, run } of read) {
      const { batch, type, workflowId } = run;
      lost.push(workflowId);
      if (isFollowed) followed += 1;
      if (isDone) continue;
      if (batch !== null && !isAmended) files.set(batch, (files.get(batch) ?? 0) + 1);
      else if (rootId === workflowId) unfinished.set(workflowId, type);
      else if (!open.has(rootId)) unfinished.set(rootId, unfinished.get(rootId) ?? "its parent");
    }
  }
  // In the same order at each call: Temporal has its runs in none.
  const sorted = <A>(of: ReadonlyMap<string, A>) =>
    [...of].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const named = await atOnce(sorted(files), async ([id, rows]) => {
    const batch = await ledger.batch(id);
    return { id, file: batch?.file ?? id, rows, type: batch?.type ?? null };
  });
  return {
    /** Files of which rows have not started, or whose run is lost and unfinished: each continues once its file is given again. */
    files: named.filter(({ type }) => type !== REPAIR),
    /** Repairs that nothing continues: each is cancelled, and another one retries what still fails. */
    repairs: named.filter(({ type }) => type === REPAIR),
    /** Each continues once it is started again with the same id and input. */
    unfinished: sorted(unfinished).map(([workflowId, type]) => ({ workflowId, type })),
    /** Runs whose payout was made: the tracker follows it without a run. */
    followed,
    /** All ids of which Temporal has no run. */
    lost,
  };
};
