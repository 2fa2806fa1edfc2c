import { createPaymentsTest, startTestServer } from "@durable-payments/testing";
import { usePaymentsTest } from "@durable-payments/testing/vitest";
import {
  beneficiary,
  beneficiary as invoice,
  cardholder,
  payout,
} from "@durable-payments/tools/test-data/inputs";
import { temporalServerVariables } from "@durable-payments/tools/testing";
import { Schema } from "effect";
import assert from "node:assert/strict";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { paySupplier } from "./pay-supplier.ts";
import {
  book,
  checkTwo,
  type Entry,
  issueToNewCardholder,
  payNewBeneficiary,
  payNewBeneficiary as payInvoice,
  payTwo,
  topUpByPayout,
} from "./workflows.ts";

Object.assign(process.env, temporalServerVariables());

describe("the examples of the steps", () => {
  const schema = Schema.toStandardSchemaV1(
    Schema.Struct({
      first: Schema.Struct({ amount: Schema.String }),
      second: Schema.Struct({ amount: Schema.String }),
    }),
  );
  const amendable = { "first.": "firstPayout", "second.": "secondPayout" };
  const booked: Array<Entry> = [];

  const ends: Array<() => Promise<void>> = [];
  let payments: Awaited<ReturnType<typeof createPaymentsTest>>;
  let payment: typeof payout & { readonly beneficiary_id: string };

  beforeAll(async () => {
    const after = (end: () => Promise<void>) => ends.push(end);
    // #region example
    const server = await startTestServer();
    after(() => server.dispose());
    // #endregion
    payments = await createPaymentsTest({
      server,
      workflowsPath: import.meta.resolve("./workflows.ts"),
      inputs: { payTwo: { schema, amendable }, checkTwo: { schema, amendable } },
      operations: {
        bookEntry: {
          send: async (entry: Entry) => ({ ...entry, id: `entry-${booked.push(entry)}` }),
          read: async () => undefined,
          undo: async () => undefined,
        },
      },
      simulator: { verifyAfter: 0 },
      waitLimitMs: 60_000,
    });
    ends.push(payments.dispose);
    expect(await payments.run(payNewBeneficiary, [beneficiary])).toBe("completed");
    const [made] = (await payments.ledger()).beneficiaries;
    payment = { ...payout, beneficiary_id: made?.beneficiary_id ?? "" };
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test("pay a supplier", async () => {
    expect(await payments.run(paySupplier, [payment])).toBe("completed");
  });

  test("pay two", async () => {
    const input = { first: { ...payment, amount: "1.00" }, second: { ...payment, amount: "2.00" } };
    await payments.run(payTwo, [input]);
    expect(await payments.run(checkTwo, [input])).toEqual(["1.00", "2.00"]);
    const amounts = (await payments.ledger()).payouts.map(({ amount }) => amount);
    expect(amounts.toSorted()).toEqual(["1.00", "12.50", "2.00", "250.00"]);
  });

  test("issue a card", async () => {
    const card_id = await payments.run(issueToNewCardholder, [cardholder, "prepaid-usd"]);
    expect((await payments.ledger()).cards).toMatchObject([{ card_id }]);
  });

  test("send in a step of their own", async () => {
    const request = { ...payment, amount: "4.00", unique_request_id: "" };
    const payout_id = await payments.run(topUpByPayout, [request]);
    expect((await payments.ledger()).payouts.at(-1)).toMatchObject({ payout_id, amount: "4.00" });
  });

  test("book an entry", async () => {
    expect(await payments.run(book, [{ ledger: "sales", amount: "5.00" }])).toBe("entry-1");
    expect(booked).toHaveLength(1);
  });
});

describe("the example of usePaymentsTest", () => {
  // #region example
  const payments = usePaymentsTest({
    workflowsPath: new URL("./workflows.ts", import.meta.url).href,
  });

  test("pays", async () => {
    expect(await payments.run(payInvoice, [invoice])).toBe("completed");
  });
  // #endregion
});

test("the example of createPaymentsTest", async () => {
  // #region example
  const payments = await createPaymentsTest({
    workflowsPath: new URL("./workflows.ts", import.meta.url).href,
  });
  await payments.fault("dropped", { operation: "createPayout" });
  await payments.run(payInvoice, [invoice]);
  assert.equal((await payments.ledger()).payouts.length, 1);
  await payments.dispose();
  // #endregion
});
