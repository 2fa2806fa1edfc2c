import * as BigDecimal from "effect/BigDecimal";
import * as fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import {
  type FoundRun,
  type Ledger,
  moneyGroupOf,
  type MoneyState,
  type RecordedWrite,
  type Run,
  type RunCursor,
  type RunEnd,
  type RunFilter,
  type RunSort,
  RUN_SORTS,
  type RunStatus,
  type SumsBy,
} from "../../src/index.ts";
import { ADA, decisionOf, made, nameOf, rowOf, runOf, saving, startOf } from "./rows.ts";
import { hasFailed } from "./statuses.ts";

/*
 * The class: a list that leaves out a run, a total that counts a payment twice or not at all, a status that does not follow
 * from the facts. So ledgers are drawn, changed by the ledger's own methods, and read again whole; the rules are written down
 * here once more, in the plainest way, over all runs in memory.
 */

const CURRENCIES = ["EUR", "JPY", "USD"] as const;
const PAYEES = ["B-1", "B-2", "mark-1", "mark-2", "person/1"] as const;
const REASONS = [
  "The account is closed.",
  "cardholder 123e4567-e89b-12d3-a456-426614174000 was refused",
  "cardholder 123e4567-e89b-12d3-a456-426614174001 was refused",
] as const;
/** Also those that do not fit the sums of integers: long, and with many places. */
const AMOUNTS = [
  "0.1",
  "0.20",
  "7",
  "12.345",
  "1.123456789",
  "250.00",
  "99999999.99",
  "123456789012.34",
  "0.00000000001",
];

const write = fc.record({
  operation: fc.constantFrom("createPayout", "createCard", "createBeneficiary", "transfer"),
  amount: fc.constantFrom(...AMOUNTS),
  currency: fc.constantFrom(...CURRENCIES),
  payee: fc.constantFrom(...PAYEES),
  reference: fc.constantFrom("Invoice 1", "Invoice 2", null),
  paymentDate: fc.constantFrom("2026-01-01", "2026-06-01", null),
  state: fc.constantFrom(
    "ready",
    "sending",
    "unknown",
    "asking",
    "refused",
    "done",
    "done",
    "done",
    "ended",
    "undone",
  ),
  doubt: fc.constantFrom(0, 0, 1),
  asksApproval: fc.boolean(),
  outcome: fc.constantFrom(null, "completed", "completed", "failed", "returned"),
  /** Whether a child of the run has it. */
  isOfChild: fc.constantFrom(false, false, false, true),
});

const run = fc.record({
  type: fc.constantFrom("payout", "payout", "onboardCardholder", "paySupplier"),
  isStarted: fc.boolean(),
  batch: fc.constantFrom(null, "file-1", "file-2"),
  amount: fc.constantFrom(null, ...AMOUNTS),
  currency: fc.constantFrom(...CURRENCIES),
  payee: fc.constantFrom(...PAYEES),
  alias: fc.constantFrom(null, "mark-2"),
  writes: fc.array(write, { maxLength: 3 }),
  isStopped: fc.constantFrom(false, false, false, true),
  endState: fc.constantFrom(
    null,
    "succeeded",
    "succeeded",
    "failed",
    "timedOut",
    "terminated",
    "cancelled",
    "missing",
  ),
  endType: fc.constantFrom("Refused", "PayoutFailed"),
  endReason: fc.constantFrom(...REASONS, null),
});
type Drawn = typeof run extends fc.Arbitrary<infer A> ? A : never;

let count = 0;

/** Writes a drawn run into a ledger, as starters, workers and the tracker would. */
const put = async (ledger: Ledger, account: string, drawn: Drawn): Promise<void> => {
  const workflowId = `l${String(++count).padStart(6, "0")}`;
  const { alias, amount, batch, currency, payee, type } = drawn;
  const money = amount === null ? { amount, currency: null } : { amount, currency };
  const start = () =>
    ledger.recordStart(
      runOf({ workflowId, account, type, batch, ...money, payee, alias, reference: "Invoice 1" }),
      startOf({ type }),
    );
  if (drawn.isStarted) await start();
  const putWrite = async (of: Drawn["writes"][number], at: number) => {
    const id = of.isOfChild ? `${workflowId}c` : workflowId;
    const name = nameOf({ account, workflowId: id, step: `step-${at}` });
    const { operation, outcome, state } = of;
    const isMoney = operation !== "createBeneficiary";
    const owner = { ownerId: id, rootId: workflowId };
    const question = {
      kind: "approval",
      id: "q",
      reason: "above",
      candidates: [],
      account: null,
      since: 1,
    } as const;
    await ledger.transact(
      name,
      (look) => ({
        ...saving(name)(look),
        workflowType: of.isOfChild ? "payout" : type,
        row: rowOf(name, look, {
          ...owner,
          operation,
          ...(state === "done" || state === "undone" ? made(`P-${++count}`) : {}),
          state,
          doubt: of.doubt,
          question: of.asksApproval && state === "ready" ? question : null,
          request: {
            ...rowOf(name, look).request,
            ...(isMoney
              ? { amount: of.amount, currency: of.currency }
              : { amount: null, currency: null }),
            payee: of.payee,
            reference: of.reference,
            paymentDate: of.paymentDate,
          },
        }),
      }),
      owner,
    );
    if (state === "done" && operation === "createPayout" && outcome !== null)
      await ledger.sawPayout(account, `P-${count}`, {
        word: outcome,
        outcome,
        asks: false,
        problem: null,
      });
  };
  for (const [at, of] of drawn.writes.entries()) await putWrite(of, at);
  // A plain start that a person records later, or never.
  if (!drawn.isStarted && drawn.writes.length === 0) await start();
  if (drawn.isStopped) await ledger.decide(decisionOf({ account, workflowId }));
  const { endReason, endState } = drawn;
  const isBad = endState !== null && endState !== "succeeded" && endState !== "missing";
  const end: RunEnd = {
    workflowId,
    runId: null,
    endState,
    endedAt: endState === null ? null : count,
    endType: isBad ? drawn.endType : null,
    endReason: isBad ? endReason : null,
  };
  await ledger.recordEnds([end]);
};

/** A payment of a run: a write that moves money, or the planned one. */
interface Payment extends Pick<Run, "account" | "currency" | "reference" | "amount"> {
  readonly payees: ReadonlyArray<string | null>;
  readonly begun: number;
  readonly dueOn: string | null;
  readonly state: MoneyState;
  /** The service's word for it. */
  readonly word: string | null;
  readonly group: string;
}

const MONEY: Readonly<Record<RecordedWrite["standing"], MoneyState>> = {
  completed: "paid",
  made: "underWay",
  unknown: "unknown",
  asking: "unknown",
  failed: "failed",
  returned: "cameBack",
  refused: "notPaid",
  stopped: "notPaid",
  undone: "notPaid",
  open: "planned",
  approval: "planned",
};

interface Whole {
  readonly run: Run;
  readonly rows: ReadonlyArray<RecordedWrite>;
}

const isOpen = ({ endState }: Run): boolean => endState === null || endState === "missing";

const paymentsOf = ({ rows, run: of }: Whole): ReadonlyArray<Payment> => {
  const moving = rows.filter((row) => row.ownerId === of.workflowId && row.request.amount !== null);
  if (moving.length > 0)
    return moving.map(({ account, createdAt, operation, request, standing, word }) => ({
      ...request,
      account,
      payees: [request.payee],
      begun: createdAt,
      dueOn: standing === "made" ? request.paymentDate : null,
      state: MONEY[standing],
      word,
      group: moneyGroupOf(operation),
    }));
  const isCard = of.type === "onboardCardholder" || of.payee?.startsWith("person/") === true;
  return [
    {
      ...of,
      payees: [of.payee, of.alias],
      begun: of.startedAt,
      dueOn: null,
      state: isOpen(of) && !of.isStopped ? "planned" : "notPaid",
      word: null,
      group: isCard ? "cards" : "payouts",
    },
  ];
};

/** The rule of a status, over all facts of a run. */
const statusOf = ({ rows, run: of }: Whole): RunStatus => {
  const has = (standing: string, some = rows) => some.some((row) => row.standing === standing);
  if (has("asking")) return "asking";
  // Also of a send whose outcome is unknown: its money is.
  if (rows.some(({ question }) => question?.kind === "approval")) return "approval";
  if (has("unknown")) return "unknown";
  const own = rows.filter(({ ownerId }) => ownerId === of.workflowId);
  const operation = { payout: "createPayout", onboardCardholder: "createCard" }[of.type];
  if (operation !== undefined || !hasFailed(of)) {
    if (has("returned", own)) return "returned";
    if (has("made", own)) return "waiting";
  }
  const purpose = own.filter((row) => row.operation === operation);
  if (of.isStopped && isOpen(of) && !has("completed", purpose) && !has("failed", purpose))
    return "ended";
  if (of.endState === null && !of.isStopped) return "running";
  if (has("completed", purpose)) return "succeeded";
  if (has("failed", purpose)) return "failed";
  if (of.isStopped) return "ended";
  if (of.endState === "succeeded" && operation !== undefined) return "failed";
  return of.endState ?? "running";
};

/** Whether its end tells an outcome of a payout that is another one now. */
const isStale = ({ rows, run: of }: Whole): boolean => {
  const own = rows.filter(({ ownerId }) => ownerId === of.workflowId);
  const has = (...some: ReadonlyArray<string>) => own.some((row) => some.includes(row.standing));
  return of.endType === "PayoutFailed" && has("made", "completed") && !has("failed", "returned");
};

const isAsked = <A>(given: A | undefined, holds: (value: A) => boolean): boolean =>
  given === undefined || holds(given);

const paysAsAsked =
  (filter: RunFilter) =>
  (payment: Payment): boolean =>
    isAsked(filter.account, (account) => payment.account === account) &&
    isAsked(filter.currency, (currency) => payment.currency === currency) &&
    isAsked(filter.reference, (reference) => payment.reference === reference) &&
    isAsked(filter.payees, (payees) =>
      payment.payees.some((one) => one !== null && payees.includes(one)),
    ) &&
    isAsked(
      filter.lateAt,
      (at) => payment.dueOn !== null && Date.parse(payment.dueOn) + 86_400_000 <= at,
    ) &&
    isAsked(filter.paidSince, (since) => payment.begun >= since) &&
    isAsked(filter.paidUntil, (until) => payment.begun < until);

const isFound = (
  { batch, error, find, since, statuses, type, until }: RunFilter,
  whole: Whole,
): boolean => {
  const { run: of, rows } = whole;
  const status = of.status === "running" && of.batch === "file-2" ? "paused" : of.status;
  const text = (of.endReason ?? "").toLowerCase();
  return (
    isAsked(statuses, (some) => some.includes(status)) &&
    isAsked(type, (one) => of.type === one) &&
    isAsked(batch, (one) => of.batch === one) &&
    isAsked(since, (at) => of.startedAt >= at) &&
    isAsked(until, (at) => of.startedAt < at) &&
    isAsked(
      error,
      (one) =>
        of.endType?.toLowerCase() === one.toLowerCase() ||
        (of.endType !== null && text.includes(one.toLowerCase())),
    ) &&
    isAsked(
      find,
      (one) =>
        of.workflowId.startsWith(one) ||
        rows.some((row) => row.ownerId === of.workflowId && row.madeId === one),
    )
  );
};

const decimal = (text: string | null) => BigDecimal.fromStringUnsafe(text ?? "0");

const keyOf = (sort: RunSort, whole: Whole): BigDecimal.BigDecimal => {
  const payments = paymentsOf(whole);
  if (sort === "started") return decimal(String(whole.run.startedAt));
  if (sort === "ended") return decimal(String(whole.run.endedAt ?? 0));
  if (sort === "amount")
    return payments.map(({ amount }) => decimal(amount)).reduce((a, b) => BigDecimal.max(a, b));
  const due = payments.flatMap(({ dueOn }) => dueOn ?? []).toSorted()[0] ?? "9999";
  return decimal(due.replaceAll("-", "").padEnd(8, "9"));
};

const inOrder =
  (sort: RunSort) =>
  (a: Whole, b: Whole): number => {
    const byKey = BigDecimal.Order(keyOf(sort, b), keyOf(sort, a));
    const byId = a.run.workflowId < b.run.workflowId ? 1 : -1;
    return (byKey === 0 ? byId : byKey) * (sort === "late" ? -1 : 1);
  };

const reasonKey = ({ endReason, endType }: Run): string | null =>
  endReason?.replace(/[\da-f-]{36}/, "…").replace(/\.$/, "") ?? endType;

const hasReason = ({ endType, status }: Run): boolean =>
  endType !== null || status === "failed" || status === "returned";

const groupKey = (
  by: SumsBy | undefined,
  { run: of }: Whole,
  { begun, payees, state, word }: Payment,
): string | null =>
  by === "payee"
    ? (payees[0] ?? null)
    : by === "day"
      ? new Date(begun).toISOString().slice(0, 10)
      : by === "batch"
        ? of.batch
        : by === "reason"
          ? state === "failed"
            ? `its payout has failed: the service says "${word}"`
            : state === "cameBack"
              ? `its payout came back: the service says "${word}"`
              : reasonKey(of)
          : null;

/** Returns the sums by name, as `sums` should have them. */
const sumsInMemory = (all: ReadonlyArray<Whole>, filter: RunFilter, by: SumsBy | undefined) => {
  const sums: Record<string, [number, BigDecimal.BigDecimal]> = {};
  for (const whole of all) {
    if (!isFound(filter, whole) || (by === "reason" && !hasReason(whole.run))) continue;
    for (const payment of paymentsOf(whole).filter(paysAsAsked(filter))) {
      if (payment.amount === null) continue;
      const name = [
        groupKey(by, whole, payment),
        payment.group,
        payment.state,
        payment.currency,
      ].join(" ");
      const [payments, sum] = sums[name] ?? [0, decimal("0")];
      sums[name] = [payments + 1, BigDecimal.sum(sum, decimal(payment.amount))];
    }
  }
  return Object.fromEntries(
    Object.entries(sums).map(([name, [payments, sum]]) => [
      name,
      `${payments}: ${BigDecimal.format(sum)}`,
    ]),
  );
};

const filters = (all: ReadonlyArray<Whole>): fc.Arbitrary<RunFilter> => {
  const some = <A>(values: ReadonlyArray<A>) =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 });
  const times = [...new Set(all.map(({ run: of }) => of.startedAt))];
  const ids = all.flatMap(({ rows, run: of }) => [
    of.workflowId,
    of.workflowId.slice(0, 6),
    ...rows.flatMap(({ madeId }) => madeId ?? []),
  ]);
  const statuses = [...new Set(all.map(({ run: of }) => of.status))];
  // Few conditions at a time: the more there are, the less is found.
  return fc
    .tuple(
      fc.record({
        statuses: some([
          ["paused" as const],
          ...statuses.map((one) => [one]),
          statuses.slice(0, 3),
        ]),
        type: some(["payout", "paySupplier"]),
        batch: some(["file-1"]),
        since: some(times),
        until: some(times),
        find: some(ids),
        error: some(["refused", "CLOSED", "123e4567"]),
        account: some([...new Set(all.map(({ run: of }) => of.account ?? ""))]),
        currency: some(CURRENCIES),
        payees: some([["B-1"], ["mark-2", "person/1"]]),
        reference: some(["Invoice 1"]),
        lateAt: some([Date.parse("2026-01-02"), Date.parse("2026-07-01")]),
        paidSince: some(times),
        paidUntil: some(times),
      }),
      fc.nat(),
      fc.nat(),
    )
    .map(([filter, ...picks]) => {
      const given = Object.entries(filter).filter(([, value]) => value !== undefined);
      const kept = new Set(picks.map((pick) => given[pick % Math.max(1, given.length)]?.[0]));
      // Of the drawn conditions, two are kept.
      return Object.fromEntries(given.filter(([name]) => kept.has(name)));
    });
};

const wholeOf = async (ledger: Ledger): Promise<ReadonlyArray<Whole>> => {
  const [runs, rows] = await Promise.all([ledger.runs({}), ledger.rows({})]);
  return runs.map((of) => ({
    run: of,
    rows: rows.filter((row) => [row.workflowId, row.ownerId, row.rootId].includes(of.workflowId)),
  }));
};

/** Reads all pages of a list. */
const pagesOf = async (ledger: Ledger, filter: RunFilter, sort: RunSort, limit: number) => {
  const found: Array<FoundRun> = [];
  let after: RunCursor | undefined;
  do {
    const page = await ledger.listRuns(filter, { limit, sort, after });
    found.push(...page.runs);
    after = page.next;
  } while (after !== undefined);
  return found;
};

/** What every ledger lists and adds up. */
export const describeLists = (open: () => Promise<Ledger>): void => {
  it(
    "lists and adds up what the same filter finds in memory, in drawn ledgers",
    { timeout: 120_000 },
    async () => {
      const ledger = await open();
      onTestFinished(() => ledger.close());
      await ledger.pause("batch", "file-2", ADA);
      for (const [at, drawn] of fc
        .sample(fc.array(run, { minLength: 8, maxLength: 14 }), { numRuns: 8, seed: 38 })
        .entries()) {
        for (const one of drawn) await put(ledger, `account-${at}`, one);
        const all = await wholeOf(ledger);
        expect(all.map(({ run: of }) => [of.workflowId, of.status])).toEqual(
          all.map((whole) => [whole.run.workflowId, statusOf(whole)]),
        );
        expect(all.filter(isStale)).toEqual([]);
        const asked = fc.tuple(
          filters(all),
          fc.constantFrom(...RUN_SORTS),
          fc.integer({ min: 1, max: 9 }),
          fc.constantFrom(undefined, "payee", "day", "batch", "reason" as const),
        );
        for (const [filter, sort, limit, by] of fc.sample(asked, { numRuns: 60, seed: at })) {
          const wanted = all.filter(
            (whole) => isFound(filter, whole) && paymentsOf(whole).some(paysAsAsked(filter)),
          );
          const found = await pagesOf(ledger, filter, sort, limit);
          const asking = JSON.stringify({ filter, sort, by });
          const sums = await ledger.sums(filter, by);
          const named = Object.fromEntries(
            sums.map(({ currency, group, key, payments, state, sum }) => [
              [key, group, state, currency].join(" "),
              `${payments}: ${BigDecimal.format(sum)}`,
            ]),
          );
          const listed = (some: ReadonlyArray<Whole>) =>
            some.map(({ rows, run: { workflowId } }) => [workflowId, new Set(rows)]);
          expect({ asking, listed: listed(found), sums: named }).toEqual({
            asking,
            listed: listed(wanted.toSorted(inOrder(sort))),
            sums: sumsInMemory(all, filter, by),
          });
        }
        // Each payment is in one sum.
        const payments = all.flatMap(paymentsOf).filter(({ amount }) => amount !== null);
        const counted = (await ledger.sums({})).reduce((sum, one) => sum + one.payments, 0);
        expect(counted).toBe(payments.length);
      }
    },
  );

  it("says the same of drawn payments after a prune, except texts and payees", async () => {
    const ledger = await open();
    onTestFinished(() => ledger.close());
    const drawn = fc.sample(fc.array(run, { minLength: 60, maxLength: 80 }), {
      numRuns: 2,
      seed: 41,
    });
    for (const one of drawn.flat()) await put(ledger, "account-pruned", one);
    // Statuses, ids, times and money, as a list, a report and a single run show them.
    const said = async () => {
      const found = await pagesOf(ledger, { account: "account-pruned" }, "started", 50);
      const sums = await Promise.all(
        ([undefined, "day", "batch"] as const).map((by) =>
          ledger.sums({ account: "account-pruned" }, by),
        ),
      );
      return {
        runs: found.map(({ rows, run: of, waits }) => ({
          run: { ...of, startedBy: 0, payee: 0, alias: 0, reference: 0, endReason: 0 },
          waits: waits.filter(({ closedAt }) => closedAt === null),
          writes: rows.map((row) => ({
            facts: [row.workflowId, row.step, row.operation, row.state, row.standing, row.madeId],
            times: [row.outcomeAt, row.createdAt, row.changedAt, row.request.paymentDate],
            word: row.word,
            money: [row.request.amount, row.request.currency],
          })),
        })),
        sums: sums.map((some) =>
          some.map(({ sum, ...of }) => JSON.stringify([of, BigDecimal.format(sum)])).toSorted(),
        ),
      };
    };
    const texts = async () =>
      (await ledger.runs({})).filter(({ startedBy }) => startedBy !== null).length;
    const before = await said();
    const textsBefore = await texts();
    expect(before.runs.some(({ run: of }) => of.status === "returned")).toBe(true);
    const later = (await ledger.state()).now + 60_000;
    expect(await ledger.prune(later, ADA)).toBeGreaterThan(20);
    expect(await said()).toEqual(before);
    expect(await texts()).toBeLessThan(textsBefore);
    expect(await ledger.prune(later, ADA)).toBe(0);
  });
};
