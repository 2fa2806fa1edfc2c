import * as Decimal from "effect/BigDecimal";
import type { Find } from "./evidence.ts";
import { ALL_PAYEES, ALL_UNDER_WAY, type Reports } from "./read-reports.ts";
import { compareReport, fits, type Line, type Owed, owedAs } from "./reports.ts";

/** Adds up the lines of each payee, currency and state. */
const summed = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const groups = Map.groupBy(
    lines,
    ({ currency, payee, state }) => `${currency} ${payee} ${state}`,
  );
  return [...groups.values()].flatMap((of) => {
    const amounts = of.map(({ amount }) => Decimal.fromStringUnsafe(amount));
    const amount = Decimal.format(Decimal.sumAll(amounts));
    return of.slice(0, 1).map((first) => ({ ...first, subject: ALL_PAYEES, amount }));
  });
};

/** Whether a line says of a payment which was asked for that this run has not made it. */
const isPlanOf = (books: ReadonlyArray<Owed>, line: Line): boolean =>
  (line.state === "notPaid" || line.state === "planned") &&
  books.some((owed) => fits({ ...owed, states: [line.state] }, line));

/** Compares every report of a campaign with the books of all its services. */
export const checkReports = (reports: Reports, books: ReadonlyArray<Owed>, find: Find): void => {
  const runOf = new Map(books.map(({ id, subject }) => [id, subject]));
  const subjects = new Set(books.map(({ subject }) => subject));
  // A payment by a key is of whichever run came first. Others that asked for it may be listed with what they planned.
  const list = reports.list
    .map((line) => ({ ...line, subject: runOf.get(line.id) ?? line.subject }))
    .filter((line) => subjects.has(line.subject) || !isPlanOf(books, line));
  compareReport("the list", books, list, find);
  const paid = new Set(
    books.filter(({ states }) => states.includes("paid")).map(({ subject }) => subject),
  );
  for (const { state, status, subject } of list) {
    const what = `the books have nothing paid; the list says that it succeeded, its money ${state}`;
    if (status === "succeeded" && !paid.has(subject)) find("misreported", subject, what);
  }
  for (const { status, subject } of reports.runs) {
    // A run with two payments may fail by the other one.
    const isOnly = books.filter((owed) => owed.subject === subject).length === 1;
    const what = "the books have its payment as paid; the list says that the run failed";
    if (status === "failed" && isOnly && paid.has(subject)) find("misreported", subject, what);
  }
  const ofRows = books.filter(({ isOfFile }) => isOfFile);
  compareReport("the result of its file", ofRows, reports.files, find);
  /** Lines that count already: of two equal payments of a run, one may be unknown and the other not made. */
  const counted = new Set<Line>();
  const payouts = books.flatMap((owed): ReadonlyArray<Line> => {
    if (!owed.isPayout) return [];
    const { amounts, currency, id, payees, states, subject } = owed;
    const listed = id === undefined ? undefined : list.find((line) => line.id === id)?.state;
    // The ledger knows no id: a person has given up on a send without an outcome.
    if (listed === undefined) {
      const given = list.find(
        (line) =>
          line.subject === subject &&
          line.state === "unknown" &&
          fits(owed, line) &&
          !counted.has(line),
      );
      if (given !== undefined) {
        counted.add(given);
        return [given];
      }
      if (id === undefined) return [];
    }
    const [[amount = ""], [payee = ""], [state = "notPaid"]] = [amounts, payees, states];
    const isGiven = listed !== undefined && states.includes(listed);
    const line = { subject, amount, currency, payee, state: isGiven ? listed : state };
    return [line];
  });
  compareReport("the report by payee", summed(payouts).map(owedAs), summed(reports.byPayee), find);
  const underWay = payouts.filter(({ state }) => state === ALL_UNDER_WAY.state);
  const inAll = summed(underWay.map((line) => ({ ...line, payee: "" })));
  const owed = inAll.map((line) => owedAs({ ...line, ...ALL_UNDER_WAY }));
  compareReport("the overview", owed, reports.overview, find);
};
