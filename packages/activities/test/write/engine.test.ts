import { createClient } from "@durable-payments/client";
import { type NewDecision, openLedger, type WriteName } from "@durable-payments/ledger";
import { payeeMark, personMarks } from "@durable-payments/protocol/account";
import { describe, expect, it, vi } from "vitest";
import { settleRow } from "../../src/write/perform.ts";
import { beneficiary, card, cardholder, payout as withKey } from "../support/bodies.ts";
import { attemptOf, makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;
type World = Awaited<ReturnType<typeof makeWorld>>;

/** A payout to a beneficiary that the service knows. */
const payable = async (world: World) => {
  const made = await world.once({
    operation: "createBeneficiary",
    request: beneficiary,
    step: "b",
  });
  if (made.is !== "done") throw new Error(JSON.stringify(made));
  const request = { ...payout, beneficiary_id: String(made.made["beneficiary_id"]) };
  return { operation: "createPayout", request };
};
const payoutsOf = async ({ simulator }: World) => (await simulator.state()).payouts.length;

describe("a write that nothing goes wrong with", () => {
  it("is sent once, and its row keeps the result for every later call", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const first = await world.once(task);
    expect(first).toMatchObject({ is: "done", made: { amount: "250.00" } });
    expect(await world.once(task, { attempt: 2, testimony: undefined })).toEqual(first);
    expect(await payoutsOf(world)).toBe(1);
    const row = await world.row("createPayout");
    expect(row).toMatchObject({ state: "done", version: 2, sends: 1, request: { facts: {} } });
  });

  it("takes one look at the ledger, and two transactions", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const look = vi.spyOn(world.ledger, "look");
    const transact = vi.spyOn(world.ledger, "transact");
    await world.once(task);
    expect([look.mock.calls.length, transact.mock.calls.length]).toEqual([1, 2]);
  });

  it("keeps no account number", async () => {
    const world = await makeWorld();
    await payable(world);
    const row = await world.row("b");
    expect(JSON.stringify(row)).not.toContain(beneficiary.iban);
  });

  it("marks the payee's account by a key of the ledger, where that is encrypted, and finds duplicates by it", async () => {
    const seal = {
      seal: (text: string) => `sealed:1:k1:${Buffer.from(text).toString("base64")}`,
      open: (text: string) => Buffer.from(text.split(":")[3] ?? "", "base64").toString(),
    };
    const world = await makeWorld({ openWith: () => openLedger("memory", { seal }) });
    const { account, ledger } = world;
    const task = { ...(await payable(world)), approveAbove: "100" };
    expect(await world.once(task)).toMatchObject({ needs: "approval" });
    const plain = payeeMark(beneficiary) ?? "";
    const rows = await ledger.rowsOf("pay-1");
    expect(rows.map(({ request }) => request.payee)).toContain(ledger.keyed(plain));
    expect(JSON.stringify(rows)).not.toContain(plain);
    const accountIn = async (of: World) => (await of.row("createPayout"))?.question?.account ?? "";
    const unkeyed = await makeWorld();
    await unkeyed.once({ ...(await payable(unkeyed)), approveAbove: "100" });
    expect(await accountIn(world)).toBe(ledger.keyed(await accountIn(unkeyed)));
    const again = { workflowId: "pay-2", amount: "250", currency: "USD", reference: null };
    const [similar] = await ledger.similarPayments(account, [
      { ...again, payee: ledger.keyed(plain) },
    ]);
    expect(similar).toMatchObject([{ workflowId: "pay-1" }]);
  });

  it("marks a cardholder as a person, so that an onboarding of the same person is noticed", async () => {
    const world = await makeWorld();
    await world.once({ operation: "createCardholder", request: cardholder });
    const { payee } = personMarks(cardholder, world.ledger.keyed);
    const again = { workflowId: "onboard-2", amount: "100.00", currency: "USD", reference: null };
    const [similar] = await world.ledger.similarPayments(world.account, [
      { ...again, payee: payee ?? "" },
    ]);
    expect(similar).toHaveLength(1);
  });

  it("carries a key of 36 characters that follows from its name", async () => {
    const world = await makeWorld();
    await world.once(await payable(world));
    const [made] = (await world.simulator.state()).payouts;
    expect(JSON.stringify(made)).toMatch(
      /[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/,
    );
  });
});

describe("a lost answer", () => {
  it("is found by its key at once", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    expect(await world.once(task)).toMatchObject({ is: "done", by: "key" });
    expect(await payoutsOf(world)).toBe(1);
  });

  it("is found before the lag of the lists is over", async () => {
    const world = await makeWorld({
      settings: { assumptions: { listLagSeconds: 180, clockSkewSeconds: 900 } },
    });
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    expect(await world.once(task)).toMatchObject({ is: "done", by: "key" });
  });

  it("waits for time where it is not listed, and is not sent again meanwhile", async () => {
    const world = await makeWorld({ settings: { assumptions: { listLagSeconds: 180 } } });
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
    expect(await world.once(task)).toMatchObject({ is: "wait", version: undefined });
    const next = await world.once(task, { attempt: 2, testimony: undefined });
    expect(next).toMatchObject({ is: "wait" });
    expect(await payoutsOf(world)).toBe(0);
  });

  it("whose list is refused says why, and is a question after half an hour", async () => {
    let now = Date.now();
    const world = await makeWorld({ clock: () => now });
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
    await world.simulator.addFault({ kind: "refusal-in-200", operation: "listPayouts", times: 99 });
    const why = expect.stringMatching(
      /^The list is inconsistent: page 1 could not be read: .*The service says: /,
    ) as unknown;
    expect(await world.once(task)).toMatchObject({ is: "wait", why });
    now += 31 * 60_000;
    const asked = await world.once(task, { attempt: 2, testimony: undefined });
    expect(asked).toMatchObject({ is: "waiting", needs: "answer", why });
  });

  it("of a card is asked for again with the same key, which makes no second one", async () => {
    const world = await makeWorld({ simulator: { verifyAfter: 0 } });
    const person = await world.once({ operation: "createCardholder", request: cardholder });
    const balance = await world.once({
      operation: "createBalance",
      request: { currency: "USD", name: "cards" },
    });
    if (person.is !== "done" || balance.is !== "done") throw new Error("not made");
    const { unique_request_id: _key, ...rest } = card;
    const card_holder_id = String(person.made["card_holder_id"]);
    const [{ balance_id } = { balance_id: "" }] = (await world.simulator.state()).balances;
    await world.simulator.addFault({ kind: "dropped", operation: "createCard" });
    const request = { ...rest, card_holder_id, balance_id };
    expect(await world.until({ operation: "createCard", request })).toMatchObject({ is: "done" });
    expect((await world.simulator.state()).cards).toHaveLength(1);
  });

  it("of a payout without keys in the list is found by its fields, and the result says so", async () => {
    const world = await makeWorld({ simulator: { temperament: { payoutKeys: "dropped" } } });
    const task = await payable(world);
    const other = { ...task, request: { ...task.request, amount: "11.00" } };
    await world.once(other, { workflowId: "pay-0" });
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const waits = await world.once(task);
    expect(waits).toMatchObject({ is: "wait" });
    // As if the longest dispatch and request were over.
    await world.ledger.transact(world.name("createPayout"), ({ row }) =>
      row === undefined ? {} : { row: { ...row, until: 0 } },
    );
    const found = await world.once(task, { attempt: 2, testimony: undefined });
    expect(found).toMatchObject({ is: "done", by: "likeness" });
    expect(await payoutsOf(world)).toBe(2);
  });

  it("of what was not carried out is proved absent, and sent again with the same key", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    await world.ledger.transact(world.name("createPayout"), ({ row }) =>
      row === undefined ? {} : { row: { ...row, until: 0 } },
    );
    const sent = await world.once(task, { attempt: 2, testimony: undefined });
    expect(sent).toMatchObject({ is: "done" });
    expect(await world.row("createPayout")).toMatchObject({ generation: 1, sends: 2 });
    expect(await payoutsOf(world)).toBe(1);
  });

  it("of a beneficiary asks nobody: it is sent again", async () => {
    const world = await makeWorld();
    await world.simulator.addFault({ kind: "dropped", operation: "createBeneficiary", times: 3 });
    const done = await world.until({ operation: "createBeneficiary", request: beneficiary });
    expect(done).toMatchObject({ is: "done" });
  });
});

describe("a refusal", () => {
  it("fails the step, and a retry may send another request, which nobody has to name", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const request = { ...task.request, beneficiary_id: "unknown" };
    const failed = await world.once({ ...task, request });
    expect(failed).toMatchObject({ is: "fail", type: "Refused" });
    const row = await world.row("createPayout");
    expect(row).toMatchObject({ state: "refused" });
    const testimony = { is: "version", version: row?.version ?? 0 } as const;
    const again = { ...task, isNamed: false, isFirst: false, runId: "run-2" };
    const done = await world.once(again, { runId: "run-2", testimony });
    expect(done).toMatchObject({ is: "done" });
    expect(await world.row("createPayout")).toMatchObject({ generation: 2 });
  });
});

describe("input", () => {
  it("is checked with that of later steps before anything is sent, with every fault", async () => {
    const world = await makeWorld();
    const planned = [{ operation: "createPayout", request: { ...payout, amount: "-1" } }];
    const request = { ...beneficiary, bank_country: "Germany" };
    const failed = await world.once({ operation: "createBeneficiary", request, planned });
    expect(failed).toMatchObject({ is: "fail", type: "InvalidRequest" });
    expect(JSON.stringify(failed)).toMatch(/bank_country.*amount/);
    expect(await world.row("createBeneficiary")).toBeUndefined();
  });

  it("that is invalid names the step, if that is not named after the operation", async () => {
    const world = await makeWorld();
    const request = { ...beneficiary, iban: "DE00" };
    const messages = ["supplier", "createBeneficiary 2"].map(async (step) => {
      const failed = await world.once({ operation: "createBeneficiary", step, request });
      return failed.is === "fail" && failed.message;
    });
    expect(await Promise.all(messages)).toEqual([
      expect.stringMatching(/^Nothing was sent\. supplier \(createBeneficiary\): iban /),
      expect.stringMatching(/^Nothing was sent\. createBeneficiary 2: iban /),
    ]);
  });

  it("is refused above the account's limit", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const { account, ledger } = world;
    const limits = { maxAmounts: { USD: "100" }, approveAbove: null };
    await ledger.setLimits(account, limits, { by: "ada", how: "test", reason: "policy" });
    expect(await world.once(task)).toMatchObject({ is: "fail", type: "OverLimit" });
  });

  it("is refused above the worker's own limit, and so is one that is planned; neither is written to the ledger", async () => {
    const world = await makeWorld();
    const limits = { maxAmounts: { USD: "100" }, approveAbove: null };
    const by = { ...world.engine, limits };
    const task = await payable(world);
    expect(await world.once(task, {}, by)).toMatchObject({ is: "fail", type: "OverLimit" });
    const planned = [{ operation: "createPayout", request: task.request }];
    const first = { operation: "createBeneficiary", request: beneficiary, step: "c", planned };
    expect(await world.once(first, {}, by)).toMatchObject({ is: "fail", type: "OverLimit" });
    expect(await world.ledger.limits(world.account)).toMatchObject({ maxAmounts: null });
  });
});

describe("a name that was used", () => {
  it("fails in a later run of a continued chain, instead of returning what the earlier one paid", async () => {
    const world = await makeWorld();
    const task = { ...(await payable(world)), step: "rent", isNamed: true, isContinued: true };
    expect(await world.once(task)).toMatchObject({ is: "done" });
    const next = { ...task, runId: "run-2", isFirst: false };
    const failed = await world.once(next, { runId: "run-2", testimony: undefined });
    expect(failed).toMatchObject({ is: "fail", type: "AlreadyCarriedOut" });
  });

  it("fails in a later run of a continued chain also where the earlier one does not know what it has sent", async () => {
    const world = await makeWorld();
    const task = { ...(await payable(world)), step: "rent", isNamed: true, isContinued: true };
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    const next = { ...task, runId: "run-2", isFirst: false };
    const failed = await world.once(next, { runId: "run-2", testimony: undefined });
    expect(failed).toMatchObject({ is: "fail", type: "AlreadyCarriedOut" });
  });

  it("returns the id of what it paid, also once its texts are pruned", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const done = await world.once(task);
    if (done.is !== "done") throw new Error("not paid");
    const { now } = await world.ledger.state();
    await world.ledger.prune(now + 60_000, { by: "ada", how: "terminal", reason: "old" });
    const again = await world.once(task, { runId: "run-2", testimony: undefined });
    const { payout_id } = done.made;
    expect(again).toMatchObject({ is: "done", made: { payout_id } });
    expect(await payoutsOf(world)).toBe(1);
  });

  it("asks a person where an earlier run has sent the same request under another one", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.once({ ...task, step: "deposit", isNamed: true });
    const renamed = { ...task, step: "advance", isNamed: true, isFirst: false, runId: "run-2" };
    const asked = await world.once(renamed, { runId: "run-2", testimony: undefined });
    expect(asked).toMatchObject({ is: "waiting", needs: "answer" });
    expect(await payoutsOf(world)).toBe(1);
  });
});

describe("what a person has stopped", () => {
  it("is not sent while sends are paused", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.ledger.pause("all", "", { by: "ada", how: "terminal", reason: "audit" });
    expect(await world.once(task)).toMatchObject({ is: "waiting", needs: "resume" });
    expect(await payoutsOf(world)).toBe(0);
  });

  it("is not sent after its workflow id was ended, before it has a row too", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.ledger.decide({
      account: world.account,
      workflowId: "pay-1",
      step: null,
      kind: "end",
      question: null,
      by: "ada",
      how: "terminal",
      reason: "fraud",
      value: {},
    });
    expect(await world.once(task)).toMatchObject({ is: "fail", type: "Ended" });
    expect(await payoutsOf(world)).toBe(0);
  });
});

describe("the fence", () => {
  it("sends nothing where the process stood still since the attempt began", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const startedAt = { wall: Date.now() - 20_000, monotonic: performance.now() };
    expect(await world.once(task, { startedAt })).toMatchObject({ is: "wait" });
    expect(await payoutsOf(world)).toBe(0);
  });

  it("asks Temporal before a late dispatch, and sends nothing where its run has ended", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const startedAt = { wall: Date.now() - 2_000, monotonic: performance.now() - 2_000 };
    const describe = async () => ({ isOpen: false, begunAt: 0 });
    expect(await world.once(task, { startedAt, describe })).toMatchObject({ is: "wait" });
    const cannot = async () => {
      throw new Error("unavailable");
    };
    expect(await world.once(task, { startedAt, describe: cannot })).toMatchObject({ is: "wait" });
    expect(await payoutsOf(world)).toBe(0);
  });

  it("lets one of two attempts dispatch", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const both = await Promise.all([world.once(task), world.once(task)]);
    expect(both.map(({ is }) => is)).toContain("done");
    expect(await payoutsOf(world)).toBe(1);
  });
});

describe("what nothing vouches for", () => {
  it("is looked for before it is sent", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const waits = await world.once(task, { testimony: undefined });
    expect(waits).toMatchObject({ is: "wait" });
    const message: unknown = expect.stringMatching(/^This id may have run before/);
    expect(await world.row("createPayout")).toMatchObject({ state: "unknown", sends: 0, message });
  });
});

describe("an outage", () => {
  it("asks nobody, and leaves the row's version while nothing was sent", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "rate-limited", operation: "createPayout", times: 3 });
    const first = await world.once(task);
    expect(first).toMatchObject({ is: "wait", version: 2 });
    expect(await world.until(task, { testimony: { is: "version", version: 2 } })).toMatchObject({
      is: "done",
    });
    expect(await payoutsOf(world)).toBe(1);
  });
});

describe("beneficiaries", () => {
  it("is made anew where the account number beside its IBAN was changed at the service", async () => {
    const world = await makeWorld();
    const task = { operation: "createBeneficiary", request: beneficiary };
    const first = await world.once(task);
    if (first.is !== "done") throw new Error("not made");
    const { beneficiary_id } = first.made;
    const { iban: _, ...changed } = beneficiary;
    const updated = await world.once(
      {
        operation: "updateBeneficiary",
        request: { ...changed, beneficiary_id, account_number: "9999999999", clearing_system: "X" },
      },
      { workflowId: "update" },
    );
    expect(updated).toMatchObject({ is: "done" });
    const again = await world.once(task, { workflowId: "pay-2" });
    expect(again).toMatchObject({ is: "done" });
    expect(again.is === "done" && again.made["beneficiary_id"]).not.toBe(beneficiary_id);
  });

  it("of thirty runs to one account are one", async () => {
    const world = await makeWorld();
    const made = await Promise.all(
      Array.from({ length: 30 }, (_unused, i) =>
        world.until(
          { operation: "createBeneficiary", request: beneficiary, rootId: `row-${i}` },
          { workflowId: `row-${i}` },
        ),
      ),
    );
    const ids = made.map((one) => (one.is === "done" ? one.made["beneficiary_id"] : one.is));
    expect(new Set(ids).size).toBe(1);
    expect((await world.simulator.state()).beneficiaries).toHaveLength(1);
    // One alone was sent, by the log.
    const logs = await Promise.all(made.map((_one, i) => world.ledger.logOf(`row-${i}`)));
    const words = logs.flat().flatMap((line) => ("what" in line ? [line.what] : []));
    expect(words.filter((word) => word === "sending")).toHaveLength(1);
    expect(words.filter((word) => word === "reused")).toHaveLength(29);
  });

  it("are made anew where a bank would see another one, or where that is wanted", async () => {
    const world = await makeWorld();
    const operation = "createBeneficiary";
    await world.once({ operation, request: beneficiary, step: "1" });
    const others = [{ city: "Bonn" }, { account_currency: "EUR" }, { payment_method: "local" }];
    for (const [at, other] of others.entries())
      await world.once({ operation, request: { ...beneficiary, ...other }, step: `other-${at}` });
    await world.once({ operation, request: beneficiary, step: "3", reuse: false });
    expect((await world.simulator.state()).beneficiaries).toHaveLength(5);
  });

  it("are reused for the same account, whatever else is written about it, and whichever was made last", async () => {
    const world = await makeWorld();
    const operation = "createBeneficiary";
    await world.once({ operation, request: beneficiary, step: "1" });
    await world.once({
      operation,
      request: { ...beneficiary, account_currency: "EUR" },
      step: "2",
    });
    const spelled = [
      { clearing_system: "SEPA" },
      { nickname: "Other", email: "other@example.com", bank_name: "Another name of the bank" },
      { iban: beneficiary.iban.toLowerCase().replaceAll(/(.{4})/g, "$1\u00a0") },
      { account_holder: `${beneficiary.account_holder.toUpperCase().normalize("NFD")}\u200b` },
    ];
    for (const [at, other] of spelled.entries())
      await world.once({ operation, request: { ...beneficiary, ...other }, step: `same-${at}` });
    expect((await world.simulator.state()).beneficiaries).toHaveLength(2);
  });

  it("and payouts are sent with clean texts, whose hash is one", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const payout_reference = "\u00a0Rechnung Mu\u0308ller\u200b 17\n";
    await world.once({ ...task, request: { ...task.request, payout_reference } });
    const [made] = (await world.simulator.state()).payouts;
    expect(made?.payout_reference).toBe("Rechnung Müller 17");
    const clean = { ...task.request, payout_reference: "Rechnung Müller 17" };
    expect(await world.once({ ...task, request: clean })).toMatchObject({ is: "done" });
    expect(await payoutsOf(world)).toBe(1);
  });
});

describe("the janitor", () => {
  it("settles a row whose run has ended, and sends nothing", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    await settleRow(world.engine, attemptOf({ testimony: undefined }), world.name("createPayout"));
    expect(await world.row("createPayout")).toMatchObject({ state: "done", knownBy: "key" });
  });

  /** A run that was open when the ledger was restored, and that has ended since without a write. */
  const forget = async (
    { ledger }: World,
    { account, workflowId }: WriteName,
    type: string,
    isStopped: boolean,
    payee = "b-1",
  ) => {
    const payment = { amount: "20.00", currency: "USD", payee, reference: null };
    const run = { account, workflowId, runId: "r1", type, batch: null, batchRow: null };
    await ledger.recordStart(
      { ...run, ...payment },
      { by: "ada", how: "--by", value: { type, content: "c" } },
    );
    const { now: startedAt } = await ledger.state();
    await expect.poll(async () => (await ledger.state()).now).toBeGreaterThan(startedAt);
    await ledger.recover({ by: "ada", how: "--by", reason: "lost" });
    const about = { account, workflowId, step: null, question: null, value: {} };
    const end = { ...about, kind: "end", by: "ada", how: "--by", reason: "wrong" } as const;
    if (isStopped) await ledger.decide(end);
    const ended = { endState: "terminated", endedAt: Date.now() + 1_000 } as const;
    await ledger.recordEnds([
      { workflowId, runId: "r1", ...ended, endType: null, endReason: null },
    ]);
    const statusOf = async () => (await ledger.runs({ workflowIds: [workflowId] }))[0]?.status;
    expect(await statusOf()).toBe("unknown");
    const [forgotten] = await ledger.forgottenRuns(account, 10);
    expect(forgotten?.workflowId).toBe(workflowId);
    return statusOf;
  };

  it.each([
    [true, "ended", "ended"],
    [false, "ready", "terminated"],
  ])(
    "reconciles a run that a recovered ledger knows without its write: stopped %s",
    async (isStopped, state, status) => {
      const world = await makeWorld();
      const { ledger } = world;
      const name = world.name("createPayout");
      const statusOf = await forget(world, name, "payout", isStopped);
      const settle = () =>
        settleRow(world.engine, attemptOf({ testimony: undefined }), name).catch(() => undefined);
      await settle();
      // As if the longest time of a request were over.
      await ledger.transact(name, ({ row }) =>
        row === undefined ? {} : { row: { ...row, until: 0 } },
      );
      await settle();
      expect(await world.row("createPayout")).toMatchObject({ state, doubt: 0, sends: 0 });
      expect(await statusOf()).toBe(status);
      expect(await ledger.forgottenRuns(name.account, 10)).toEqual([]);
      expect(await payoutsOf(world)).toBe(0);
    },
  );

  it("confirms the payout that a person found for an ended run, by the columns that its row has left", async () => {
    const world = await makeWorld();
    const { ledger, simulator } = world;
    const { request } = await payable(world);
    const { apiKey, clientId, url: baseUrl } = simulator;
    const service = createClient({ apiKey, clientId, baseUrl });
    const amounts = ["21.00", "20.00"];
    const ids: Array<string> = [];
    for (const [index, amount] of amounts.entries()) {
      const one = { ...withKey, ...request, amount, unique_request_id: `made-${index}` };
      ids.push((await service.createPayout(one)).payout_id);
    }
    const name = world.name("createPayout");
    const statusOf = await forget(world, name, "payout", true, request.beneficiary_id);
    const settle = () =>
      settleRow(world.engine, attemptOf({ testimony: undefined }), name).catch(() => undefined);
    await settle();
    // As if the longest time of a request were over.
    await ledger.transact(name, ({ row }) => (row ? { row: { ...row, until: 0 } } : {}));
    await settle();
    for (const [index, id] of ids.entries()) {
      const row = await world.row("createPayout");
      const question = row?.question?.id ?? null;
      const about = { ...name, question, kind: "found", by: "bob", how: "--by", reason: null };
      await ledger.decide({ ...about, value: { id } } as NewDecision);
      await settle();
      // The first one has another amount, and the question remains.
      const state = index === 0 ? "asking" : "done";
      expect(await world.row("createPayout")).toMatchObject({ state, sends: 0 });
    }
    expect(await world.row("createPayout")).toMatchObject({ madeId: ids[1] });
    expect(await statusOf()).toBe("waiting");
  });

  it.each([true, false])(
    "asks a person about a card that a recovered ledger has forgotten, because no list shows it: stopped %s",
    async (isStopped) => {
      const world = await makeWorld();
      const name = world.name("createCard");
      const statusOf = await forget(world, name, "onboardCardholder", isStopped);
      const attempt = attemptOf({ testimony: undefined });
      await settleRow(world.engine, attempt, name).catch(() => undefined);
      expect(await world.row("createCard")).toMatchObject({ state: "asking", sends: 0 });
      expect(await statusOf()).toBe("asking");
      expect(await world.ledger.forgottenRuns(name.account, 10)).toEqual([]);
    },
  );
});
