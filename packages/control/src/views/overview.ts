import { lookUp } from "@durable-payments/api-core/values";
import type { Ledger, Overview, Pause } from "@durable-payments/ledger";
import { OPEN_RUNS, queryText } from "@durable-payments/protocol";
import type { Sources } from "../facts/connection/operations.ts";
import { asTemporalError } from "../facts/connection/temporal-errors.ts";
import { PAYING, type Temporal } from "../facts/connection/temporal.ts";
import { isOperationError, type NextOperation } from "../errors.ts";
import { readInbox } from "./inbox.ts";
import { type Money, sumMoney } from "../rules/run-view.ts";

/** Reasons of waits: questions and states of writes, and others. */
const WHAT = {
  outcome: "answers",
  approval: "approvals",
  unknown: "unknown outcomes to be reconciled",
  sending: "being sent",
  payout: "payouts to complete",
  cardholder: "verifications",
  balance: "funds",
} as const;

/** Runs that wait for the same reason, with their total amounts. */
export interface WaitingFor {
  readonly what: (typeof WHAT)[keyof typeof WHAT];
  readonly count: number;
  readonly money: Money;
  /** Start of the longest wait, milliseconds since 1970. */
  readonly since: number | null;
}

/** The overview. */
export type OverviewView = Awaited<ReturnType<typeof readOverview>>;

const MOST_WAITS = 5_000;

const readWaiting = async (ledger: Ledger, { waits, writes }: Overview) => {
  const ofWrites = Map.groupBy(writes, ({ question, state }) => lookUp(WHAT, question ?? state));
  const ofKinds = [...Map.groupBy(waits, ({ kind }) => kind)];
  const open = ofKinds.map(async ([kind, ofAccounts]): Promise<WaitingFor> => {
    const rows = await ledger.waits({ kind, isOpen: true, limit: MOST_WAITS });
    const ids = [...new Set(rows.map(({ workflowId }) => workflowId))];
    const runs = ids.length === 0 ? [] : await ledger.runs({ workflowIds: ids });
    const count = ofAccounts.reduce((sum, wait) => sum + wait.count, 0);
    const since = Math.min(...ofAccounts.map((wait) => wait.since));
    return { what: WHAT[kind], count, since, money: sumMoney(runs) };
  });
  return [
    ...Object.values(WHAT).flatMap((what): ReadonlyArray<WaitingFor> => {
      const found = ofWrites.get(what) ?? [];
      if (found.length === 0) return [];
      const count = found.reduce((sum, { rows }) => sum + rows, 0);
      const since = Math.min(...found.map((one) => one.since));
      return [{ what, count, money: sumMoney(found), since }];
    }),
    ...(await Promise.all(open)),
  ];
};

const DAY_MS = 86_400_000;

const countRuns = async ({ client }: Temporal) => {
  const since = queryText(new Date(Date.now() - DAY_MS).toISOString());
  const [running, failed] = await Promise.all([
    client.workflow.count(`${OPEN_RUNS} AND ${PAYING}`),
    client.workflow.count(
      `ExecutionStatus IN ("Failed", "TimedOut", "Terminated") AND ${PAYING} AND CloseTime >= ${since}`,
    ),
  ]);
  return { running: running.count, failedToday: failed.count };
};

/** The most important first. */
const nextOf = (
  inbox: number,
  pauses: ReadonlyArray<Pause>,
  failed: number,
): ReadonlyArray<NextOperation> => {
  const next: Array<NextOperation> = [];
  if (inbox > 0) next.push({ operation: "inbox" });
  if (pauses.some(({ scope }) => scope === "all")) next.push({ operation: "resume" });
  if (failed > 0) next.push({ operation: "list", status: "failed" });
  return next;
};

/**
 * Reads the overview: the number and amounts of waiting runs by reason, and the items that need a person.
 *
 * @param sources the reachable sources; `notes` has the missing parts.
 */
export const readOverview = async (sources: Sources) => {
  const { ledger, temporal, whyNot } = sources;
  const notes = [...whyNot];
  const runs =
    temporal &&
    (await countRuns(temporal).catch((error: unknown) => {
      const worded = asTemporalError(error, temporal.settings);
      if (!isOperationError(worded)) throw error;
      notes.push(worded.message);
    }));
  const seen = await ledger?.overview();
  const pauses = (await ledger?.pauses()) ?? [];
  const inbox = ledger === undefined ? 0 : (await readInbox(sources)).items.length;
  return {
    /** Numbers of runs by how Temporal has them; null if it cannot be asked. */
    runs: runs ?? null,
    pauses: pauses.map(({ by, of, reason, scope }) => ({ by, of, reason, scope })),
    waiting: ledger && seen ? await readWaiting(ledger, seen) : [],
    /** The number of items that wait for a person. */
    inbox,
    notes,
    next: nextOf(inbox, pauses, runs?.failedToday ?? 0),
  };
};
