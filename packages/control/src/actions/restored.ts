/**
 * Takes up what Temporal remembers and a restored ledger has lost: runs, their writes, ends by a person, and waits.
 *
 * It is not obvious which of it may be believed. The result of an activity proves a write. The end of a run proves a decision
 * only if this project wrote its text: anyone may cancel a run with Temporal's own tools.
 */
import { recordProven } from "@durable-payments/activities";
import { atOnce, BATCH_MEMO, OPEN_RUNS, queryTime, WAIT } from "@durable-payments/protocol";
import { textAt } from "@durable-payments/protocol/account";
import { accountOfQueue, CANCELLED, failureTypes } from "@durable-payments/protocol/calls";
import { completedOf, memoOf, startInputOf } from "../facts/completed.ts";
import type { Connected } from "../facts/connection/connections.ts";
import { findRun, listed, PAYING, type RunOfId } from "../facts/connection/temporal.ts";
import { closeFailureOf, endRequestOf, type Event, readEndText, timeOf } from "../facts/history.ts";
import { readProgress, waitOf } from "../facts/progress.ts";
import { paymentOf, plannedFields } from "../rules/payment.ts";
import { ownerOf } from "./decide/record.ts";
import { isPurpose } from "./lost-runs.ts";

/** Returns a person's end of a run; undefined if nobody ended it. */
const endIn = (events: ReadonlyArray<Event>) => {
  const failure = closeFailureOf(events.at(-1));
  const isRejected = failure?.type === failureTypes.rejected;
  if (failure && (isRejected || failure.type === failureTypes.ended)) {
    const by = textAt(failure.details, "by") ?? "unknown";
    return { by, reason: failure.message, ...readEndText(failure.message), isRejected };
  }
  const requested = failure?.type === CANCELLED ? endRequestOf(events) : undefined;
  return requested && { ...requested, isRejected };
};

/** A lost ledger does not know whose run it is, but its input, or the queue of an activity, names the account. */
const accountOf = (
  { accounts }: Connected,
  name: string | undefined,
  owner: Awaited<ReturnType<typeof ownerOf>>,
): string => accounts.find((one) => name !== undefined && one.name === name)?.hash ?? owner.account;

/** Opens the waits of the `open` runs again; `idle` are the runs that may wait for a person: they execute no other activity. */
export const restoreWaits = async (connected: Connected, isDryRun: boolean) => {
  const { client, ledger } = connected;
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
      const owner = await ownerOf(connected, rootId);
      for (const { name, recorded } of lost)
        await ledger.openWait({ account: accountOf(connected, name, owner), ...recorded });
    }
    return { waits: lost.length, idle: isIdle ? [workflowId] : [] };
  });
  return {
    open: ids,
    waits: restored.reduce((sum, { waits }) => sum + waits, 0),
    idle: restored.flatMap(({ idle }) => idle),
  };
};

/**
 * Takes up what Temporal's histories prove and the ledger has lost: runs, writes with a result, and ends by a person, which
 * the caller records. Run by run of one id, the oldest first. A run whose last write the ledger has is read only if it may
 * have been ended.
 *
 * @param since when the restored copy was made: runs that ended before are in it.
 * @returns ids of runs that the ledger did not have; how many writes it did not have, or had without their result; results
 *   that it has under another write, of which nothing was recorded; and ends by workflow id.
 */
export const takeUpRuns = async (
  connected: Connected,
  since: Date,
  how: { readonly isDryRun: boolean; readonly who: string },
) => {
  const { client, ledger } = connected;
  const runs = new Set<string>();
  const others: Array<string> = [];
  const ends = new Map<string, NonNullable<ReturnType<typeof endIn>>>();
  let writes = 0;

  const takeUp = async ({ runId, workflowId }: RunOfId): Promise<void> => {
    const [known] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
    const rows = await ledger.rowsOf(workflowId);
    const run = await findRun(client, workflowId, runId);
    if (run === undefined) return;
    const isEnded = run.state !== "running" && run.state !== "succeeded";
    // Its last write is known, so the others are.
    const isDone = rows.some((row) => known && isPurpose(known, row) && row.state === "done");
    if (isDone && !isEnded) return;
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    const decisions = isEnded ? await ledger.decisionsOf(workflowId) : [];
    const end = isEnded ? endIn(events) : undefined;
    // An end that was overridden later is known.
    if (end && !decisions.some(({ kind }) => kind === "end" || kind === "overrule"))
      ends.set(workflowId, end);
    const input = startInputOf(events);
    const owner = await ownerOf(connected, workflowId);
    if (known === undefined) runs.add(workflowId);
    // A payment by a key is that of the run which makes it.
    const isByKey = textAt(input, "key") !== undefined;
    const payment = isByKey ? undefined : paymentOf(input, ledger);
    // A start without an account leaves it open: nobody would check what such a run had sent.
    if ((known?.account ?? null) === null && !how.isDryRun)
      await ledger.recordRun(
        {
          account: accountOf(connected, textAt(input, "account"), owner),
          workflowId,
          runId,
          type: run.type,
          // It says which file to pay again, and permits nothing.
          batch: textAt(memoOf(events), BATCH_MEMO) ?? null,
          batchRow: null,
          ...plannedFields(payment),
        },
        timeOf(events[0] ?? {}),
      );
    for (const { taskQueue, ...completed } of completedOf(events)) {
      const account = accountOf(connected, accountOfQueue(taskQueue), owner);
      const activity = { ...completed, account };
      const of = { workflowId, runId, type: run.type };
      const outcome = await recordProven(ledger, of, activity, how);
      if (outcome === "recorded") writes += 1;
      if (outcome === "other") others.push(`${workflowId} (${completed.type})`);
    }
  };

  // The open run of an id is its latest, and of the others the latest is listed first.
  const byId = new Map<string, ReadonlyArray<RunOfId>>();
  for (const listing of [OPEN_RUNS, `CloseTime >= ${queryTime(since.getTime())}`])
    for await (const run of listed(client, `${PAYING} AND ${listing}`))
      byId.set(run.workflowId, [run, ...(byId.get(run.workflowId) ?? [])]);
  await atOnce([...byId.values()], async (of) => {
    for (const run of of) await takeUp(run);
  });
  return { taken: { runs: [...runs].toSorted(), writes, others: others.toSorted() }, ends };
};
