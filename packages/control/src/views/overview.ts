/**
 * The overview answers one question: is it fine? It has what people have to do, and the outcome of the money; the checks of
 * the doctor say how the installation is. It is read from the ledger alone, so that it is the same while Temporal is away, and
 * after it has forgotten a run.
 */
import { formatAmount } from "@durable-payments/client/decimal";
import { type Ledger, moneyGroupOf } from "@durable-payments/ledger";
import type { NextAction } from "../errors.ts";
import { type Inbox, moneyOfItem, readInbox } from "./inbox.ts";
import { type Status, sumByKind } from "../rules/run-view.ts";

/** The overview. */
export type OverviewView = Awaited<ReturnType<typeof readOverview>>;

/** Counts the items of the inbox by kind, and adds up their money. */
const waitingOf = ({ items }: Inbox) =>
  [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, of]) => ({
    kind,
    /** Payments or runs, of an item that has several. */
    count: of.reduce((sum, { things }) => sum + (things?.count ?? 1), 0),
    money: sumByKind(
      of.flatMap((item) => {
        const group = item.operation === null ? "payouts" : moneyGroupOf(item.operation);
        return moneyOfItem(item).map((sum) => ({ group, ...sum }));
      }),
    ),
  }));

/** Statuses of runs with a payout that is under way. */
const MADE: ReadonlyArray<Exclude<Status, "paused">> = [
  "asking",
  "approval",
  "unknown",
  "returned",
  "waiting",
];

/** The most important first. */
const nextOf = ({ items }: Inbox, failed: number, cameBack: number): ReadonlyArray<NextAction> => [
  ...(items.length > 0 ? [{ action: "inbox" } as const] : []),
  ...(items.some(({ kind }) => kind === "late") ? [{ action: "list", isLate: true } as const] : []),
  ...(cameBack > 0 ? [{ action: "list", status: "returned" } as const] : []),
  ...(failed > 0 ? [{ action: "list", status: "failed" } as const] : []),
];

/**
 * Reads the overview: what needs a person, has failed, and is under way.
 *
 * @param lateAfterMs how long after the end of its payment date a payout is late.
 */
export const readOverview = async (ledger: Ledger, lateAfterMs: number) => {
  const [{ failures }, inbox, sums] = await Promise.all([
    ledger.overview(),
    readInbox(ledger, lateAfterMs),
    ledger.sums({ statuses: MADE }),
  ]);
  const countOf = (areReturned: boolean) =>
    failures
      .filter(({ kind }) => (kind === "returned") === areReturned)
      .reduce((sum, { count }) => sum + count, 0);
  const [failed, cameBack] = [countOf(false), countOf(true)];
  const made = sums.filter(({ group, state }) => group === "payouts" && state === "underWay");
  return {
    /** Items that wait for a person, by kind. */
    inbox: waitingOf(inbox),
    /** Number of runs that failed within 24 hours, and were neither retried nor stopped. */
    failed,
    /** Number of payouts whose money was seen to come back within 24 hours. */
    cameBack,
    /** Payouts that the service has accepted, and not completed. */
    underWay: {
      payouts: made.reduce((sum, { payments }) => sum + payments, 0),
      money: made.map(({ currency, sum }) => ({ currency, amount: formatAmount(sum, currency) })),
    },
    next: nextOf(inbox, failed, cameBack),
  };
};
