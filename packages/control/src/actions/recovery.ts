import type { NewDecision } from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol/account";
import { atOnce, OPEN_RUNS, queryText, WAIT } from "@durable-payments/protocol";
import { accountOfQueue, failureTypes } from "@durable-payments/protocol/calls";
import type { Operations } from "../facts/connection/operations.ts";
import { findRun, listed, type RunOfId } from "../facts/connection/temporal.ts";
import { type Acting, actorOf, decisionOn, nudge, ownerOf } from "./decide/record.ts";
import { endRequestOf, readEndText } from "../facts/history.ts";
import { readFailureOf, readProgress, waitOf } from "../facts/progress.ts";

/** The findings and actions of a recovery. */
export type RecoveryReport = Awaited<ReturnType<typeof recover>>;

/** How a recovery is done. */
export interface RecoverOptions extends Acting {
  /** When the restored copy was made; default: a week ago. */
  readonly since?: Date | undefined;
  readonly isDryRun: boolean;
}

const WEEK_MS = 7 * 86_400_000;
const UNSETTLED = ["sending", "unknown", "asking"] as const;

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
const findEnds = async (
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

/** Opens the waits of open runs again; `idle` are the runs that may wait for a person: they execute no other activity. */
const restoreWaits = async (
  operations: Operations,
  isDryRun: boolean,
): Promise<{ readonly waits: number; readonly idle: ReadonlyArray<string> }> => {
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
    waits: restored.reduce((sum, { waits }) => sum + waits, 0),
    idle: restored.flatMap(({ idle }) => idle),
  };
};

const findLostRuns = async (
  { client, ledger }: Operations,
  since: Date,
): Promise<ReadonlyArray<string>> => {
  const runs = await ledger.runs({});
  const recent = runs.filter(({ startedAt }) => startedAt >= since.getTime());
  const lost = await atOnce(recent, async ({ workflowId }) =>
    (await findRun(client, workflowId)) === undefined ? [workflowId] : [],
  );
  return lost.flat();
};

/**
 * Recovers after Temporal's database or the ledger was restored to an earlier copy. Reports the differences, records ends
 * and waits that the ledger has lost, and begins a new epoch, in which no earlier row proves that nothing was sent. Then
 * sends are allowed again.
 *
 * @param options who recovers and why, since when, and whether it is only reported.
 * @returns the findings.
 */
export const recover = async (
  operations: Operations,
  { isDryRun, since = new Date(Date.now() - WEEK_MS), ...acting }: RecoverOptions,
) => {
  const { client, ledger } = operations;
  const actor = actorOf(acting, !isDryRun);
  const state = await ledger.state();
  const unknown = await ledger.rows({ states: UNSETTLED });
  const pauses = await ledger.pauses();
  const ends = await findEnds(operations, since);
  const lostRuns = await findLostRuns(operations, since);
  const { idle, waits } = await restoreWaits(operations, isDryRun);
  const report = {
    ledger: state,
    /** Whether a person has paused all sends: they stay paused. */
    isPaused: pauses.some(({ scope }) => scope === "all"),
    /** Writes with an unknown outcome: they are reconciled. */
    unknown: unknown.length,
    /** Ends of workflow ids, and waits, that Temporal remembers and the ledger does not: recorded again. */
    ends: [...ends.keys()],
    waits,
    /** Runs that the ledger remembers and Temporal does not: start them again by the same id and input. */
    lostRuns,
    /** The new epoch; undefined for a dry run. */
    mark: undefined,
  };
  if (isDryRun) return report;
  // Before sends are allowed again.
  for (const [workflowId, { by, isRejected, reason }] of ends) {
    const owner = await ownerOf(operations, workflowId);
    // Under the name of who ended it, not of who recovers.
    const end = { by, how: `Temporal, recovered by ${actor.by}`, reason };
    const value = { recovered: true, ...(isRejected && { rejected: true }) };
    await ledger.decide(decisionOn(owner, "end", end, { value }));
  }
  const mark = await ledger.recover(actor);
  // Runs that wait in the old epoch look again. The tracker nudges runs that Temporal did not reach.
  const waiting = await ledger.rows({ states: ["ready", ...UNSETTLED] });
  const ids = [...new Set([...waiting.map(({ workflowId }) => workflowId), ...idle])];
  await atOnce(ids, (workflowId) => nudge(client, workflowId));
  return { ...report, mark };
};
