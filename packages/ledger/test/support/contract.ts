import * as BigDecimal from "effect/BigDecimal";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type BatchRow,
  type Ledger,
  type LedgerOptions,
  LedgerUnavailable,
  MadeByAnother,
  type WriteName,
  type WriteRow,
} from "../../src/index.ts";
import { ADA, batchOf, decisionOf, made, nameOf, rowOf, runOf, saving, startOf } from "./rows.ts";

const batchRowOf = (number: number, given: Partial<BatchRow> = {}): BatchRow => ({
  number,
  workflowId: `row-${number}`,
  fingerprint: `print-${number}`,
  amount: "0.10",
  currency: "EUR",
  reference: null,
  payee: "mark-9",
  terms: "t",
  mark: null,
  shown: null,
  state: "waiting",
  message: null,
  ...given,
});

const COMPLETED = { word: "completed", outcome: "completed", asks: false, problem: null } as const;

/** What every ledger does. `open` gives another connection to the same one, or the same again where there is one only. */
export const describeLedger = (open: (options: LedgerOptions) => Promise<Ledger>): void => {
  let ledger: Ledger;
  let other: Ledger;
  let count = 0;
  /** A workflow id that no other test has. */
  const fresh = () => `run-${++count}`;
  beforeAll(async () => {
    // A payout that is still watched is not pruned.
    ledger = await open({ watchedForMs: 0 });
    other = await open({ watchedForMs: 0 });
  });
  afterAll(async () => {
    await ledger.close();
    await other.close();
  });

  it("keeps a row as it was given, one version more with each change", async () => {
    const name = nameOf({ workflowId: fresh() });
    const first = await ledger.transact(name, saving(name));
    expect(first.row).toMatchObject({ version: 1, request: { facts: { holder: "Grace Hopper" } } });
    const change = { state: "unknown", doubt: 1, message: "no answer", closedBy: "run-1" } as const;
    await ledger.transact(name, saving(name, change));
    const { row } = await other.look(name);
    expect(row).toEqual({
      ...first.row,
      ...change,
      version: 2,
      changedAt: row?.changedAt,
    });
    expect(await other.rowsOf(name.workflowId)).toMatchObject([{ ...row, standing: "unknown" }]);
  });

  it.each(["done", "refused", "ended", "undone"] as const)(
    "forgets who was paid once it is %s",
    async (state) => {
      const name = nameOf({ workflowId: fresh() });
      await ledger.transact(name, saving(name, { state }));
      expect((await ledger.look(name)).row?.request.facts).toEqual({});
      const inDoubt = nameOf({ workflowId: fresh() });
      await ledger.transact(inDoubt, saving(inDoubt, { state: "ended", doubt: 1 }));
      expect((await ledger.look(inDoubt)).row?.request.facts).not.toEqual({});
    },
  );

  it("changes nothing where the decision throws, and goes on with the others of the same turn", async () => {
    const [bad, good] = [nameOf({ workflowId: fresh() }), nameOf({ workflowId: fresh() })];
    const [refused, saved] = await Promise.allSettled([
      ledger.transact(bad, () => {
        throw new RangeError("no");
      }),
      ledger.transact(good, saving(good)),
    ]);
    expect(refused).toMatchObject({ reason: new RangeError("no") });
    expect(saved.status).toBe("fulfilled");
    expect((await ledger.look(bad)).row).toBeUndefined();
  });

  it("loses no change of concurrent writers", async () => {
    const name = nameOf({ workflowId: fresh() });
    const once = (of: Ledger) =>
      of.transact(name, (look) => ({
        row: {
          ...(look.row ?? rowOf(name, look, { sends: 0 })),
          sends: (look.row?.sends ?? 0) + 1,
        },
      }));
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => once(index % 2 === 0 ? ledger : other)),
    );
    expect((await ledger.look(name)).row).toMatchObject({ sends: 40, version: 40 });
  });

  it("returns the payouts of an account up to a time, the newest first, and after it, the oldest first", async () => {
    const account = fresh();
    const [one, two] = [
      nameOf({ account, workflowId: fresh() }),
      nameOf({ account, workflowId: fresh() }),
    ];
    const first = (await ledger.transact(one, saving(one, made(fresh())))).row!;
    await ledger.transact(
      two,
      saving(two, { ...made(fresh()), createdAt: first.createdAt + 60_000 }),
    );
    const open = nameOf({ account, workflowId: fresh() });
    await ledger.transact(open, saving(open));
    const until = async (time: number, limit = 9) =>
      (await other.payoutsNear(account, "until", time, limit)).map(({ workflowId }) => workflowId);
    expect(await until(first.createdAt + 60_000)).toEqual([two.workflowId, one.workflowId]);
    expect(await until(first.createdAt + 60_000, 1)).toEqual([two.workflowId]);
    expect(await until(first.createdAt + 59_999)).toEqual([one.workflowId]);
    expect(await until(first.createdAt - 1)).toEqual([]);
    const after = async (time: number, limit = 9) =>
      (await other.payoutsNear(account, "after", time, limit)).map(({ workflowId }) => workflowId);
    expect(await after(first.createdAt - 1)).toEqual([one.workflowId, two.workflowId]);
    expect(await after(first.createdAt - 1, 1)).toEqual([one.workflowId]);
    expect(await after(first.createdAt)).toEqual([two.workflowId]);
  });

  it("lets one write own what was made, and says who", async () => {
    const [one, two] = [nameOf({ workflowId: fresh() }), nameOf({ workflowId: fresh() })];
    const sent = { ...made("P-1"), from: 17 };
    const { changedAt, createdAt } = (await ledger.transact(one, saving(one, sent))).row!;
    await expect(other.transact(two, saving(two, made("P-1")))).rejects.toThrow(MadeByAnother);
    expect((await ledger.look(two)).row).toBeUndefined();
    expect(await ledger.owners("account-1", "createPayout", ["P-1", "P-2"])).toEqual(
      new Map([["P-1", { ...one, createdAt, recordedAt: changedAt, from: 17 }]]),
    );
    const given = { operation: "createBeneficiary", ...made("B-7") };
    await ledger.transact(two, saving(two, given));
    const three = nameOf({ workflowId: fresh() });
    await ledger.transact(three, saving(three, given));
    const [row] = await ledger.rowsOf(three.workflowId);
    const { payee } = row!.request;
    expect(await ledger.madeFor("account-1", "createBeneficiary", payee!)).toEqual(["B-7"]);
  });

  it("has all cardholders and cards of an account, and nothing else", async () => {
    const account = fresh();
    for (const operation of ["createCardholder", "createCard", "createPayout"]) {
      const name = nameOf({ account, workflowId: fresh(), step: operation });
      await ledger.transact(name, saving(name, { operation, ...made(`of ${operation}`) }));
    }
    const found = await other.cardholderWrites(account);
    const shared = { payee: "B-1", hash: "hash-1", standing: "completed" };
    expect(found.toSorted((a, b) => a.workflowId.localeCompare(b.workflowId))).toMatchObject([
      { operation: "createCardholder", madeId: "of createCardholder", ...shared },
      { operation: "createCard", madeId: "of createCard", ...shared },
    ]);
    expect(await other.cardholderWrites(fresh())).toEqual([]);
  });

  it("keeps what others write in the same turn where one is refused", async () => {
    const names = Array.from({ length: 6 }, () => nameOf({ workflowId: fresh() }));
    const taken = made(`P-${fresh()}`);
    const results = await Promise.allSettled(
      names.map((name, index) =>
        ledger.transact(name, saving(name, index < 2 ? taken : { state: "unknown" })),
      ),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => "fulfilled"),
      "rejected",
    ]);
    const states = await Promise.all(
      names.map(async (name) => (await other.look(name)).row?.state),
    );
    expect(states.filter((state) => state === "unknown")).toHaveLength(4);
  });

  it("of an end and a dispatch at the same moment the second sees the first", async () => {
    for (let round = 0; round < 20; round++) {
      const name = nameOf({ workflowId: fresh() });
      await ledger.transact(name, saving(name, { state: "ready" }));
      await Promise.all([
        ledger.transact(name, (look) =>
          look.end === undefined
            ? { row: { ...(look.row ?? rowOf(name, look)), state: "sending" } }
            : {},
        ),
        other.decide(decisionOf({ workflowId: name.workflowId })),
      ]);
      const { end, row } = await ledger.look(name);
      expect(end?.by).toBe("ada");
      expect(await ledger.decisionsOf(name.workflowId)).toHaveLength(1);
      // Sent before the end, or ended and never sent.
      expect(["sending", "ended"]).toContain(row?.state);
    }
  });

  it("holds an end before any row, until it is overruled", async () => {
    const workflowId = fresh();
    const name = nameOf({ workflowId });
    await ledger.decide(decisionOf({ workflowId }));
    expect((await other.look(name)).end?.reason).toBe("fraud of Mallory");
    await ledger.transact(name, saving(name, { state: "ended" }));
    await ledger.decide(decisionOf({ workflowId, kind: "overrule" }));
    const { end, row } = await other.look(name);
    expect(end).toBeUndefined();
    expect(row?.state).toBe("ready");
    expect((await ledger.decisionsOf(workflowId)).map(({ kind }) => kind)).toEqual([
      "end",
      "overrule",
    ]);
  });

  it("refuses a decision where the check throws", async () => {
    const workflowId = fresh();
    await expect(
      ledger.decide(decisionOf({ workflowId }), () => {
        throw new RangeError("not you");
      }),
    ).rejects.toThrow("not you");
    expect(await ledger.decisionsOf(workflowId)).toEqual([]);
  });

  it("shows the decisions about a write, those that are void as well", async () => {
    const name = nameOf({ workflowId: fresh() });
    for (const step of [name.step, "another", null])
      await ledger.decide(decisionOf({ workflowId: name.workflowId, step, kind: "approve" }));
    const { decisions } = await ledger.look(name);
    expect(decisions.map(({ step }) => step)).toEqual([name.step, null]);
    await ledger.transact(name, saving(name, { decisionsAfter: decisions[1]?.sequence ?? 0 }));
    expect((await ledger.look(name)).decisions).toEqual(decisions);
  });

  it("records the run with its first row, where nobody has, and changes none that is known", async () => {
    const [bare, known] = [nameOf({ workflowId: fresh() }), nameOf({ workflowId: fresh() })];
    await ledger.recordStart(runOf({ workflowId: known.workflowId, type: "payout" }), startOf());
    for (const name of [bare, known]) {
      await ledger.transact(name, (look) => ({ ...saving(name)(look), workflowType: "payOrder" }));
    }
    const types = async (workflowId: string) =>
      (await ledger.runs({ workflowIds: [workflowId] })).map(({ startedBy, type }) => [
        type,
        startedBy,
      ]);
    expect(await types(bare.workflowId)).toEqual([["payOrder", null]]);
    expect(await types(known.workflowId)).toEqual([["payout", "ada"]]);
  });

  it("keeps who started a run first, and every start in the log, each once", async () => {
    const { workflowId } = nameOf({ workflowId: fresh() });
    await ledger.recordStart(runOf({ workflowId, batch: "B1", batchRow: 1 }), startOf());
    const again = [runOf({ workflowId, runId: "r-2" }), startOf({}, "eve")] as const;
    await Promise.all([ledger.recordStart(...again), ledger.recordStart(...again)]);
    const [run] = await other.runs({ workflowIds: [workflowId] });
    expect(run).toMatchObject({ startedBy: "ada", runId: "r-2", batch: "B1" });
    expect(await other.decisionsOf(workflowId)).toMatchObject([
      { kind: "start", by: "ada", how: "terminal", value: { type: "payout" } },
      { kind: "start", by: "eve" },
    ]);
    const { workflowId: named } = nameOf({ workflowId: fresh() });
    await ledger.recordStart(runOf({ workflowId: named }), startOf({ notDuplicate: "two rents" }));
    expect((await ledger.decisionsOf(named))[0]?.reason).toBe("two rents");
    expect(await ledger.verify(workflowId)).toEqual({ isIntact: true, lines: 2 });
  });

  it("knows the rows of files, created beneficiaries, pauses and another account", async () => {
    const name = nameOf({ workflowId: fresh() });
    await ledger.saveRows("B1", [batchRowOf(1, { payee: "mark-B1", workflowId: name.workflowId })]);
    await ledger.recordStart(runOf({ workflowId: name.workflowId, batch: "B1" }), startOf());
    const created = { ...name, step: "createBeneficiary" };
    await ledger.transact(created, (look) => {
      const row = rowOf(created, look, { operation: "createBeneficiary", ...made("b-1") });
      return { row: { ...row, request: { ...row.request, payee: "mark-B1" } } };
    });
    await ledger.pause("batch", "B1", ADA);
    expect(await other.look(name)).toMatchObject({
      isOutdated: false,
      filed: ["waiting"],
      created: [{ id: "b-1", mark: "mark-B1" }],
      pause: { scope: "batch", of: "B1", by: "ada", reason: "as agreed" },
      isOfOtherAccount: false,
    });
    expect(await ledger.resume("batch", "B1", ADA)).toBe(true);
    expect(await ledger.resume("batch", "B1", ADA)).toBe(false);
    expect(await ledger.pauses()).toEqual([]);
    await ledger.transact(name, saving(name));
    expect((await ledger.look({ ...name, account: "account-2" })).isOfOtherAccount).toBe(true);
  });

  it("lets two accounts use one business key, and a workflow's own step one account only", async () => {
    const key = { workflowId: `payout/${fresh()}`, step: "createPayout" };
    const [first, second] = [nameOf(key), nameOf({ ...key, account: "account-2" })];
    const owner = { ownerId: fresh(), rootId: "root" };
    await ledger.transact(first, saving(first, owner), owner);
    expect((await other.look(second, owner)).isOfOtherAccount).toBe(false);
    // Also where the run of that id asks for the one, and a workflow with the key for the other.
    expect((await other.look(second)).isOfOtherAccount).toBe(false);
    await ledger.transact(second, saving(second));
    expect((await other.look(first, owner)).isOfOtherAccount).toBe(false);
    expect((await other.look({ ...first, account: "account-3" })).isOfOtherAccount).toBe(true);
  });

  it("asks the workflow of a write with a key, and its root, for ends, pauses and starts", async () => {
    const name = nameOf({ workflowId: `payout/${fresh()}` });
    const [ownerId, rootId] = [fresh(), fresh()];
    const owner = { ownerId, rootId };
    for (const workflowId of [name.workflowId, ownerId, rootId]) {
      await ledger.recordStart(runOf({ workflowId }), startOf({}, `starter of ${workflowId}`));
      await ledger.decide(decisionOf({ workflowId, kind: "approve", step: name.step }));
      await ledger.pause("run", workflowId, ADA);
      expect((await other.look(name, owner)).pause?.of).toBe(workflowId);
      await ledger.resume("run", workflowId, ADA);
    }
    await ledger.transact(name, saving(name, owner), owner);
    // Also as stored: the tracker asks without saying for whom.
    for (const seen of [await other.look(name, owner), await other.look(name)]) {
      const permitting = seen.decisions.filter(
        ({ kind }) => kind === "start" || kind === "approve",
      );
      expect(permitting.map(({ kind, workflowId }) => [kind, workflowId])).toEqual([
        ["start", name.workflowId],
        // An approval of the owner's own step is none of this write.
        ["approve", name.workflowId],
        ["start", ownerId],
        ["start", rootId],
      ]);
    }
    const anew = await other.look(name, { ownerId: "x", rootId: "y" });
    expect(anew.decisions).toEqual((await other.look(name)).decisions);
    for (const id of [name.workflowId, ownerId, rootId])
      expect((await other.rowsOf(id)).map((row) => row.workflowId)).toEqual([name.workflowId]);
    await ledger.transact(name, saving(name, { state: "ready", ...owner }));
    await ledger.decide(decisionOf({ workflowId: rootId }), (look) => {
      expect(look.rows.map(({ workflowId }) => workflowId)).toEqual([name.workflowId]);
      return [];
    });
    expect(await other.look(name)).toMatchObject({ end: { by: "ada" }, row: { state: "ended" } });
    await ledger.decide(decisionOf({ workflowId: rootId, kind: "overrule" }));
    await ledger.decide(decisionOf({ workflowId: name.workflowId, kind: "approve" }), (look) => {
      const ids = look.decisions.flatMap(({ kind, workflowId }) =>
        kind === "start" ? workflowId : [],
      );
      expect(ids).toEqual([name.workflowId, ownerId, rootId]);
      expect(look.decisions.at(-1)).toMatchObject({ kind: "overrule", workflowId: rootId });
      return [];
    });
    expect((await other.look(name)).row?.state).toBe("ready");
  });

  it("sets limits by decisions: tighter ones at once, looser ones once another person approves", async () => {
    const account = `account-${fresh()}`;
    const seen = async () => (await other.look(nameOf({ account, workflowId: fresh() }))).limits;
    const none = { maxAmounts: null, approveAbove: null };
    expect(await ledger.limits(account)).toEqual({ ...none, since: 0 });
    const first = { maxAmounts: { EUR: "1000" }, approveAbove: { EUR: "100" } };
    const { since } = await ledger.setLimits(account, first, ADA);
    expect(await seen()).toEqual({ ...first, since });
    const { pending } = await other.setLimits(account, none, ADA);
    expect(pending).toMatchObject({ ...none, by: "ada" });
    expect(await seen()).toMatchObject({ ...first, since });
    const { sequence = 0 } = pending ?? {};
    const grace = { ...ADA, by: "grace" };
    expect(await ledger.approveLimits(account, sequence, { ...ADA, by: " ADA" })).toBeUndefined();
    expect(await ledger.approveLimits(account, sequence - 1, grace)).toBeUndefined();
    const looser = await ledger.approveLimits(account, sequence, grace);
    expect(looser).toEqual({ ...none, since: expect.any(Number) as number });
    expect(looser?.since).toBeGreaterThan(sequence);
    expect(await ledger.approveLimits(account, sequence, grace)).toBeUndefined();
    expect(await ledger.decisionsOf(`limits/${account}`)).toMatchObject([
      { kind: "limits", by: "ada" },
      { kind: "limits", by: "ada" },
      { kind: "approve", by: "grace", value: { sequence } },
    ]);
    expect(await ledger.verify(`limits/${account}`)).toEqual({ isIntact: true, lines: 3 });
  });

  it("finds rivals, renamed steps, what needs a person and who was not notified", async () => {
    const account = "account-rivals";
    const name = nameOf({ account, workflowId: fresh() });
    await ledger.transact(name, saving(name, { state: "unknown", doubt: 1 }));
    expect(await ledger.rivals(account, "createCardholder")).toEqual([]);
    const renamed = { ...name, step: "renamed" };
    expect(await ledger.rivals(account, "createPayout")).toMatchObject([name]);
    expect(await ledger.sameRequestElsewhere(renamed, "createPayout", "hash-1")).toHaveLength(1);
    const question = {
      id: "q",
      kind: "outcome",
      reason: "which?",
      candidates: [],
      account: null,
      since: 1,
    } as const;
    await ledger.transact(
      renamed,
      saving(renamed, { state: "asking", question, mustNotify: true }),
    );
    for (const filter of [
      { needsPerson: true },
      { mustNotify: true },
      { states: ["asking"] },
    ] as const) {
      expect((await ledger.rows({ account, ...filter })).map(({ step }) => step)).toEqual([
        "renamed",
      ]);
    }
  });

  it("finds likely duplicates", async () => {
    const account = `account-${fresh()}`;
    const workflowId = fresh();
    const created = nameOf({ account, workflowId, step: "createBeneficiary" });
    const request = {
      ...rowOf(created, { epoch: 1, now: 1 }).request,
      amount: null,
      currency: null,
      payee: "mark-7",
    };
    const twice = { ...created, workflowId: fresh() };
    for (const [name, id] of [
      [created, "B-70"],
      [twice, "B-71"],
    ] as const) {
      const given = { operation: "createBeneficiary", request, ...made(id) };
      await ledger.transact(name, saving(name, given));
    }
    const paid = nameOf({ account, workflowId });
    await ledger.transact(paid, (look) => ({
      row: rowOf(paid, look, {
        ...made(`P-${workflowId}`),
        request: { ...request, amount: "250.00", currency: "USD", payee: "B-70" },
      }),
    }));
    const planned = {
      workflowId: "new",
      payee: "mark-7",
      amount: "250",
      currency: "USD",
      reference: "Invoice 17",
    };
    const found = await ledger.similarPayments(account, [
      planned,
      { ...planned, reference: "Invoice 18" },
      { ...planned, reference: null },
      { ...planned, workflowId },
      { ...planned, amount: "250.01" },
      // Another beneficiary of the same account.
      { ...planned, payee: "B-71" },
      { ...planned, payee: "B-72" },
    ]);
    expect(found.map((some) => some.map((one) => one.workflowId))).toEqual([
      [workflowId],
      [],
      [workflowId],
      // The same as those that were planned before it.
      ["new"],
      [],
      [workflowId],
      [],
    ]);
    const standing = async () =>
      (await ledger.similarPayments(account, [planned]))[0]?.map((one) => one.standing);
    expect(await standing()).toEqual(["made"]);
    const seen = { word: "returned", outcome: "returned", asks: false, problem: null } as const;
    await ledger.sawPayout(account, `P-${workflowId}`, seen);
    expect(await standing()).toEqual(["returned"]);
    // A repair plans it, too: its recorded payment counts for more.
    const both = await ledger.similarPayments(account, [{ ...planned, workflowId }, planned]);
    expect(both[1]).toMatchObject([{ workflowId, standing: "returned" }]);
  });

  it("finds likely duplicates by either mark, and people whatever they cost", async () => {
    const [account, paid, held] = [`account-${fresh()}`, fresh(), fresh()];
    const payment = { payee: "m-1", alias: "m-2", amount: "10.00", currency: "EUR" };
    const reference = "Rechnung Müller 17";
    const first = runOf({ account, workflowId: paid, ...payment, reference });
    await ledger.recordStart(first, startOf());
    const person = { payee: "person/n-1", alias: "person/e-1", amount: "1", currency: "USD" };
    // A program that does not say which account pays.
    const second = runOf({ account: null, workflowId: held, ...person, reference: "card 1" });
    await ledger.recordStart(second, startOf());
    const spelled = "RECHNUNG\u00a0\u00a0Mu\u0308ller 17\u200b";
    const asked = [
      { ...payment, reference: spelled },
      { ...payment, payee: "m-3", reference },
      { ...payment, payee: "m-3", alias: null, reference },
      { ...payment, amount: "10.01", reference },
      { ...person, payee: "person/n-2", amount: "7", reference: "card 2" },
      { ...person, alias: null, amount: "8", reference: null },
      { ...person, payee: "person/n-3", alias: "person/e-3", reference: null },
    ];
    const found = await Promise.all(
      asked.flatMap((one) =>
        [account, undefined].map(async (of) => {
          const [similar] = await other.similarPayments(of, [{ ...one, workflowId: "new" }]);
          return similar?.map(({ workflowId }) => workflowId);
        }),
      ),
    );
    const each = [[paid], [paid], [], [], [held], [held], []];
    expect(found).toEqual(each.flatMap((one) => [one, one]));
  });

  it("keeps waits with their outcome, and one holder of a lease", async () => {
    const wait = {
      account: "account-1",
      workflowId: fresh(),
      runId: "r",
      activityId: "awaitPayout:P",
      kind: "payout",
      thing: "P",
    } as const;
    await ledger.openWait(wait);
    const opened = await ledger.waits({ workflowId: wait.workflowId });
    await other.openWait(wait);
    expect(await other.waits({ workflowId: wait.workflowId })).toEqual(opened);
    const read = (problem: string | null) =>
      other.readWaits(opened.map((one) => ({ wait: one, problem })));
    await read("unknown");
    expect(await ledger.waits({ workflowId: wait.workflowId, isOpen: true })).toMatchObject([
      { outcome: { problem: "unknown" } },
    ]);
    await ledger.closeWaits([{ ...wait, outcome: { status: "paid" } }]);
    await read(null);
    await other.closeWaits([{ ...wait, outcome: { status: "failed" } }]);
    expect(await ledger.waits({ workflowId: wait.workflowId })).toMatchObject([
      { outcome: { status: "paid" } },
    ]);
    expect(await ledger.waits({ workflowId: wait.workflowId, isOpen: true })).toEqual([]);
    // Opened again, and ended at once: since when it is open stays.
    await ledger.openWait(wait);
    const [again] = await ledger.waits({ workflowId: wait.workflowId });
    await other.endWait({ ...wait, outcome: { status: "failed" } });
    expect(await ledger.waits({ workflowId: wait.workflowId })).toEqual([
      { ...again, closedAt: expect.any(Number), readAfter: null, outcome: { status: "failed" } },
    ]);
    const name = fresh();
    const holders = await Promise.all([
      ledger.lease(name, "one", 60_000),
      other.lease(name, "two", 60_000),
    ]);
    expect(holders.filter(Boolean)).toHaveLength(1);
    expect(await ledger.lease(name, holders[0] ? "one" : "two", 0)).toBe(true);
    expect(await other.lease(name, "three", 60_000)).toBe(true);
    // Not of somebody else.
    expect(await ledger.lease(name, "one", 0)).toBe(false);
    expect(await ledger.lease(name, "one", 60_000)).toBe(false);
  });

  it("reads for a wait for a return by itself as soon as nobody watches its payout", async () => {
    const name = nameOf({ workflowId: fresh() });
    const id = `P-${name.workflowId}`;
    await ledger.transact(name, saving(name, made(id)));
    const { account, workflowId } = name;
    const wait = { account, workflowId, runId: "run-1", activityId: "await", thing: id } as const;
    await ledger.openWait({ ...wait, kind: "return" });
    const due = async () =>
      (await other.waits({ account, kind: "return", isOpen: true, isDue: true })).filter(
        (one) => one.thing === id,
      ).length;
    // The schedule of the payout reads for it.
    expect(await due()).toBe(0);
    // Its watch is over, here as soon as it has an outcome.
    await ledger.sawPayout(account, id, COMPLETED);
    expect(await due()).toBe(1);
    await ledger.readWaits((await other.waits({ workflowId })).map((one) => ({ wait: one })));
    expect(await due()).toBe(0);
    expect((await other.waits({ workflowId }))[0]?.readAfter).toBeGreaterThan(0);
    await ledger.sawPayout(account, id, COMPLETED);
    expect(await due()).toBe(0);
    await ledger.closeWaits([{ ...wait, outcome: {} }]);
  });

  it("reads a payout that nobody watches any more once for each hint about it, and records what came back", async () => {
    const account = fresh();
    const name = nameOf({ workflowId: fresh(), account });
    const id = `P-${name.workflowId}`;
    await ledger.transact(name, saving(name, made(id)));
    await ledger.sawPayout(account, id, COMPLETED);
    const due = async () =>
      (await other.duePayouts(account, 9, "watched")).map(({ madeId }) => madeId);
    expect(await due()).toEqual([]);
    await other.readSoon([account], "P-unknown");
    expect(await due()).toEqual([]);
    for (const outcome of ["completed", "returned"] as const) {
      await other.readSoon([account], id);
      expect(await due()).toEqual([id]);
      // An outage: it could not be read, and is read again later.
      const row = await other.payout(account, id);
      if (row === undefined) throw new Error("It was made.");
      await ledger.sawPayouts(account, [{ row, seen: undefined }]);
      expect(await due()).toEqual([]);
      const later = await other.payout(account, id);
      expect(later?.readAfter).toBeGreaterThan(row.readAfter ?? 0);
      // A hint that comes while it is read, perhaps as it was before.
      await other.readSoon([account], id);
      const seen = { ...COMPLETED, word: later?.word ?? "" };
      if (later !== undefined) await ledger.sawPayouts(account, [{ row: later, seen }]);
      expect(await due()).toEqual([id]);
      await ledger.sawPayout(account, id, { ...COMPLETED, word: outcome, outcome });
      expect(await other.payout(account, id)).toMatchObject({ standing: outcome, readAfter: null });
    }
    const lines = await ledger.logOf(name.workflowId);
    expect(lines.at(-1)).toMatchObject({ what: "payout returned", details: { word: "returned" } });
  });

  it("counts the rows of a batch exactly, and finds them by their fingerprints", async () => {
    const id = fresh();
    await ledger.saveBatch(id, (before) => {
      expect(before).toBeUndefined();
      return { batch: batchOf(id), decision: decisionOf({ kind: "approve" }) };
    });
    await ledger.saveRows(
      id,
      Array.from({ length: 1_201 }, (_, index) => batchRowOf(index + 1)),
    );
    await ledger.coverRow(id, 2, "Already in an earlier file.");
    // A second upload of the same file replaces nothing.
    await other.saveRows(id, [batchRowOf(2)]);
    expect(await other.batchCounts(id)).toEqual([
      {
        status: "covered",
        standing: "open",
        currency: "EUR",
        rows: 1,
        amount: "0.10",
      },
      {
        status: "notStarted",
        standing: "open",
        currency: "EUR",
        rows: 1_200,
        amount: "120.00",
      },
    ]);
    expect(
      (await other.batchRows(id, { states: ["waiting"], after: 1, limit: 2 })).map(
        ({ number }) => number,
      ),
    ).toEqual([3, 4]);
    expect(await other.rowsWithFingerprints("account-1", ["print-2"])).toMatchObject([
      { batch: id, state: "covered", message: "Already in an earlier file." },
    ]);
    expect(await other.decisionsOf(`batch:${id}`)).toHaveLength(1);
    expect((await other.batches()).map((batch) => batch.id)).toContain(id);
  });

  it("keeps the payees of a batch as the service shows them, and knows those that were never paid", async () => {
    const id = fresh();
    const account = `account of ${id}`;
    const paid = async (workflowId: string, payee: string, beneficiary?: string) => {
      const write = (step: string, of: Partial<WriteRow>) => {
        const name = { account, workflowId, step };
        return ledger.transact(name, saving(name, of));
      };
      const { request } = rowOf(nameOf(), { epoch: 1, now: 0 });
      const named = { ...request, payee };
      if (beneficiary !== undefined)
        await write("createBeneficiary", {
          ...made(beneficiary),
          operation: "createBeneficiary",
          request: named,
        });
      const to = { ...named, payee: beneficiary ?? payee };
      await write("createPayout", { ...made(`P-${workflowId}`), request: to });
    };
    await paid(fresh(), "B-known");
    await paid(fresh(), "mark-known", `B-of-${id}`);
    await ledger.saveBatch(id, () => ({ batch: { ...batchOf(id), account, state: "reading" } }));
    const read = await other.batches({ states: ["reading"] });
    expect(read.map((batch) => batch.id)).toEqual([id]);
    await ledger.saveRows(id, [
      batchRowOf(1, { payee: "B-known" }),
      batchRowOf(2, { payee: "B-new" }),
      batchRowOf(3, { payee: "mark-known", mark: "mark-known", shown: "Known Ltd" }),
      batchRowOf(4, { payee: "B-other-id-of-known" }),
    ]);
    await ledger.keepPayees(id, [2], { mark: null, shown: "not found" });
    await ledger.keepPayees(id, [1, 4], { mark: null, shown: null, message: "503" });
    expect((await other.batchRows(id, { limit: 1 }))[0]).toMatchObject({ message: "503" });
    await ledger.keepPayees(id, [4], { mark: "mark-known", shown: "Known Ltd" });
    expect(
      (await other.batchRows(id, { limit: 9 })).map(({ mark, shown }) => [mark, shown]),
    ).toEqual([
      [null, null],
      [null, "not found"],
      ["mark-known", "Known Ltd"],
      ["mark-known", "Known Ltd"],
    ]);
    expect([...(await other.newPayees({ id, account }))]).toEqual([2]);
    expect((await other.batch(id))?.state).toBe("reading");
    await ledger.keepPayees(id, [1], { mark: "m", shown: "Ltd" });
    expect((await other.batch(id))?.state).toBe("needsApproval");
  });

  it("starts or rejects a waiting row of a batch, never both, and finishes a batch whose rows have all ended", async () => {
    const id = fresh();
    await ledger.saveBatch(id, () => ({ batch: { ...batchOf(id), state: "approved" } }));
    await ledger.saveRows(
      id,
      [1, 2, 3].map((number) => batchRowOf(number, { workflowId: `${id}/${number}` })),
    );
    expect(await ledger.claimRows(id, [1, 2])).toEqual([1, 2]);
    expect(await other.claimRows(id, [2])).toEqual([]);
    expect(await other.batches({ states: ["approved"] })).toMatchObject([{ id }]);
    expect(await other.rejectRows(id)).toBe(1);
    expect(await ledger.claimRows(id, [3])).toEqual([]);
    await ledger.finishBatch(id);
    expect((await other.batch(id))?.state).toBe("approved");
    const end = { runId: null, endedAt: 1, endType: null, endReason: null };
    for (const workflowId of [`${id}/1`, `${id}/2`]) {
      await ledger.recordStart(runOf({ workflowId, batch: id }), startOf());
      await ledger.recordEnds([{ ...end, endState: "failed", workflowId }]);
    }
    await ledger.finishBatch(id);
    expect((await other.batch(id))?.state).toBe("finished");
  });

  it("has each payment of a user's own workflow in a repair, and what it is about to send before that", async () => {
    const [id, later, own, card] = [fresh(), fresh(), fresh(), fresh()];
    const planned = { amount: null, currency: null, payee: null, reference: null };
    await ledger.recordStart(runOf({ workflowId: own, type: "payAll", ...planned }), startOf());
    const type = "onboardCardholder";
    const person = { payee: "person/1", shown: "Ada Muster" };
    await ledger.recordStart(
      runOf({ workflowId: card, runId: "run-1", type, ...person }),
      startOf(),
    );
    const write = async (workflowId: string, step: string, given: Parameters<typeof saving>[1]) => {
      const name = nameOf({ workflowId, step });
      await ledger.transact(name, saving(name, given));
    };
    await write(own, "first", made(`${own}-P`));
    await ledger.sawPayout("account-1", `${own}-P`, COMPLETED);
    await write(own, "second", { state: "refused" });
    const { request } = rowOf(nameOf(), { epoch: 1, now: 0 });
    const of = (payee: string, amount: string | null) => ({ ...request, payee, amount });
    await write(card, "createCardholder", {
      ...made(`${card}-H`),
      operation: "createCardholder",
      request: of("person/1", null),
    });
    await write(card, "createCard", {
      operation: "createCard",
      state: "refused",
      request: of(`${card}-H`, "9000.00"),
    });
    const end = { endedAt: 1, endType: null, endReason: "no funds", endState: "failed" } as const;
    for (const workflowId of [own, card])
      await ledger.recordEnds([{ ...end, workflowId, runId: "run-1" }]);
    const money = { currency: "USD", amount: "250.00" };
    expect(await other.failures({ find: own })).toMatchObject([{ runs: 1, sums: [money] }]);
    for (const batch of [id, later])
      await ledger.saveBatch(batch, () => ({
        batch: { ...batchOf(batch), type: "repair", state: "approved" },
      }));
    await ledger.saveRows(id, [
      batchRowOf(1, { workflowId: own, run: "run-0", state: "started" }),
      batchRowOf(2, { workflowId: card, run: "run-1", amount: "90.00", terms: "amended" }),
    ]);
    const rows = await other.listRows(id);
    expect(rows).toMatchObject([
      { number: 1, madeId: `${own}-P`, standing: "completed", amount: "250.00" },
      { number: 1, madeId: null, standing: "refused", amount: "250.00" },
      { number: 2, status: "notStarted", standing: "open", amount: "90.00", reason: null },
    ]);
    expect(rows[2]).toMatchObject({ namedAs: "person/1", retriedBy: null });
    const counts = await other.batchCounts(id);
    expect(counts.map(({ rows, standing }) => [standing, rows])).toEqual([
      ["completed", 1],
      ["refused", 0],
      ["open", 1],
    ]);
    await ledger.saveRows(later, [
      batchRowOf(1, { workflowId: own, run: "run-1", state: "started" }),
    ]);
    expect((await other.listRows(id))[0]).toMatchObject({ retriedBy: later });
  });

  it("finishes no repair whose last row was taken, and whose run is still the failed one", async () => {
    const [id, workflowId] = [fresh(), fresh()];
    await ledger.recordStart(runOf({ workflowId, runId: "run-1" }), startOf());
    const end = { endedAt: 1, endType: null, endReason: null };
    const failed = { ...end, workflowId, runId: "run-1", endState: "failed" } as const;
    await ledger.recordEnds([failed]);
    const repair = { ...batchOf(id), type: "repair", state: "approved" } as const;
    await ledger.saveBatch(id, () => ({ batch: repair }));
    await ledger.saveRows(id, [batchRowOf(1, { workflowId, run: "run-1" })]);
    // Its worker may be killed now.
    expect(await ledger.claimRows(id, [1])).toEqual([1]);
    const finished = async () => {
      await other.finishBatch(id);
      const [row] = await other.listRows(id);
      return [(await other.batch(id))?.state, row?.status];
    };
    expect(await finished()).toEqual(["approved", "running"]);
    await ledger.reopenRun(workflowId, "run-1", "run-2");
    expect(await finished()).toEqual(["approved", "running"]);
    await ledger.recordEnds([{ ...failed, runId: "run-2" }]);
    expect(await finished()).toEqual(["finished", "failed"]);
  });

  it("ends the runs of rejected rows, and gives an id to the file that starts it after all", async () => {
    const [dead, next, key, begun] = [fresh(), fresh(), fresh(), fresh()];
    for (const id of [dead, next])
      await ledger.saveBatch(id, () => ({ batch: { ...batchOf(id), state: "approved" } }));
    const start = (
      workflowId: string,
      batch: string,
      batchRow: number,
      amount: string,
      by: string,
    ) =>
      ledger.recordStart(
        runOf({ workflowId, batch, batchRow, amount }),
        startOf({ content: amount }, by),
      );
    await ledger.saveRows(dead, [
      batchRowOf(1, { workflowId: key }),
      batchRowOf(2, { workflowId: begun }),
    ]);
    await start(key, dead, 1, "8.00", "ada");
    await start(begun, dead, 2, "9.00", "ada");
    expect(await ledger.claimRows(dead, [2])).toEqual([2]);
    expect(await other.rejectRows(dead)).toBe(1);
    const find = async (workflowIds = [key]) => other.runs({ workflowIds });
    expect(await find()).toMatchObject([
      { status: "cancelled", endState: "cancelled", endedAt: expect.any(Number), amount: "8.00" },
    ]);
    expect(await find([begun])).toMatchObject([{ status: "running", endState: null }]);
    // The same start again, by an interrupted upload, opens nothing.
    await start(key, dead, 1, "8.00", "ada");
    expect(await find()).toMatchObject([{ status: "cancelled", batch: dead }]);

    await ledger.saveRows(next, [batchRowOf(7, { workflowId: key, amount: "8.50" })]);
    await start(key, next, 7, "8.50", "carol");
    expect(await find()).toMatchObject([
      { status: "running", batch: next, batchRow: 7, startedBy: "carol", amount: "8.50" },
    ]);
    expect(await ledger.claimRows(next, [7])).toEqual([7]);
    const name = nameOf({ workflowId: key });
    await ledger.transact(name, (look) => ({ row: rowOf(name, look, made(`P-${key}`)) }));
    const seen = { word: "Completed", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout("account-1", `P-${key}`, seen);
    expect(await other.listRows(next)).toMatchObject([{ standing: "completed" }]);
    // The rows of the rejected file are not paid, whatever a later file pays.
    expect(await other.listRows(dead, { limit: 1 })).toMatchObject([
      { status: "rejected", standing: "stopped", operation: null, madeId: null, amount: "0.10" },
    ]);
    expect(await other.batchCounts(dead)).toContainEqual(
      expect.objectContaining({ status: "rejected", standing: "stopped", amount: "0.10" }),
    );
    // A run takes its row along that has begun after all, as a restored ledger may see it.
    await start(begun, next, 8, "1.00", "carol");
    expect(await find([begun])).toMatchObject([{ batch: dead, startedBy: "ada" }]);
  });

  it("says of each row what was sent and what became of it, whoever has started it", async () => {
    const [first, second] = [fresh(), fresh()];
    const account = "account-1";
    const row = (number: number, id: string, given: Partial<BatchRow> = {}) =>
      batchRowOf(number, { workflowId: id, state: "started", ...given });
    const [paid, back, amended, stopped] = [fresh(), fresh(), fresh(), fresh()];
    for (const id of [first, second])
      await ledger.saveBatch(id, () => ({ batch: { ...batchOf(id), state: "approved" } }));
    await ledger.saveRows(first, [row(1, paid), row(2, back), row(3, amended), row(4, stopped)]);
    await ledger.saveRows(second, [
      row(1, paid, { state: "covered", message: "Already in may.csv." }),
      batchRowOf(2),
    ]);
    for (const id of [paid, back, amended, stopped]) {
      const of = { workflowId: id, amount: "0.10", currency: "EUR", batch: first };
      await ledger.recordStart(runOf(of), startOf());
    }
    const pay = (id: string, amount: string) => {
      const name = nameOf({ workflowId: id });
      return ledger.transact(name, (look) => {
        const sent = rowOf(name, look, made(`P-${id}`));
        return { row: { ...sent, request: { ...sent.request, amount, currency: "EUR" } } };
      });
    };
    await pay(paid, "0.10");
    await pay(back, "0.10");
    await pay(amended, "7.00");
    const seen = { asks: false, problem: null };
    const see = (id: string, word: string, outcome: "completed" | "returned") =>
      ledger.sawPayout(account, `P-${id}`, { ...seen, word, outcome });
    await see(paid, "Completed", "completed");
    await see(back, "Returned", "returned");
    await ledger.decide(decisionOf({ workflowId: stopped }));
    await ledger.finishBatch(first);
    // A payout is under way: the file is not finished.
    expect((await other.batch(first))?.state).toBe("approved");
    const found = await other.listRows(first, { limit: 9 });
    const ended = { endState: "cancelled", runId: null, endedAt: null, endType: null } as const;
    await ledger.recordEnds([{ ...ended, workflowId: paid, endReason: "Workflow canceled" }]);
    const [afterwards] = await other.listRows(first, { limit: 1 });
    expect(
      found.map(({ amount, madeId, standing, word }) => [amount, standing, word, madeId]),
    ).toEqual([
      ["0.10", "completed", "Completed", `P-${paid}`],
      ["0.10", "returned", "Returned", `P-${back}`],
      ["7.00", "made", null, `P-${amended}`],
      ["0.10", "stopped", null, null],
    ]);
    expect(found.map(({ status }) => status).slice(1)).toEqual(["returned", "waiting", "ended"]);
    // A payout that has completed is paid, whatever became of its run.
    expect(afterwards).toMatchObject({ status: "succeeded", standing: "completed" });
    expect(await other.listRows(second, { limit: 9 })).toMatchObject([
      {
        status: "covered",
        standing: "completed",
        madeId: `P-${paid}`,
      },
      { status: "notStarted", standing: "open" },
    ]);
    expect(await other.listRows(first, { isNotPaid: true, limit: 9 })).toMatchObject([
      { standing: "returned" },
      { number: 4 },
    ]);
    expect(await other.batchCounts(first)).toContainEqual({
      status: "waiting",
      standing: "made",
      currency: "EUR",
      rows: 1,
      amount: "7.00",
    });
    await see(amended, "Completed", "completed");
    await ledger.recordEnds([{ ...ended, workflowId: amended, endReason: null }]);
    await ledger.finishBatch(first);
    expect((await other.batch(first))?.state).toBe("finished");
  });

  it("marks what may wait for the end of a pause, and the file, until they are notified", async () => {
    const [file, inFile, alone] = [fresh(), fresh(), fresh()];
    await ledger.saveBatch(file, () => ({ batch: { ...batchOf(file), state: "approved" } }));
    await ledger.recordStart(runOf({ workflowId: inFile, batch: file }), startOf());
    for (const workflowId of [inFile, alone]) {
      const name = nameOf({ workflowId });
      await ledger.transact(name, saving(name, { state: "ready" }));
    }
    const marked = async () => {
      const rows = (await other.rows({ mustNotify: true })).map(({ workflowId }) => workflowId);
      const files = (await other.batches({ mustNotify: true })).map(({ id }) => id);
      return [file, inFile, alone].filter((id) => rows.includes(id) || files.includes(id));
    };
    const told = async () => {
      for (const row of await ledger.rows({ mustNotify: true }))
        await ledger.transact(row, (look) =>
          look.row ? { row: { ...look.row, mustNotify: false } } : {},
        );
      for (const batch of await ledger.batches({ mustNotify: true }))
        await ledger.batchNotified(batch);
    };
    await told();
    for (const [scope, of, wanted] of [
      ["batch", file, [file, inFile]],
      ["run", alone, [alone]],
      ["all", "", [file, inFile, alone]],
    ] as const) {
      await ledger.pause(scope, of, ADA);
      expect(await marked()).toEqual([]);
      const versions = (await ledger.rows({ workflowId: alone }))[0]?.version;
      await other.resume(scope, of, ADA);
      expect(await marked()).toEqual(wanted);
      const [row] = await ledger.rows({ workflowId: alone });
      // What was read before does not take the mark away.
      expect(row?.version).toBe((versions ?? 0) + (wanted.some((id) => id === alone) ? 1 : 0));
      const [seen] = (await ledger.batches({ mustNotify: true })).filter(({ id }) => id === file);
      if (scope === "all")
        await ledger.saveBatch(file, (batch) => ({
          batch: batch ?? batchOf(file),
          decision: decisionOf({ kind: "approve" }),
        }));
      if (seen !== undefined) await ledger.batchNotified(seen);
      expect((await marked()).includes(file)).toBe(scope === "all");
      await told();
      expect(await marked()).toEqual([]);
    }
  });

  it("chains the log of a workflow id", async () => {
    const name = nameOf({ workflowId: fresh() });
    await ledger.transact(name, saving(name));
    await ledger.decide(decisionOf({ workflowId: name.workflowId }));
    await other.transact(name, saving(name, made(`P-${fresh()}`)));
    expect(await ledger.logOf(name.workflowId)).toMatchObject([
      { what: "sent" },
      { kind: "end" },
      { what: "sent" },
    ]);
    expect(await ledger.verify(name.workflowId)).toEqual({ isIntact: true, lines: 3 });
  });

  it("prunes what was settled before, and keeps ids and ends", async () => {
    const name = nameOf({ workflowId: fresh() });
    const id = `P-${name.workflowId}`;
    await ledger.recordStart(runOf({ ...name, payee: "mark-old", shown: "Old Ltd" }), startOf());
    await ledger.transact(name, saving(name, made(id)));
    await ledger.decide(decisionOf({ workflowId: name.workflowId }));
    await ledger.sawPayout(name.account, id, COMPLETED);
    // Under way, and came back.
    const needed = [nameOf({ workflowId: fresh() }), nameOf({ workflowId: fresh() })] as const;
    for (const one of needed) await ledger.transact(one, saving(one, made(`P-${one.workflowId}`)));
    const returned = { ...COMPLETED, outcome: "returned" } as const;
    await ledger.sawPayout(name.account, `P-${needed[1].workflowId}`, returned);
    const batch = fresh();
    await ledger.saveRows(batch, [
      batchRowOf(1, { workflowId: name.workflowId, reference: "Invoice 17", message: "Mallory" }),
      batchRowOf(2),
    ]);
    const open = nameOf({ workflowId: fresh() });
    await ledger.transact(open, saving(open));
    const { sequence } = await ledger.mark();
    const parts: Array<number> = [];
    const later = (await ledger.state()).now + 60_000;
    const pruned = await ledger.prune(later, ADA, (ids) => parts.push(ids));
    expect(pruned).toBeGreaterThan(0);
    expect(parts.at(-1)).toBe(pruned);
    const { end, row } = await ledger.look(name);
    expect(row).toMatchObject({
      state: "done",
      madeId: id,
      result: null,
      request: { hash: "hash-1", amount: "250.00", payee: null, reference: null },
    });
    expect(await ledger.batchRows(batch, { limit: 2 })).toMatchObject([
      { fingerprint: "print-1", amount: "0.10", payee: null, reference: null, message: null },
      { amount: "0.10", payee: "mark-9" },
    ]);
    expect(await ledger.rowsOf(name.workflowId)).toMatchObject([
      { standing: "completed", word: "completed", outcomeAt: expect.any(Number) },
    ]);
    expect(await ledger.runs({ workflowIds: [name.workflowId] })).toMatchObject([
      { status: "succeeded", amount: "250.00", payee: null, startedBy: null },
    ]);
    const payees = async () => (await ledger.payees()).map(({ shown }) => shown);
    expect(await payees()).not.toContain("Old Ltd");
    for (const one of needed)
      expect((await ledger.look(one)).row?.request).toMatchObject({ amount: "250.00" });
    expect(end?.by).toBe("ada");
    expect((await ledger.look(open)).row?.request.amount).toBe("250.00");
    expect((await ledger.mark()).sequence).toBeGreaterThan(sequence);
    // What is pruned already is passed over.
    expect(await ledger.prune(later, ADA)).toBe(0);
  });

  it("prunes no run that an open repair is to retry", async () => {
    const [id, workflowId] = [fresh(), fresh()];
    const run = { ...runOf({ workflowId, runId: "run-1" }), reference: "Invoice 17" };
    await ledger.recordStart(run, startOf());
    const reason = { endType: "Refused", endReason: "no funds" };
    const end = { ...reason, workflowId, runId: "run-1", endState: "failed", endedAt: 1 } as const;
    await ledger.recordEnds([end]);
    const amend = { changed: ["payout.amount: 250.00 → 25.00"], hash: "amended" };
    const repair = { ...batchOf(id), type: "repair", state: "needsApproval" } as const;
    await ledger.saveBatch(id, () => ({ batch: repair }));
    const row = batchRowOf(1, { workflowId, run: "run-1", shown: "25.00", repair: { amend } });
    await ledger.saveRows(id, [row]);
    const later = (await ledger.state()).now + 60_000;
    await ledger.prune(later, ADA);
    expect(await other.batchRows(id)).toMatchObject([{ shown: "25.00", repair: { amend } }]);
    expect(await other.runs({ workflowIds: [workflowId] })).toMatchObject([
      { endReason: "no funds", reference: "Invoice 17" },
    ]);
    await ledger.saveBatch(id, () => ({ batch: { ...repair, state: "rejected" } }));
    await ledger.rejectRows(id);
    await ledger.prune(later + 60_000, ADA);
    expect(await other.batchRows(id)).toMatchObject([{ shown: null, repair: null }]);
  });

  it("prunes no id that is used meanwhile", async () => {
    const names = Array.from({ length: 40 }, () => nameOf({ workflowId: fresh() }));
    await Promise.all(
      names.map((name) =>
        ledger.transact(
          name,
          saving(name, { operation: "createCard", ...made(`P-${name.workflowId}`) }),
        ),
      ),
    );
    const later = (await ledger.state()).now + 60_000;
    const undoing = names.map((name) =>
      other.transact(name, ({ row }) => ({
        ...(row && { row: { ...row, state: "undone" as const, mustNotify: true } }),
        entries: [{ who: "worker-1", what: "undone", details: {} }],
      })),
    );
    await Promise.all([ledger.prune(later, ADA), ...undoing]);
    for (const name of names) {
      // Before, or after: never in between.
      const { row } = await ledger.look(name);
      const lines = await ledger.logOf(name.workflowId);
      expect([
        [null, 1],
        ["B-1", 2],
      ]).toContainEqual([row?.request.payee, lines.length]);
      expect(await ledger.verify(name.workflowId)).toMatchObject({ isIntact: true });
    }
  });

  it("keeps starts, approvals and ends of a pruned id, and knows its log from an edited one", async () => {
    const name = nameOf({ workflowId: fresh() });
    const { workflowId } = name;
    const kinds = async () =>
      (await ledger.logOf(workflowId)).map((line) => ("kind" in line ? line.kind : line.what));
    await ledger.recordStart(runOf({ workflowId }), startOf());
    await ledger.transact(name, saving(name, { state: "unknown" }));
    await ledger.decide(decisionOf({ workflowId, kind: "approve", step: name.step }));
    await ledger.decide(decisionOf({ workflowId, kind: "found" }));
    await ledger.transact(name, saving(name, { state: "ready", token: null, sends: 0 }));
    const kept = ["start", "approve"];
    for (let round = 0; round < 3; round++) {
      await ledger.decide(decisionOf({ workflowId }));
      await ledger.transact(name, ({ row }) => ({
        ...(row && { row: { ...row, mustNotify: false } }),
        entries: [{ who: "worker-1", what: "told", details: {} }],
      }));
      await ledger.prune((await ledger.state()).now + 60_000, ADA);
      kept.push("end");
      expect(await kinds()).toEqual([...kept, "old texts and log entries removed"]);
      const lines = kept.length + 1;
      expect(await ledger.verify(workflowId)).toEqual({ isIntact: true, lines });
      await ledger.decide(decisionOf({ workflowId, kind: "overrule" }));
      expect(await ledger.verify(workflowId)).toEqual({ isIntact: true, lines: lines + 1 });
      kept.push("overrule");
    }
    const pruned = (await ledger.decisionsOf("")).findLast(({ kind }) => kind === "prune");
    expect(pruned).toMatchObject({ by: "ada", reason: "as agreed" });
  });

  it("takes a time of fractions of a millisecond, as settings in hours have it", async () => {
    const hours = 1.1 * 3_600_000;
    expect(await ledger.overdue(hours)).toEqual(await ledger.overdue(Math.round(hours)));
    expect(await ledger.attention({ lateAfterMs: hours })).toEqual(
      await ledger.attention({ lateAfterMs: Math.round(hours) }),
    );
  });

  it("records a text that a database refuses, and every other row with it", async () => {
    const id = fresh();
    const NUL = "\0";
    await ledger.saveRows(id, [batchRowOf(1), batchRowOf(2), batchRowOf(3)]);
    await ledger.coverRow(id, 1, `Already in a${NUL}`);
    await ledger.coverRow(id, 2, "half of a pair: \uD83D");
    expect(await other.batchRows(id, { limit: 3 })).toMatchObject([
      { state: "covered", message: "Already in a\uFFFD" },
      { state: "covered", message: "half of a pair: \uFFFD" },
      { state: "waiting" },
    ]);
    // In a row, its log, a decision, a lookup and an id.
    const name = nameOf({ workflowId: `${fresh()}${NUL}` });
    const said = { who: "worker-1", what: `refused${NUL}`, details: { message: `\uDC00${NUL}` } };
    await ledger.transact(name, (look) => ({
      row: rowOf(name, look, { ...made(`P-${name.workflowId}`), message: `closed${NUL}` }),
      entries: [said],
    }));
    await ledger.decide(decisionOf({ workflowId: name.workflowId, reason: `no${NUL}` }));
    expect(await other.look(name)).toMatchObject({
      row: { message: "closed\uFFFD" },
      end: { reason: "no\uFFFD" },
    });
    expect(await other.verify(name.workflowId)).toEqual({ isIntact: true, lines: 2 });
    const owners = await other.owners("account-1", "createPayout", [`P-${name.workflowId}`, NUL]);
    expect(owners.size).toBe(1);
  });

  it("has got as far as before where the newest lines are pruned", async () => {
    const name = nameOf({ workflowId: fresh() });
    await ledger.transact(name, saving(name));
    await ledger.transact(name, saving(name, made(`P-${name.workflowId}`)));
    await ledger.sawPayout(name.account, `P-${name.workflowId}`, COMPLETED);
    const mark = await ledger.mark();
    await ledger.prune((await ledger.state()).now + 60_000, ADA);
    expect(await ledger.expect(mark)).toBe(true);
  });

  it("stops where a witness remembers more, until it is recovered", async () => {
    await ledger.pin("payments");
    await expect(ledger.pin("other")).rejects.toThrow(LedgerUnavailable);
    const mark = await ledger.mark();
    expect((await ledger.look(nameOf())).recoveredAt).toBeNull();
    expect(await ledger.expect(mark)).toBe(true);
    expect(await other.expect({ ...mark, sequence: mark.sequence + 1 })).toBe(false);
    expect((await ledger.look(nameOf())).stopped).toMatch(/^The ledger was restored/);
    const recovered = await ledger.recover(ADA);
    expect(recovered.epoch).toBe(mark.epoch + 1);
    const { now, recoveredAt, wasBehind } = await ledger.look(nameOf());
    expect(wasBehind).toBe(true);
    expect(recoveredAt).toBeGreaterThan(now - 60_000);
    expect(recoveredAt).toBeLessThanOrEqual(now);
    expect(await ledger.expect({ ...mark, sequence: mark.sequence + 1 })).toBe(true);
    expect(await ledger.expect({ ...mark, ledgerId: "another" })).toBe(false);
    await ledger.recover(ADA);
    expect(await ledger.expect({ ...mark, ledgerId: "another" })).toBe(true);
    // The ledger was complete: Temporal alone was lost.
    await ledger.recover(ADA);
    expect((await ledger.look(nameOf())).wasBehind).toBe(false);
    expect((await ledger.overview()).state).toMatchObject({
      namespace: "payments",
      stopped: null,
      epoch: mark.epoch + 3,
    });
  });

  it("does not know what a run has sent that was open when the ledger was restored, once it has ended", async () => {
    const account = "account-of-restored";
    const endNow = async (workflowId: string) =>
      ledger.decide(decisionOf({ account, workflowId, kind: "end" }));
    const planned = { account, amount: "5", currency: "EUR", type: "payout" };
    const began = (await ledger.state()).now - 3_000;
    const written = ["written-ended", "written-terminated"];
    const open = ["ended-after", "ended-meanwhile", "terminated-after", ...written];
    for (const workflowId of ["ended-before", ...open])
      await ledger.recordRun(runOf({ ...planned, workflowId }), began);
    for (const workflowId of written) {
      const name = nameOf({ account, workflowId });
      await ledger.transact(name, saving(name, { state: "ready", sends: 0, changedAt: began }));
    }
    // A restored ledger may lack that a row was started, and what it sent.
    const batch = "payouts/restored";
    await ledger.recordStart(
      runOf({ ...planned, workflowId: "row", batch, batchRow: 1 }),
      startOf(),
    );
    await endNow("ended-before");
    const end = { endState: "failed", endType: "Ended", endReason: null } as const;
    const before = { workflowId: "ended-before", runId: null, ...end, endedAt: began + 1 };
    await ledger.recordEnds([before]);
    const mark = await ledger.mark();
    await ledger.expect({ ...mark, sequence: mark.sequence + 1 });
    await endNow("ended-meanwhile");
    const { now: meanwhile } = await ledger.state();
    await ledger.recordEnds([{ ...before, workflowId: "ended-meanwhile", endedAt: meanwhile }]);
    await ledger.recover(ADA);
    for (const workflowId of ["ended-after", "written-ended"]) await endNow(workflowId);
    const { now } = await ledger.state();
    await ledger.recordEnds([{ ...before, workflowId: "ended-after", endedAt: now }]);
    await ledger.recordEnds([
      {
        ...before,
        workflowId: "row",
        runId: "run-1",
        startedAt: now,
        endState: null,
        endedAt: null,
      },
    ]);
    for (const workflowId of ["terminated-after", "written-terminated", "row"])
      await ledger.recordEnds([{ ...before, workflowId, endState: "terminated", endedAt: now }]);
    await ledger.recordRun(runOf({ ...planned, workflowId: "begun-after" }), now);
    await endNow("begun-after");
    const { runs } = await ledger.listRuns({ account }, { limit: 10 });
    expect(Object.fromEntries(runs.map(({ run }) => [run.workflowId, run.status]))).toEqual({
      "ended-before": "ended",
      "ended-after": "unknown",
      "ended-meanwhile": "unknown",
      "terminated-after": "unknown",
      "written-ended": "unknown",
      "written-terminated": "unknown",
      "begun-after": "ended",
      row: "unknown",
    });
    const sums = await ledger.sums({ account });
    expect(sums.map(({ payments, state }) => [state, payments])).toEqual(
      expect.arrayContaining([
        ["unknown", 4],
        ["unknown", 2],
      ]),
    );
  });

  it("counts a payment whose amount is not a decimal, and adds up the others", async () => {
    const account = "account-of-odd-amounts";
    for (const amount of ["0.1", "12345678901234567890.25", "ten"]) {
      const name = nameOf({ account, workflowId: `odd-${amount}` });
      const { request } = rowOf(name, { epoch: 1, now: 0 });
      await ledger.transact(name, saving(name, { request: { ...request, amount } }));
    }
    const { writes } = await ledger.overview();
    const sum = { rows: 3, amount: "12345678901234567890.35" };
    expect(writes.filter((one) => one.account === account)).toMatchObject([sum]);
    const [paid] = await ledger.sums({ account });
    expect([paid?.payments, paid && BigDecimal.format(paid.sum)]).toEqual([3, sum.amount]);
  });

  it("tries out in a scratch copy what an id, its children and its keys do next, and changes nothing itself", async () => {
    const id = fresh();
    const root = { ownerId: id, rootId: id };
    const [own, child, key] = [id, `${id}/child`, `key-of-${id}`].map((workflowId) =>
      nameOf({ workflowId }),
    ) as [WriteName, WriteName, WriteName];
    await ledger.transact(own, saving(own, made(`P-${id}`)));
    for (const name of [child, key]) await ledger.transact(name, saving(name, root), root);
    await ledger.decide(decisionOf({ workflowId: id, reason: null }));
    const { sequence } = await ledger.look(own);
    const time = Date.now() + 9_000_000;
    const scratch = await ledger.scratch(() => time);
    const [look, before] = await Promise.all([scratch.look(own), ledger.look(own)]);
    expect({ ...look, now: 0, sequence: 0 }).toEqual({ ...before, now: 0, sequence: 0 });
    expect(look.now).toBe(time);
    expect(await scratch.rowsOf(id)).toEqual(await ledger.rowsOf(id));
    expect(await scratch.decisionsOf(id)).toEqual(await ledger.decisionsOf(id));
    await scratch.transact(child, saving(child, { state: "refused" }));
    await scratch.decide(decisionOf({ workflowId: id, kind: "overrule", reason: "no fraud" }));
    const late = nameOf({ workflowId: fresh() });
    await ledger.transact(late, saving(late));
    expect((await scratch.look(late)).row?.version).toBe(1);
    await scratch.transact(late, saving(late, { state: "refused" }));
    await scratch.close();
    const states = (await ledger.rowsOf(id)).map(({ state }) => state);
    expect(states.toSorted()).toEqual(["done", "sending", "sending"]);
    expect((await ledger.look(late)).row?.state).toBe("sending");
    expect(await ledger.decisionsOf(id)).toHaveLength(1);
    expect((await ledger.look(own)).sequence).toBeLessThan(sequence + 9);
  });
};
