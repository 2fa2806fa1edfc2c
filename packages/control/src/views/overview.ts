/**
 * The overview answers one question: is it fine? It is read from the ledger alone, so that it is the same while Temporal is
 * away, and after it has forgotten a run.
 */
import { formatAmount } from "@durable-payments/api-core/decimal";
import { lookUp } from "@durable-payments/api-core/values";
import type { Overview, Pause } from "@durable-payments/ledger";
import { ledgerOf, type Sources } from "../facts/connection/operations.ts";
import type { NextOperation } from "../errors.ts";
import { readInbox } from "./inbox.ts";
import { type InboxItem, type Status, sumMoney } from "../rules/run-view.ts";

/** Reasons of waits: questions and states of writes, and others. Payouts are under way. */
const WHAT = {
  outcome: "answers",
  approval: "approvals",
  unknown: "unknown outcomes to be reconciled",
  sending: "being sent",
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
      what: lookUp(WHAT, kind),
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

/** Statuses of runs with a payout that is under way. */
const MADE: ReadonlyArray<Exclude<Status, "paused">> = [
  "asking",
  "approval",
  "unknown",
  "returned",
  "waiting",
];

/** The most important first. */
const nextOf = (
  inbox: ReadonlyArray<InboxItem>,
  pauses: ReadonlyArray<Pause>,
  failed: number,
): ReadonlyArray<NextOperation> => [
  ...(inbox.length > 0 ? [{ operation: "inbox" } as const] : []),
  ...(inbox.some(({ kind }) => kind === "late")
    ? [{ operation: "list", isLate: true } as const]
    : []),
  ...(pauses.some(({ scope }) => scope === "all") ? [{ operation: "resume" } as const] : []),
  ...(failed > 0 ? [{ operation: "list", status: "failed" } as const] : []),
];

/**
 * Reads the overview: what needs a person, is late, has failed, is under way, is paused, or is not served.
 *
 * @param sources the reachable sources; `notes` has the missing parts.
 * @throws ConnectionFailed if the ledger cannot be read: then nothing is known to be fine.
 */
export const readOverview = async (sources: Sources) => {
  const ledger = ledgerOf(sources);
  const [seen, pauses, { items }, sums] = await Promise.all([
    ledger.overview(),
    ledger.pauses(),
    readInbox(sources),
    ledger.sums({ statuses: MADE }),
  ]);
  const failed = seen.failures
    .filter(({ kind }) => kind !== "returned")
    .reduce((sum, { count }) => sum + count, 0);
  const made = sums.filter(({ group, state }) => group === "payouts" && state === "underWay");
  const countOf = (wanted: InboxItem["kind"]): number =>
    items
      .filter(({ kind }) => kind === wanted)
      .reduce((sum, { things }) => sum + (things?.count ?? 1), 0);
  return {
    /** Number of items that wait for a person. */
    inbox: items.length,
    /** Number of payouts that are not completed though their payment date is over. */
    late: countOf("late"),
    /** Number of runs that failed within 24 hours, and were neither retried nor stopped. */
    failed,
    /** Payouts that the service has accepted, and not completed. */
    underWay: {
      payouts: made.reduce((sum, { payments }) => sum + payments, 0),
      money: made.map(({ currency, sum }) => ({ currency, amount: formatAmount(sum, currency) })),
    },
    pauses: pauses.map(({ by, of, reason, scope }) => ({ by, of, reason, scope })),
    /** Number of accounts that no worker serves. */
    unserved: items.filter(({ kind }) => kind === "unserved").length,
    waiting: waitingOf(seen),
    notes: sources.whyNot,
    next: nextOf(items, pauses, failed),
  };
};
