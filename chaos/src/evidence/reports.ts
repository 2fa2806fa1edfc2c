import * as Decimal from "effect/BigDecimal";
import type { Find } from "./evidence.ts";

/**
 * Compares the reports of the product with the books of the services. Every report is read into the same lines, and so are
 * the books: a payment of a run or of a row, or the sum of a payee. The reading is the chaos test's own: a mistake that
 * the product's views share would otherwise be made twice, and agree.
 */

/** The states of money in reports. */
export type MoneyState =
  | "paid"
  | "underWay"
  | "unknown"
  | "failed"
  | "cameBack"
  | "notPaid"
  | "planned";

/** One amount of a report. */
export interface Line {
  /** The run, row or payee. */
  readonly subject: string;
  readonly state: MoneyState;
  readonly amount: string;
  readonly currency: string;
  /** The last four characters of the payee's account; "" if nobody is paid. */
  readonly payee: string;
}

/** The line that a report must have: one of each. */
export interface Owed extends Pick<Line, "subject" | "currency"> {
  readonly states: ReadonlyArray<MoneyState>;
  readonly amounts: ReadonlyArray<string>;
  readonly payees: ReadonlyArray<string>;
  /** The service's id of what was made; undefined if nothing was. */
  readonly id?: string | undefined;
  /** Whether a report that has nothing of it is right, too. */
  readonly isOptional?: boolean;
  /** Whether its run is a row of a file. */
  readonly isOfFile: boolean;
  /** Whether it is a payout: a payee that the service does not know has no account either, as a card has no payee. */
  readonly isPayout: boolean;
}

/** Whether two amounts are the same number, however they are written. */
export const isSameAmount = (one: string, other: string): boolean =>
  Decimal.equals(Decimal.fromStringUnsafe(one), Decimal.fromStringUnsafe(other));

/** Whether the books have a line of a report. */
export const fits = (owed: Owed, { amount, currency, payee, state }: Line): boolean =>
  owed.currency === currency &&
  owed.states.includes(state) &&
  owed.payees.includes(payee) &&
  owed.amounts.some((one) => isSameAmount(one, amount));

/** Returns what the books would have if a line were right. */
export const owedAs = ({ amount, payee, state, ...line }: Line): Owed => ({
  ...line,
  isOfFile: false,
  isPayout: true,
  states: [state],
  amounts: [amount],
  payees: [payee],
});

const textOf = ({ amounts, currency, payees, states }: Owed): string =>
  `${states.join(" or ")} ${amounts.join(" or ")} ${currency} to …${payees.join(" or …")}`;

/** Finds each line of a report that the books do not have, and each that it lacks; of one subject, both are one finding. */
export const compareReport = (
  report: string,
  books: ReadonlyArray<Owed>,
  lines: ReadonlyArray<Line>,
  find: Find,
): void => {
  for (const subject of new Set([...books, ...lines].map((one) => one.subject))) {
    const left = lines.filter((line) => line.subject === subject);
    const owed = books.filter((one) => one.subject === subject);
    const lacking = owed.filter((one) => {
      const at = left.findIndex((line) => fits(one, line));
      if (at >= 0) left.splice(at, 1);
      return at < 0 && one.isOptional !== true;
    });
    for (let at = 0; at < Math.max(lacking.length, left.length); at++) {
      const [must, line] = [lacking[at], left[at]];
      const has = line === undefined ? "nothing" : textOf(owedAs(line));
      const books = must === undefined ? "nothing" : textOf(must);
      find("misreported", subject, `the books have ${books}; ${report} has ${has}`);
    }
  }
};
