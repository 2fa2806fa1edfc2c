import * as Decimal from "effect/BigDecimal";
import { expect, it } from "vitest";
import { booksOf } from "../src/evidence/books.ts";
import type { Finding } from "../src/evidence/evidence.ts";
import { checkReports } from "../src/evidence/misreported.ts";
import { ALL_PAYEES, ALL_UNDER_WAY, type Reports } from "../src/evidence/read-reports.ts";
import { compareReport, type Line, type Owed } from "../src/evidence/reports.ts";
import type { Made, PlannedRun } from "../src/plan/planned-run.ts";

/* The comparison is the measure of every report: each field that is wrong must turn it red, and nothing else may. */

const IBAN = "DE89370400440532013000";

const beneficiary = (id: string, iban: string) => ({
  beneficiary_id: id,
  details: { iban, account_currency: "EUR" },
});

const run = (workflowId: string, amounts: ReadonlyArray<string>): PlannedRun => ({
  file: ["paid", "open", "failed"].includes(workflowId) ? "a file" : undefined,
  kind: "payout",
  workflowId,
  account: "eu",
  startAtMs: 0,
  alike: 1,
  input: {},
  intervention: undefined,
  mayFailAs: [],
  makes: [
    {
      operation: "createPayout",
      mark: workflowId,
      amounts,
      currency: "EUR",
      beneficiaries: workflowId === "stopped" ? [{ payee: IBAN }] : [{ id: "b" }],
    },
  ],
});

const payout = (mark: string, status: string, amount = "12.50"): Made => ({
  operation: "createPayout",
  id: mark,
  at: 0,
  mark,
  isUndone: false,
  amount,
  currency: "EUR",
  status,
  payee: "b",
});

const books = booksOf({
  ended: new Map([["stopped", 0]]),
  runs: [
    ...["paid", "open", "failed", "back"].map((id) => run(id, ["12.50"])),
    run("stopped", ["7.00"]),
    run("amended", ["5.00", "6.00"]),
  ],
  service: {
    balances: [],
    returning: 0,
    beneficiaries: [beneficiary("b", IBAN), beneficiary("other", "DE2051")],
    made: [
      payout("paid", "completed", "12.5"),
      payout("open", "in_review"),
      payout("failed", "failed"),
      payout("back", "returned"),
    ],
  },
});

const line = (subject: string, state: Line["state"], amount = "12.50"): Line => ({
  subject,
  state,
  amount,
  currency: "EUR",
  payee: "3000",
});

const right: ReadonlyArray<Line> = [
  line("paid", "paid", "12.5000"),
  line("open", "underWay"),
  line("failed", "failed"),
  line("back", "cameBack"),
  line("stopped", "unknown", "7"),
  line("amended", "notPaid", "6.00"),
];

const findings = (lines: ReadonlyArray<Line>): ReadonlyArray<Finding> => {
  const found: Array<Finding> = [];
  compareReport("list", books, lines, (verdict, subject, what) =>
    found.push({ verdict, subject, what }),
  );
  return found;
};

it("finds nothing in a report that has the money of the books", () => {
  expect(findings(right)).toEqual([]);
});

const planted: ReadonlyArray<readonly [string, (found: Line) => ReadonlyArray<Line>]> = [
  ["another amount", (found) => [{ ...found, amount: "12.51" }]],
  ["another currency", (found) => [{ ...found, currency: "USD" }]],
  ["another payee", (found) => [{ ...found, payee: "2051" }]],
  ["no payee", (found) => [{ ...found, payee: "" }]],
  ...(["paid", "underWay", "failed", "cameBack"] as const).map(
    (state) => [state, (found: Line) => [{ ...found, state }]] as const,
  ),
  ["no line", () => []],
  ["a line too many", (found) => [found, found]],
];

it.each(
  right.flatMap((found, at) =>
    planted.map(([what, plant]) => [found.subject, what, plant, at] as const),
  ),
)("%s, reported with: %s: one finding", (subject, what, plant, at) => {
  const lines = right.flatMap((found, index) => (index === at ? plant(found) : [found]));
  // Nobody has asked for the account of an id that was not paid.
  const isUnread = subject === "amended" && what === "no payee";
  const isTrue = right[at]?.state === what || isUnread;
  expect(findings(lines)).toMatchObject(isTrue ? [] : [{ verdict: "misreported", subject }]);
});

it("says both sides", () => {
  expect(findings([...right.slice(1), line("paid", "failed")])).toMatchObject([
    { what: "the books have paid 12.5 EUR to …3000; list has failed 12.50 EUR to …3000" },
  ]);
  expect(findings([...right, line("nobody's", "paid")])).toMatchObject([
    { subject: "nobody's", what: "the books have nothing; list has paid 12.50 EUR to …3000" },
  ]);
});

const reports: Reports = {
  runs: right.map(({ state, subject }) => ({
    subject,
    status: state === "paid" ? "succeeded" : "failed",
  })),
  list: right.map((found) => {
    const isMade = found.subject !== "stopped" && found.subject !== "amended";
    return {
      ...found,
      id: isMade ? found.subject : "",
      status: found.state === "paid" ? "succeeded" : "failed",
    };
  }),
  byPayee: right
    .filter(({ state }) => state !== "notPaid")
    .map((found) => ({ ...found, subject: ALL_PAYEES })),
  files: right.slice(0, 3),
  overview: [{ ...line("open", "underWay"), ...ALL_UNDER_WAY }],
};

const ofReports = (change: Partial<Reports>): ReadonlyArray<Finding> => {
  const found: Array<Finding> = [];
  checkReports({ ...reports, ...change }, books, (verdict, subject, what) =>
    found.push({ verdict, subject, what }),
  );
  return found;
};

it.each(["list", "byPayee", "files", "overview"] as const)(
  "each wrong field of each report is one finding: %s",
  (name) => {
    expect(ofReports({})).toEqual([]);
    const [first, ...others] = reports[name];
    if (first === undefined) throw new Error("There is no line");
    for (const [what, plant] of planted) {
      // A sum of a state that the payee has already is not another line.
      if (name === "byPayee" && ["underWay", "failed", "cameBack"].includes(what)) continue;
      // The overview has payouts under way alone, and names no payee.
      if (name === "overview" && ["underWay", "no payee"].includes(what)) continue;
      const lines = plant(first).map((changed) => ({ ...first, ...changed }));
      const found = ofReports({ [name]: [...lines, ...others] });
      expect(found.map(({ verdict }) => verdict)).toEqual(
        first.state === what ? [] : ["misreported"],
      );
    }
  },
);

it("one of two equal payments of a run that a person ended may be unknown, and is one in sums", () => {
  const twice = books.flatMap((owed) => {
    if (owed.subject !== "stopped") return [owed];
    return [
      owed,
      { ...owed, states: ["notPaid", "planned", "unknown"] as const, isOptional: true },
    ];
  });
  const found: Array<string> = [];
  checkReports(reports, twice, (_, subject) => found.push(subject));
  expect(found).toEqual([]);
});

it("a payout to an unknown payee that a person gave up is unknown in sums, and a card is in none", () => {
  const unknown = { ...line("stopped", "unknown", "7"), payee: "" };
  const isStopped = ({ subject }: Line) => subject === "stopped";
  const list = reports.list.map((one) => (isStopped(one) ? { ...one, ...unknown } : one));
  const sums = reports.byPayee.filter(({ state }) => state !== "unknown");
  const check = (isPayout: boolean) => {
    const of = books.map((owed) =>
      owed.subject === "stopped" ? { ...owed, payees: [""], isPayout } : owed,
    );
    const byPayee = isPayout ? [...sums, { ...unknown, subject: ALL_PAYEES }] : sums;
    const found: Array<string> = [];
    checkReports({ ...reports, list, byPayee }, of, (_, __, what) => found.push(what));
    return found;
  };
  expect(check(true)).toEqual([]);
  expect(check(false)).toEqual([]);
});

it("a payout whose id the ledger never knew may be unknown in list and sums, if a person gave it up", () => {
  const unknown = { ...line("back", "unknown", "12.50"), id: "" };
  const isBack = ({ subject }: Line) => subject === "back";
  const list = reports.list.map((one) => (isBack(one) ? { ...one, ...unknown } : one));
  const sums = reports.byPayee.filter(({ state }) => state !== "cameBack" && state !== "unknown");
  const given = reports.byPayee.filter(({ state }) => state === "unknown");
  const lost = Decimal.sumAll(
    [...given, unknown].map(({ amount }) => Decimal.fromStringUnsafe(amount)),
  );
  const byPayee = [...sums, { ...unknown, subject: ALL_PAYEES, amount: Decimal.format(lost) }];
  const check = (states: Owed["states"]) => {
    const of = books.map((owed) => (owed.subject === "back" ? { ...owed, states } : owed));
    const found: Array<string> = [];
    checkReports({ ...reports, list, byPayee }, of, (_, __, what) => found.push(what));
    return found;
  };
  expect(check(["cameBack", "unknown"])).toEqual([]);
  expect(check(["cameBack"])).not.toEqual([]);
});

it("a run whose money is not paid has not succeeded", () => {
  const list = reports.list.map((found) => ({ ...found, status: "succeeded" }));
  expect(ofReports({ list }).map(({ subject }) => subject)).toEqual(
    right.slice(1).map(({ subject }) => subject),
  );
});

it("a run whose payment is paid has not failed, whether or not its money is listed", () => {
  const runs = reports.runs.map(({ subject }) => ({ subject, status: "failed" }));
  expect(ofReports({ runs }).map(({ subject }) => subject)).toEqual(["paid"]);
});

it("a run that asked for the payment of another may have planned it, and nothing else", () => {
  const added = (change: Partial<Line>) => {
    const [first] = reports.list;
    if (first === undefined) throw new Error("There is no line");
    const other = { ...first, subject: "asked, too", id: "", status: "failed" };
    return ofReports({ list: [...reports.list, { ...other, ...change }] });
  };
  for (const state of ["notPaid", "planned"] as const) expect(added({ state })).toEqual([]);
  for (const wrong of [
    {},
    { amount: "12.51" },
    { currency: "USD" },
    { payee: "2051" },
    { subject: "open" },
  ]) {
    const state = Object.keys(wrong).length === 0 ? "underWay" : "notPaid";
    expect(added({ state, ...wrong })).toMatchObject([{ verdict: "misreported" }]);
  }
});
