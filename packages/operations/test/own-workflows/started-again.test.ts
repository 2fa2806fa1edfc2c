import { makePaymentsClient } from "@durable-payments/api-core";
import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import { progressQuery } from "@durable-payments/protocol";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { PayInTurn } from "./continued.ts";
import { type OwnRig, startOwnRig } from "./rig.ts";

// A busy machine takes its time.
const WITHIN = { timeout: 120_000, interval: 50 };

let kept: Journal;
/** Its file is lost with all that it knew, and a new one is begun. */
const loseJournal = () => {
  kept = { ...makeMemoryJournal(), isOfProcess: false };
};

let rig: OwnRig;
let beneficiary_id: string;
beforeAll(async () => {
  loseJournal();
  const journal = new Proxy(kept, { get: (_, name): unknown => Reflect.get(kept, name) });
  rig = await startOwnRig("./continued.ts", journal);
  const { apiKey, clientId, url: baseUrl } = rig.simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const payee = { ...beneficiary, account_currency: "USD", payment_method: "swift" } as const;
  ({ beneficiary_id } = await client.createBeneficiary(payee));
  await client.close();
});
beforeEach(loseJournal);
afterAll(() => rig?.end(), 60_000);

const paymentOf = (id: string, amount = "100.00"): PayInTurn => ({
  payment: { ...payout, beneficiary_id, currency: "USD", amount, payout_reference: id },
});

const newId = () => randomUUID().slice(0, 8);

const start = (type: "bookInTurn" | "payInTurn", id: string, ...args: ReadonlyArray<unknown>) =>
  rig.environment.client.workflow.start(type, {
    workflowId: `rent-${id}`,
    taskQueue: rig.taskQueue,
    args: [...args],
  });

const pay = (id: string, input: PayInTurn = paymentOf(id)) => start("payInTurn", id, input);

const paid = async (id: string) =>
  (await rig.simulator.state()).payouts.filter(({ payout_reference }) => payout_reference === id);

/** Visibility shows what has just begun only after a moment. */
const listed = ({ workflowId }: WorkflowHandle) =>
  vi.waitFor(async () => {
    const query = `WorkflowId = "${workflowId}"`;
    const { count } = await rig.environment.client.workflow.count(query);
    expect(count).toBeGreaterThan(0);
  }, WITHIN);

const attentionOf = (handle: WorkflowHandle) =>
  vi.waitFor(async () => {
    const { attention } = await handle.query(progressQuery);
    expect(attention).toBeDefined();
    return attention!;
  }, WITHIN);

const reached = (handle: WorkflowHandle, text: string) =>
  vi.waitFor(
    async () => expect(JSON.stringify(await handle.query(progressQuery))).toContain(text),
    WITHIN,
  );

describe("a workflow id that is started again while the journal has lost its records", () => {
  it("takes what the run before has paid", async () => {
    const id = newId();
    const first = await pay(id);
    const made: unknown = await first.result();
    await listed(first);
    loseJournal();
    expect(await (await pay(id)).result()).toEqual(made);
    // And once more: neither run is in the journal.
    expect(await (await pay(id)).result()).toEqual(made);
    expect(await paid(id)).toHaveLength(1);
  });

  it("takes it where the run before has failed since", async () => {
    const id = newId();
    const first = await pay(id, { ...paymentOf(id), stop: "fails" });
    await expect(first.result()).rejects.toThrow();
    await listed(first);
    loseJournal();
    await (await pay(id)).result();
    expect(await paid(id)).toHaveLength(1);
  });

  it("looks up what became of it where the run before was terminated without an answer", async () => {
    const id = newId();
    await rig.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const first = await pay(id);
    await reached(first, "no answer");
    await first.terminate();
    await listed(first);
    loseJournal();
    const [payoutId] = (await (await pay(id)).result()) as ReadonlyArray<string>;
    expect((await paid(id)).map(({ payout_id }) => payout_id)).toEqual([payoutId]);
  });

  it("sends what was refused, as nothing of it was carried out", async () => {
    const id = newId();
    await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const first = await pay(id);
    await expect(first.result()).rejects.toThrow();
    await listed(first);
    loseJournal();
    await (await pay(id)).result();
    expect(await paid(id)).toHaveLength(1);
  });

  it("asks a person where the run before has paid another amount", async () => {
    const id = newId();
    const first = await pay(id);
    await first.result();
    await listed(first);
    loseJournal();
    const again = await pay(id, paymentOf(id, "200.00"));
    expect((await attentionOf(again)).reason).toContain("It was another request than this one");
    await again.terminate();
    expect((await paid(id)).map(({ amount }) => amount)).toEqual(["100.00"]);
  });

  it("pays by a step that the run before does not have", async () => {
    const id = newId();
    const first = await pay(id, { ...paymentOf(id), step: "january" });
    await first.result();
    await listed(first);
    loseJournal();
    await (await pay(id, { ...paymentOf(id), step: "february" })).result();
    expect(await paid(id)).toHaveLength(2);
  });

  it("takes what an own operation has made", async () => {
    const id = newId();
    const entry = { ledger: id, amount: "10.00", currency: "USD" };
    const first = await start("bookInTurn", id, [entry], false);
    const made: unknown = await first.result();
    await listed(first);
    loseJournal();
    expect(await (await start("bookInTurn", id, [entry], false)).result()).toEqual(made);
    expect(rig.ledger.made("entries").filter(({ body }) => body["ledger"] === id)).toHaveLength(1);
  });
});
