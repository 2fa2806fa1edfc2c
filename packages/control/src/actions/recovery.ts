import { atOnce } from "@durable-payments/protocol";
import type { Connected } from "../facts/connection/connections.ts";
import { type Acting, actorOf, decisionOn, nudge, ownerOf } from "./decide/record.ts";
import { findLostRuns } from "./lost-runs.ts";
import { restoreWaits, takeUpRuns } from "./restored.ts";

/** The findings and actions of a recovery. */
export type RecoveryReport = Awaited<ReturnType<typeof recover>>;

/** How a recovery is done. */
export interface RecoverOptions extends Acting {
  /** When the restored copy was made; default: a week ago. */
  readonly since?: Date | undefined;
  readonly isDryRun: boolean;
  /** Called after each part with what was done. */
  readonly onPart?: (done: string) => void;
}

const WEEK_MS = 7 * 86_400_000;
const UNSETTLED = ["sending", "unknown", "asking"] as const;

/**
 * Recovers after Temporal's database or the ledger was lost, or restored to an earlier copy. Reports the differences. Records
 * what only Temporal remembers: runs, writes with a result, ends and waits. Records of which runs Temporal knows nothing, and
 * begins a new epoch, in which no earlier row proves that nothing was sent. Then sends are allowed again.
 *
 * @param options who recovers and why, since when, and whether it is only reported.
 * @returns the findings.
 */
export const recover = async (
  connected: Connected,
  { isDryRun, onPart, since = new Date(Date.now() - WEEK_MS), ...acting }: RecoverOptions,
) => {
  const { client, ledger } = connected;
  const actor = actorOf(acting, !isDryRun);
  const state = await ledger.state();
  const pauses = await ledger.pauses();
  // Ends and waits find the accounts of the runs that this records.
  const { ends, taken } = await takeUpRuns(connected, since, {
    isDryRun,
    who: `recover, by ${actor.by}`,
  });
  onPart?.("the ended runs of Temporal were read");
  const { idle, open, waits } = await restoreWaits(connected, isDryRun);
  onPart?.("the runs and waits of Temporal were read");
  const { lost, ...left } = await findLostRuns(connected, open);
  onPart?.("the runs of Temporal and the ledger were compared");
  const unknown = await ledger.rows({ states: UNSETTLED });
  const report = {
    ledger: state,
    /** Whether a person has paused all sends: they stay paused. */
    isPaused: pauses.some(({ scope }) => scope === "all"),
    /** Writes with an unknown outcome: they are reconciled. */
    unknown: unknown.length,
    /** Runs and writes of which only Temporal had the result: recorded again. */
    taken,
    /** Ends of workflow ids, and waits, that Temporal remembers and the ledger does not: recorded again. */
    ends: [...ends.keys()].toSorted(),
    waits,
    /** Unfinished work without a run, and what continues it. */
    ...left,
    /** The new epoch; undefined for a dry run. */
    mark: undefined,
  };
  if (isDryRun) return report;
  // Before sends are allowed again.
  for (const [workflowId, { by, isRejected, reason }] of ends) {
    const owner = await ownerOf(connected, workflowId);
    // Under the name of who ended it, not of who recovers.
    const end = { by, how: `Temporal, recovered by ${actor.by}`, reason };
    const value = { recovered: true, ...(isRejected && { rejected: true }) };
    await ledger.decide(decisionOn(owner, "end", end, { value }));
  }
  const missing = { runId: null, endState: "missing", endedAt: state.now } as const;
  const none = { endType: null, endReason: null };
  await ledger.recordEnds(lost.map((workflowId) => ({ workflowId, ...missing, ...none })));
  const mark = await ledger.recover(actor);
  onPart?.("everything but the notification of waiting runs, which is left to the tracker");
  // The tracker notifies the runs of the writes that the ledger knows.
  await atOnce(idle, (workflowId) => nudge(client, workflowId).catch(() => undefined));
  return { ...report, mark };
};
