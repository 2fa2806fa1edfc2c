import { lookUp } from "@durable-payments/api-core/values";
import type { Overview, Pause } from "@durable-payments/ledger";
import { OPEN_RUNS, queryText } from "@durable-payments/protocol";
import type { Sources } from "../facts/connection/operations.ts";
import { asTemporalError } from "../facts/connection/temporal-errors.ts";
import { PAYING, type Temporal } from "../facts/connection/temporal.ts";
import { isOperationError, type NextOperation } from "../errors.ts";
import { readInbox } from "./inbox.ts";
import { sumMoney } from "../rules/run-view.ts";

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

/** The overview. */
export type OverviewView = Awaited<ReturnType<typeof readOverview>>;

const waitingOf = ({ waits, writes }: Overview) => {
  const all = [
    ...writes.map((found) => ({ ...found, what: lookUp(WHAT, found.question ?? found.state) })),
    ...waits.map(({ count, kind, since }) => ({
      amount: null,
      currency: null,
      what: WHAT[kind],
      rows: count,
      since,
    })),
  ];
  const reasons = Map.groupBy(all, ({ what }) => what);
  return Object.values(WHAT).flatMap((what) => {
    const found = reasons.get(what) ?? [];
    const count = found.reduce((sum, { rows }) => sum + rows, 0);
    const since = Math.min(...found.map((one) => one.since));
    return count === 0 ? [] : [{ what, count, money: sumMoney(found), since }];
  });
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
    waiting: seen ? waitingOf(seen) : [],
    /** The number of items that wait for a person; null if the ledger cannot be read. */
    inbox: ledger === undefined ? null : inbox,
    notes,
    next: nextOf(inbox, pauses, runs?.failedToday ?? 0),
  };
};
