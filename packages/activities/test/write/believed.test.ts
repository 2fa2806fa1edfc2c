import { type Believed, keyedName } from "@durable-payments/protocol/calls";
import { accountHash } from "@durable-payments/protocol/account";
import { openLedger, type WriteName, type WriteRow } from "@durable-payments/ledger";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { PaymentsClient } from "@durable-payments/client/effect";
import { Effect } from "effect";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { optionsOf } from "../../src/run-operation.ts";
import { makeAgreement } from "../../src/write/believed.ts";
import { run, runtimeOver } from "../support/attempts.ts";
import { beneficiary, payout } from "../support/bodies.ts";
import { putRow } from "../support/rows.ts";
import { attemptOf } from "../support/writes.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ settleAfter: Infinity, balances: { USD: "100000.00" } });
});
afterAll(() => simulator.stop());

const make = async () => {
  const runtime = runtimeOver(simulator);
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const account = await optionsOf(runtime).then(accountHash);
  const settled: Array<WriteName> = [];
  const settle = async (_: unknown, name: WriteName) => {
    settled.push(name);
    await row({ state: "refused", madeId: null, result: null });
  };
  const whyNot = makeAgreement({ account, ledger, runtime, settle });
  const began = { at: 0 };
  const describe = async () => ({ isOpen: true, begunAt: began.at });
  const attempt = attemptOf({ workflowId: "run-1", describe });
  const agrees = async (one: Believed, taskQueue = "payments") =>
    (await run({ taskQueue }, () => whyNot([one], attempt, attempt.signal), {})) === undefined;
  const row = (changes: Partial<WriteRow>) =>
    putRow(ledger, {
      account,
      state: "done",
      madeId: "p-1",
      result: { payout_id: "p-1" },
      ...changes,
    });
  return { account, agrees, began, ledger, row, runtime, settled };
};

const step = { step: "createPayout", operation: "createPayout" };

describe("the result of a step is believed", () => {
  it.each<[string, Partial<WriteRow>, ReadonlyArray<string>, boolean]>([
    ["that made it", {}, ["p-1"], true],
    ["that made it, and was undone since", { state: "undone" }, ["p-1"], true],
    ["that was pruned", { result: null }, ["p-1", "b-1"], true],
    ["that made another", {}, ["p-2"], false],
    ["that made it, for another beneficiary", {}, ["p-1", "b-2"], false],
    ["whose send is under way", { state: "sending", madeId: null, result: null }, ["p-1"], false],
    ["that was refused", { state: "refused", madeId: null, result: null }, ["p-1"], false],
  ])("if the ledger has a row %s: %j, %j", async (_, changes, ids, is) => {
    const { agrees, row } = await make();
    await row(changes);
    expect(await agrees({ ...step, ids })).toBe(is);
  });

  it("not without a row", async () => {
    const { agrees } = await make();
    expect(await agrees({ ...step, ids: ["p-1"] })).toBe(false);
  });

  it("by the row of its key, and by the rows of another account", async () => {
    const { account, agrees, row } = await make();
    await row({ ...keyedName(account, "createPayout", "k-1"), ownerId: "run-1" });
    expect(await agrees({ ...step, key: "k-1", ids: ["p-1"] })).toBe(true);
    expect(await agrees({ ...step, ids: ["p-1"] })).toBe(false);
    const elsewhere = { ...step, key: "k-1", account: "eu", ids: ["p-1"] };
    expect(await agrees(elsewhere)).toBe(true);
    expect(await agrees({ ...elsewhere, ids: ["p-2"] })).toBe(false);
  });
});

describe("the failure of a step is believed", () => {
  it.each<[WriteRow["state"], string, boolean]>([
    ["ready", "Refused", true],
    ["refused", "Refused", true],
    ["ended", "Ended", true],
    ["undone", "Cancelled", true],
    ["sending", "Refused", false],
    ["unknown", "Refused", false],
    ["asking", "Refused", false],
    ["done", "Refused", false],
    ["done", "error", false],
    ["unknown", "AlreadyCarriedOut", false],
    ["unknown", "Cancelled", false],
    ["done", "AlreadyCarriedOut", true],
    ["done", "MadeTwice", true],
    ["asking", "Cancelled", true],
  ])("of a row that is %s, as %s: %j", async (state, outcome, is) => {
    const { agrees, row } = await make();
    await row({ state });
    expect(await agrees({ ...step, outcome })).toBe(is);
  });

  it("as cancelled, of a write without money whose response was lost: it is safe to repeat", async () => {
    const { agrees, row } = await make();
    const request = { hash: "h", terms: "h", amount: null, currency: null, payee: null };
    await row({
      state: "unknown",
      request: { ...request, reference: null, paymentDate: null, facts: {} },
    });
    expect(await agrees({ ...step, outcome: "Cancelled" })).toBe(true);
    expect(await agrees({ ...step, outcome: "Refused" })).toBe(false);
  });

  it("without a row: nothing was sent", async () => {
    const { agrees } = await make();
    expect(await agrees({ ...step, outcome: "InvalidRequest" })).toBe(true);
  });
});

describe("after a recovery", () => {
  const actor = { by: "grace", how: "--by", reason: "restored" };
  const unsettled = { madeId: null, result: null } as const;

  it.each<[string, Partial<WriteRow> | undefined, boolean]>([
    ["without a row", undefined, true],
    ["whose row was under way in the copy", { ...unsettled, state: "sending" }, true],
    ["whose row was not sent in the copy", { ...unsettled, state: "ready" }, true],
    ["whose row has another result", { madeId: "p-2", result: {} }, false],
  ])("a result is believed of a step %s: %j", async (_, changes, is) => {
    const { agrees, ledger, row } = await make();
    if (changes !== undefined) await row(changes);
    await ledger.recover(actor);
    expect(await agrees({ ...step, ids: ["p-1"] })).toBe(is);
  });

  it("no result of a step that was called since, or of a run that was started since", async () => {
    const { agrees, began, ledger, row } = await make();
    await ledger.recover(actor);
    await row({ ...unsettled, state: "sending" });
    expect(await agrees({ ...step, ids: ["p-1"] })).toBe(false);
    const other = { ...step, step: "second", ids: ["p-1"] };
    expect(await agrees(other)).toBe(true);
    began.at = Date.now() + 60_000;
    expect(await agrees(other)).toBe(false);
  });

  it("a failure is believed once its row is reconciled", async () => {
    const { agrees, ledger, row, settled } = await make();
    await row({ ...unsettled, state: "sending" });
    await ledger.recover(actor);
    expect(await agrees({ ...step, outcome: "Refused" })).toBe(true);
    expect(settled).toHaveLength(1);
  });
});

describe("the end of a wait is believed", () => {
  const newPayout = (runtime: Awaited<ReturnType<typeof make>>["runtime"]) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const client = yield* PaymentsClient;
        const { beneficiary_id } = yield* client.createBeneficiary(beneficiary);
        const unique_request_id = crypto.randomUUID();
        return (yield* client.createPayout({ ...payout, beneficiary_id, unique_request_id }))
          .payout_id;
      }),
    );

  it("if the ledger has closed it with this outcome, and for another account only then", async () => {
    const { account, agrees, ledger } = await make();
    const wait = "awaitPayout:p-1";
    const opened = { account, workflowId: "run-1", runId: "1", activityId: wait };
    await ledger.openWait({ ...opened, kind: "payout", thing: "p-1" });
    expect(await agrees({ wait, account: "eu", outcome: "failed" })).toBe(false);
    await ledger.closeWaits([{ ...opened, outcome: { outcome: "failed" } }]);
    expect(await agrees({ wait, outcome: "failed" })).toBe(true);
    expect(await agrees({ wait, account: "eu", outcome: "failed" })).toBe(true);
    expect(await agrees({ wait, account: "eu", outcome: "completed" })).toBe(false);
  });

  it("if the ledger has forgotten it, as the service shows it: a payout that is open has not failed", async () => {
    const { agrees, runtime } = await make();
    const payout_id = await newPayout(runtime);
    const wait = `awaitPayout:${payout_id}`;
    expect(await agrees({ wait, outcome: "failed" })).toBe(false);
    expect(await agrees({ wait, outcome: "completed" })).toBe(false);
    await simulator.setPayoutStatus(payout_id, "REJECTED");
    expect(await agrees({ wait, outcome: "failed" })).toBe(true);
    expect(await agrees({ wait, outcome: "completed" })).toBe(false);
  });

  it("not while the service cannot be read, whatever the activity failed with", async () => {
    const { agrees } = await make();
    await simulator.addFault({ kind: "html-502", operation: "retrievePayout" });
    const forged = agrees({ wait: "awaitPayout:p-1", outcome: "Unavailable" });
    await expect(forged).rejects.toMatchObject({ carriedOut: "no" });
  });
});
