/**
 * What Temporal remembers, and a restored ledger does not: runs, their writes, ends by a person, and waits.
 */
import { recordProven } from "@durable-payments/activities";
import type { NewDecision } from "@durable-payments/ledger";
import { atOnce, BATCH_MEMO, OPEN_RUNS, queryText, WAIT } from "@durable-payments/protocol";
import { textAt } from "@durable-payments/protocol/account";
import { accountOfQueue, failureTypes } from "@durable-payments/protocol/calls";
import { completedOf, memoOf, startInputOf } from "../facts/completed.ts";
import type { Operations } from "../facts/connection/operations.ts";
import { findRun, listed, PAYING, type RunOfId } from "../facts/connection/temporal.ts";
import { endRequestOf, readEndText, timeOf } from "../facts/history.ts";
import { readFailureOf, readProgress, waitOf } from "../facts/progress.ts";
import { paymentOf } from "../rules/payment.ts";
import { paymentFields } from "../rules/run-view.ts";
import { ownerOf } from "./decide/record.ts";
import { isPurpose } from "./lost-runs.ts";

/** The end of a run by a person, as Temporal has it. */
interface KnownEnd extends Pick<NewDecision, "by" | "reason"> {
  readonly isRejected: boolean;
}

const UNKNOWN = "unknown";

/** Returns a person's end of a run; undefined if nobody ended it. */
const readEndOf = async (
  client: Operations["client"],
  { runId, workflowId }: RunOfId,
): Promise<KnownEnd | undefined> => {
  const run = await readProgress(client, workflowId, runId);
  const failure = run && (await readFailureOf(client, workflowId, run));
  const isRejected = failure?.type === failureTypes.rejected;
  if (failure && (isRejected || failure.type === failureTypes.ended)) {
    const by = textAt(failure.details, "by") ?? UNKNOWN;
    return { by, reason: failure.message, ...readEndText(failure.message), isRejected };
  }
  if (run?.state !== "cancelled") return undefined;
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const requested = endRequestOf(events ?? []);
  return requested === undefined
    ? undefined
    : { by: UNKNOWN, reason: requested, ...readEndText(requested), isRejected };
};

/** Finds workflow ids that a person ended but whose end the ledger has lost. */
export const findEnds = async (
  operations: Operations,
  since: Date,
): Promise<ReadonlyMap<string, KnownEnd>> => {
  const { client, ledger } = operations;
  const query = `ExecutionStatus IN ("Failed", "Canceled", "Terminated") AND CloseTime >= ${queryText(since.toISOString())}`;
  // Each run separately: a later run of the id may have started.
  const runs: Array<RunOfId> = [];
  for await (const run of listed(client, query)) runs.push(run);
  const ended = await atOnce(runs, async (run) => {
    const decisions = await ledger.decisionsOf(run.workflowId);
    // An end that was overridden later is known.
    const isKnown = decisions.some(({ kind }) => kind === "end" || kind === "overrule");
    const end = isKnown ? undefined : await readEndOf(client, run);
    return end === undefined ? [] : [[run.workflowId, end] as const];
  });
  return new Map(ended.flat());
};

/** Opens the waits of the `open` runs again; `idle` are the runs that may wait for a person: they execute no other activity. */
export const restoreWaits = async (
  operations: Operations,
  isDryRun: boolean,
): Promise<{
  readonly waits: number;
  readonly idle: ReadonlyArray<string>;
  readonly open: ReadonlySet<string>;
}> => {
  const { client, ledger } = operations;
  const known = new Set(
    (await ledger.waits({ isOpen: true })).map(({ activityId, runId }) => `${runId} ${activityId}`),
  );
  const ids = new Set<string>();
  const open = listed(client, OPEN_RUNS);
  for await (const { workflowId } of open) ids.add(workflowId);
  const restored = await atOnce([...ids], async (workflowId) => {
    const run = await readProgress(client, workflowId);
    if (run === undefined) return { waits: 0, idle: [] };
    const { pending, rootId, runId } = run;
    const isIdle = pending.every(({ type }) => Object.values<string>(WAIT).includes(type));
    const lost = pending
      .filter(({ id }) => !known.has(`${runId} ${id}`))
      .flatMap((one) =>
        waitOf(one).map((wait) => {
          const recorded = { ...wait, workflowId, runId, activityId: one.id };
          return { recorded, name: accountOfQueue(one.taskQueue) };
        }),
      );
    if (lost.length > 0 && !isDryRun) {
      // A lost ledger does not know whose run it is, but the queue of the activity does.
      const owner = await ownerOf(operations, rootId);
      for (const { name, recorded } of lost) {
        const named = operations.accounts.find((one) => name !== undefined && one.name === name);
        await ledger.openWait({ account: named?.hash ?? owner.account, ...recorded });
      }
    }
    return { waits: lost.length, idle: isIdle ? [workflowId] : [] };
  });
  return {
    open: ids,
    waits: restored.reduce((sum, { waits }) => sum + waits, 0),
    idle: restored.flatMap(({ idle }) => idle),
  };
};

/** Facts that a recovery takes up from the histories of Temporal. */
export interface TakenUp {
  /** Ids of runs that the ledger did not have. */
  readonly runs: ReadonlyArray<string>;
  /** Writes that the ledger did not have, or had without their result. */
  readonly writes: number;
  /** Results that the ledger has under another write: nothing was recorded. */
  readonly others: ReadonlyArray<string>;
}

/** Reads one run, and records what it proves. */
const takeUpRun = async (
  operations: Operations,
  { runId, workflowId }: RunOfId,
  { isDryRun, who }: { readonly isDryRun: boolean; readonly who: string },
): Promise<TakenUp> => {
  const { client, ledger } = operations;
  const nothing = { runs: [], writes: 0, others: [] };
  const [known] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  const rows = await ledger.rowsOf(workflowId);
  // Its last write is known, so the others are.
  if (known !== undefined && rows.some((row) => isPurpose(known, row) && row.state === "done"))
    return nothing;
  const run = await findRun(client, workflowId, runId);
  if (run === undefined) return nothing;
  const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
  const input = startInputOf(events);
  const owner = await ownerOf(operations, workflowId);
  const hashOf = (name: string | undefined): string =>
    operations.accounts.find((one) => name !== undefined && one.name === name)?.hash ??
    owner.account;
  const payment = paymentOf(input, ledger);
  if (known === undefined && !isDryRun)
    await ledger.recordRun(
      {
        account: hashOf(textAt(input, "account")),
        workflowId,
        runId,
        type: run.type,
        // It says which file to pay again, and permits nothing.
        batch: textAt(memoOf(events), BATCH_MEMO) ?? null,
        batchRow: null,
        ...paymentFields(payment),
        alias: payment?.alias ?? null,
      },
      timeOf(events[0] ?? {}),
    );
  const others: Array<string> = [];
  let writes = 0;
  for (const { taskQueue, ...completed } of completedOf(events)) {
    const activity = { ...completed, account: hashOf(accountOfQueue(taskQueue)) };
    const of = { workflowId, runId, type: run.type };
    const outcome = await recordProven(ledger, of, activity, { isDryRun, who });
    if (outcome === "recorded") writes += 1;
    if (outcome === "other") others.push(`${workflowId} (${completed.type})`);
  }
  return { runs: known === undefined ? [workflowId] : [], writes, others };
};

/**
 * Takes up what Temporal's histories prove and the ledger has lost: runs, and writes with a result. Run by run of one id, the
 * oldest first. A run whose last write the ledger has is not read.
 *
 * @param since when the restored copy was made: runs that ended before are in it.
 */
export const takeUpRuns = async (
  operations: Operations,
  since: Date,
  how: { readonly isDryRun: boolean; readonly who: string },
): Promise<TakenUp> => {
  const { client } = operations;
  const byId = new Map<string, Array<RunOfId & { readonly isOpen: boolean }>>();
  for (const closed of [OPEN_RUNS, `CloseTime >= ${queryText(since.toISOString())}`])
    for await (const run of listed(client, `${PAYING} AND ${closed}`))
      byId.set(run.workflowId, [run, ...(byId.get(run.workflowId) ?? [])]);
  const taken = await atOnce([...byId.values()], async (runs) => {
    const all: Array<TakenUp> = [];
    // The open run of an id is the latest.
    for (const run of runs.toSorted((one, other) => Number(one.isOpen) - Number(other.isOpen)))
      all.push(await takeUpRun(operations, run, how));
    return all;
  });
  const all = taken.flat();
  return {
    runs: [...new Set(all.flatMap(({ runs }) => runs))],
    writes: all.reduce((sum, { writes }) => sum + writes, 0),
    others: all.flatMap(({ others }) => others),
  };
};
