import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Ledger } from "../../src/index.ts";
import { trackerLease } from "../../src/index.ts";
import { ADA, batchOf, made, nameOf, rowOf, runOf, startOf } from "./rows.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** What stands still until a person acts. `skip` lets time pass. */
export const describeAttention = (
  open: () => Promise<{ readonly ledger: Ledger; readonly skip: (ms: number) => Promise<void> }>,
): void => {
  let ledger: Ledger;
  let skip: (ms: number) => Promise<void>;
  let account: string;
  let count = 0;
  beforeAll(async () => {
    ({ ledger, skip } = await open());
  });
  afterAll(() => ledger.close());
  beforeEach(() => {
    account = `account-${++count}`;
  });

  const pay = async (paymentDate: string | null, amount = "10.10") => {
    const id = `of-${account}-${++count}`;
    const name = nameOf({ account, workflowId: id });
    await ledger.transact(name, (look) => {
      const row = rowOf(name, look, made(id));
      return { row: { ...row, request: { ...row.request, amount, paymentDate } } };
    });
    return id;
  };
  const found = async (lateAfterMs = DAY_MS) =>
    (await ledger.attention({ lateAfterMs })).filter((one) => one.account === account);
  const now = async () => (await ledger.state()).now;
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

  it("finds nothing in a payout that is not late, and nothing once it has completed", async () => {
    const id = await pay(dayOf(await now()));
    expect(await found()).toEqual([]);
    const late = await pay(dayOf((await now()) - 3 * DAY_MS));
    expect(await found()).toMatchObject([{ kind: "late", count: 1, workflowIds: [late] }]);
    for (const one of [id, late])
      await ledger.sawPayout(account, one, {
        word: "Completed",
        outcome: "completed",
        asks: false,
        problem: null,
      });
    expect(await found()).toEqual([]);
  });

  it("counts late payouts as one item, with their exact sum", async () => {
    const before = dayOf((await now()) - 3 * DAY_MS);
    for (const amount of ["0.10", "0.20", "0.30", "0.40"]) await pay(before, amount);
    const [item, ...others] = await found();
    expect(others).toEqual([]);
    expect(item).toMatchObject({
      kind: "late",
      count: 4,
      money: [{ amount: "1.00", currency: "USD" }],
    });
    expect(item?.workflowIds.length).toBeLessThanOrEqual(3);
    expect(await found(4 * DAY_MS)).toEqual([]);
  });

  it("asks about a word once, however many payouts have it", async () => {
    const seen = { word: "Paid out", outcome: null, asks: true, problem: null } as const;
    for (const id of [await pay(null), await pay(null)]) await ledger.sawPayout(account, id, seen);
    expect(await found()).toMatchObject([{ kind: "word", of: "Paid out", count: 2 }]);
  });

  it("asks about the word of a completed payout since that word was first seen, not since its completion", async () => {
    const id = await pay(null);
    const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout(account, id, seen);
    await skip(DAY_MS);
    const at = await now();
    const recalled = { ...seen, word: "recalled", outcome: null, isUnlisted: true } as const;
    await ledger.sawPayout(account, id, recalled);
    await skip(HOUR_MS);
    await ledger.sawPayout(account, id, recalled);
    const [item] = await found();
    expect(item).toMatchObject({ kind: "word", of: "recalled" });
    expect(item?.since).toBeGreaterThanOrEqual(at);
    expect(item?.since).toBeLessThan(at + HOUR_MS);
  });

  it("calls a payout late since its payment date, and one with a word that nobody listed since it was made", async () => {
    const day = dayOf((await now()) - 3 * DAY_MS);
    await pay(day);
    expect(await found()).toMatchObject([{ kind: "late", since: Date.parse(day) + 2 * DAY_MS }]);
    const id = await pay(null);
    const seen = { word: "Unterwegs", outcome: null, asks: false, problem: null } as const;
    await ledger.sawPayout(account, id, { ...seen, isUnlisted: true });
    const made = await now();
    expect(await found()).toHaveLength(1);
    // As if the time were an hour later than it is.
    const unlisted = (await found(-HOUR_MS)).find(({ of }) => of === "Unterwegs");
    expect(unlisted).toMatchObject({ kind: "late", count: 1, workflowIds: [id] });
    expect(Math.abs((unlisted?.since ?? 0) - made + HOUR_MS)).toBeLessThan(60_000);
    const lateAt = (await now()) + HOUR_MS;
    expect(await ledger.sums({ account, lateAt })).toMatchObject([
      { state: "underWay", payments: 2 },
    ]);
  });

  it("says why the service refuses to show a payout", async () => {
    const problem = "HTTP 404: not found";
    const seen = { word: "", outcome: null, asks: false, problem } as const;
    await ledger.sawPayout(account, await pay(null), seen);
    expect(await found()).toMatchObject([{ kind: "unreadable", message: problem, count: 1 }]);
  });

  it("finds unfinished runs that Temporal has lost, payouts and onboardings apart", async () => {
    const lost = { runId: null, endState: "missing", endedAt: null } as const;
    const [card, run] = ["onboardCardholder", "payout"].map((type) =>
      runOf({ account, type, workflowId: `lost-${type}-${account}` }),
    );
    for (const one of [card, run].filter((given) => given !== undefined)) {
      await ledger.recordStart(one, startOf());
      const { workflowId } = one;
      await ledger.recordEnds([{ workflowId, ...lost, endType: null, endReason: null }]);
    }
    expect(await found()).toMatchObject([
      { kind: "missing", of: "onboardCardholder", count: 1, workflowIds: [card?.workflowId] },
      { kind: "missing", of: "payout", count: 1, workflowIds: [run?.workflowId] },
    ]);
  });

  it("finds an approved file of which nothing starts, unless it is paused", async () => {
    const id = `file-${account}`;
    const batch = { id, account, type: "payout", file: "may.csv", contentHash: "c", rows: 1 };
    const people = { createdBy: "ada", approvedBy: null, details: "{}", chunks: 1 };
    const saved = { ...batch, ...people, createdAt: 0, state: "approved" } as const;
    await ledger.saveBatch(id, () => ({ batch: saved }));
    const row = { number: 1, workflowId: `row-${account}`, fingerprint: id, terms: "t" };
    const pays = { amount: "7.00", currency: "EUR", reference: null, payee: "p" };
    const rest = { mark: null, shown: null, message: null, state: "waiting" } as const;
    await ledger.saveRows(id, [{ ...row, ...pays, ...rest }]);
    expect(await found()).toEqual([]);
    await skip(10 * 60_000);
    const stalled = { kind: "stalled", of: id, count: 1, workflowIds: [id] };
    const money = [{ amount: "7.00", currency: "EUR" }];
    expect(await found()).toMatchObject([{ ...stalled, money }]);
    await ledger.pause("batch", id, ADA);
    await skip(10 * 60_000);
    expect(await found()).toEqual([]);
    await ledger.resume("batch", id, ADA);
    expect(await found()).toEqual([]);
    await skip(10 * 60_000);
    expect(await found()).toMatchObject([stalled]);
    const name = nameOf({ account, workflowId: row.workflowId });
    await ledger.recordStart(runOf({ account, workflowId: name.workflowId, batch: id }), startOf());
    await ledger.transact(name, (look) => ({ row: rowOf(name, look, { state: "ready" }) }));
    expect(await found()).toEqual([]);
  });

  it("finds a file whose upload was interrupted, and one of which a payee cannot be read", async () => {
    const [left, unread] = [`left-${account}`, `unread-${account}`];
    const save = (id: string, state: "uploading" | "reading" | "cancelled") =>
      ledger.saveBatch(id, () => ({ batch: { ...batchOf(id), account, state } }));
    await save(left, "uploading");
    await save(unread, "reading");
    const row = { fingerprint: "", terms: "", reference: null, mark: null, shown: null };
    const rows = [1, 2].map((number) => ({
      ...row,
      number,
      workflowId: `${unread}/${number}`,
      amount: "7.00",
      currency: "EUR",
      payee: `p-${number}`,
      message: null,
      state: "waiting" as const,
    }));
    await ledger.saveRows(unread, rows);
    await ledger.keepPayees(unread, [1], { mark: null, shown: null, message: "It is closed." });
    expect(await found()).toEqual([]);
    await skip(10 * 60_000);
    expect(await found()).toMatchObject([
      { kind: "stalled", of: left, count: 1, money: [] },
      { kind: "stalled", of: unread, count: 1, message: "It is closed." },
    ]);
    await save(left, "cancelled");
    await ledger.keepPayees(unread, [1], { mark: "m", shown: "Ltd" });
    expect(await found()).toEqual([]);
  });

  it("finds a repair of which nothing is retried, and none that is under way for long", async () => {
    const id = `repair-${account}`;
    const batch = { ...batchOf(id), account, type: "repair", state: "approved" } as const;
    await ledger.saveBatch(id, () => ({ batch }));
    const ids = [1, 2].map((number) => `${id}/${number}`);
    for (const workflowId of ids)
      await ledger.recordStart(runOf({ account, workflowId, runId: "run-1" }), startOf());
    const none = { amount: null, currency: null, reference: null, payee: null, mark: null };
    const rest = {
      ...none,
      terms: "",
      shown: "as it was",
      message: null,
      state: "waiting",
    } as const;
    await ledger.saveRows(
      id,
      ids.map((workflowId, at) => ({
        ...rest,
        number: at + 1,
        workflowId,
        fingerprint: workflowId,
        run: "run-1",
      })),
    );
    await skip(10 * 60_000);
    const stalled = async () => (await found()).filter(({ kind }) => kind === "stalled");
    expect(await stalled()).toMatchObject([{ of: id }]);
    await ledger.claimRows(id, [1]);
    const decided = { account, workflowId: ids[0]!, step: null, question: null, value: {} };
    await ledger.decide({ ...ADA, ...decided, kind: "retry" });
    expect(await stalled()).toEqual([]);
    await skip(10 * 60_000);
    expect(await stalled()).toMatchObject([{ of: id }]);
  });

  it("counts the failures of a day: runs that ended without success, and money that came back", async () => {
    const at = await now();
    const ends = (["failed", "failed", "timedOut", "terminated", "cancelled"] as const).map(
      (endState, of) => ({ endState, endedAt: at, workflowId: `ended-${account}-${of}` }),
    );
    const longAgo = { endState: "failed", endedAt: at - 2 * DAY_MS } as const;
    for (const end of [...ends, { ...longAgo, workflowId: `long-ago-${account}` }]) {
      await ledger.recordStart(runOf({ account, workflowId: end.workflowId }), startOf());
      await ledger.recordEnds([{ ...end, runId: null, endType: null, endReason: null }]);
    }
    for (const outcome of ["completed", "failed", "returned"] as const) {
      const seen = { word: outcome, outcome, asks: false, problem: null };
      await ledger.sawPayout(account, await pay(null), seen);
    }
    const failures = async () =>
      (await ledger.overview()).failures
        .filter((one) => one.account === account)
        .toSorted((one, other) => one.kind.localeCompare(other.kind))
        .map(({ count, kind }) => [kind, count]);
    expect(await failures()).toEqual([
      ["failed", 2],
      ["returned", 1],
      ["terminated", 1],
      ["timedOut", 1],
    ]);
    await skip(DAY_MS + 60_000);
    expect(await failures()).toEqual([]);
  });

  it("finds an account with open runs whose tracker has not come for some time", async () => {
    await ledger.recordStart(runOf({ account, workflowId: `open-${account}` }), startOf());
    expect(await found()).toEqual([]);
    await skip(10 * 60_000);
    expect(await found()).toMatchObject([{ kind: "unserved", of: account, count: 1 }]);
    await ledger.lease(trackerLease(account), "worker-1", 60_000);
    expect(await found()).toEqual([]);
    await skip(10 * 60_000);
    expect(await found()).toMatchObject([{ kind: "unserved" }]);
  });
};
