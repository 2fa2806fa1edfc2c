import { formatAmount } from "@durable-payments/client/decimal";
import { lettersAndDigits } from "@durable-payments/client/values";
import type { Ledger, MoneySum, SumsBy } from "@durable-payments/ledger";
import * as BigDecimal from "effect/BigDecimal";
import { namesOf } from "../facts/payees.ts";
import { MONEY_STATES } from "../rules/run-view.ts";
import { filterOf, type ListFilter } from "./list.ts";

/** Payments of one group, state and currency. */
export interface ReportLine extends Omit<MoneySum, "sum"> {
  /** Name of a payee, or all names that payments give its account; null if nobody has described it. */
  readonly name: string | null;
  /** Last four characters of a payee's account. */
  readonly account: string | null;
  /** Decimal string in units of the currency. */
  readonly amount: string;
}

/** Puts sums of one key, group, currency and state on one line. */
const linesOf = (
  sums: ReadonlyArray<MoneySum & Pick<ReportLine, "account" | "name">>,
): ReadonlyArray<ReportLine> =>
  [
    ...Map.groupBy(sums, ({ currency, group, key, state }) =>
      JSON.stringify([key, group, currency, state]),
    ).values(),
  ]
    .map((some) =>
      some.reduce((all, { payments, sum }) => ({
        ...all,
        payments: all.payments + payments,
        sum: BigDecimal.sum(all.sum, sum),
      })),
    )
    .map(({ sum, ...line }) => ({ ...line, amount: formatAmount(sum, line.currency) }))
    .toSorted(
      (a, b) =>
        b.group.localeCompare(a.group) ||
        (a.name ?? a.key ?? "").localeCompare(b.name ?? b.key ?? "") ||
        a.currency.localeCompare(b.currency) ||
        MONEY_STATES.indexOf(a.state) - MONEY_STATES.indexOf(b.state),
    );

/** A payee is an account, whether it was paid by an id or by its data: its line has each name that payments give it. */
const byPayee = async (
  ledger: Ledger,
  sums: ReadonlyArray<MoneySum>,
  account: string | undefined,
) => {
  const all = await ledger.payees({});
  // Those without an account come first.
  const own = all.filter((one) => account === undefined || ["", account].includes(one.account));
  const directory = new Map(own.map((payee) => [payee.payee, payee]));
  const described = sums.map((sum) => {
    const { mark = null, shown = null } = directory.get(sum.key ?? "") ?? {};
    return { ...sum, key: mark ?? sum.key, ...namesOf(shown) };
  });
  const named = Map.groupBy(described, ({ key }) => key);
  return described.map(({ payeeAccount: _, payeeName: __, ...sum }) => {
    const same = named.get(sum.key) ?? [];
    const names = same.flatMap(({ payeeName }) => payeeName ?? []);
    const each = new Map(names.map((name) => [lettersAndDigits(name), name]));
    const account = same.find(({ payeeAccount }) => payeeAccount !== null)?.payeeAccount ?? null;
    return { ...sum, name: [...each.values()].toSorted().join(" / ") || null, account };
  });
};

const unnamed = (sum: MoneySum) => ({ ...sum, name: null, account: null });

/** Sums of all payments that match. */
export type Report = Awaited<ReturnType<typeof readReport>>;

/**
 * Adds up all payments that match, from the ledger alone: what was paid, is under way, failed, came back, was not paid.
 *
 * @param by lines for each payee, day, batch or reason, one for each currency and state; only totals without it. A report of reasons has only runs
 *   that have ended with one.
 */
export const readReport = async (ledger: Ledger, given: ListFilter, by?: SumsBy) => {
  const filter = await filterOf(ledger, given);
  const [sums, asked] = await Promise.all([ledger.sums(filter, by), ledger.sums(filter, "word")]);
  const plain = sums.map(unnamed);
  const grouped = by === "payee" ? await byPayee(ledger, sums, filter.account) : plain;
  return {
    by: by ?? null,
    /** Its period: payments that were begun since and before, in milliseconds since 1970; null without a limit. */
    since: given.since ?? null,
    until: given.until ?? null,
    lines: by === undefined ? [] : linesOf(grouped),
    totals: linesOf(plain.map((sum) => ({ ...sum, key: null }))),
    /** Those among them with a status of the service, the key, that no setting lists: their money may be elsewhere. */
    unlisted: linesOf(asked.map(unnamed)),
  };
};
