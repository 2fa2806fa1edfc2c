import { hashPayload } from "@durable-payments/activities/recorded-send";
import { makeMemoryJournal, type Send, type SendOutcome } from "@durable-payments/journal";
import type { BatchRow, PayoutInput } from "@durable-payments/protocol";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { describe, expect, it } from "vitest";
import { batchRow } from "../../src/batch/check-rows.ts";
import { outcomeOf } from "../../src/batch/row-outcome.ts";
import { type RowSends, sendsOfRow } from "../../src/batch/row-sends.ts";
import type { Temporal } from "../../src/connection/temporal.ts";

const toKnown = batchRow(2, { key: "k", beneficiary_id: "b-1", payout });
const toNew = batchRow(2, { key: "k", beneficiary, payout });

/** A send of a payout under the rows' id. */
const payoutSend = (change: Partial<PayoutInput["payout"]> = {}, number = 1): Send => {
  const request = { ...payout, beneficiary_id: "b-1", ...change };
  return {
    workflowId: "payout/k",
    step: "createPayout",
    number,
    operation: "createPayout",
    runId: "r",
    payloadHash: hashPayload("payout/k", request),
    amount: request.amount,
    currency: request.currency,
  };
};

const beneficiarySend: Send = {
  workflowId: "payout/k",
  step: "createBeneficiary",
  number: 1,
  operation: "createBeneficiary",
  runId: "r",
  payloadHash: "h",
};

type Settled = Exclude<SendOutcome, "begun" | "undone">;

type Recorded = readonly [Send, Settled?, Readonly<Record<string, string>>?];

const journalOf = async (sends: ReadonlyArray<Recorded>) => {
  const journal = makeMemoryJournal();
  for (const [send, outcome, ids] of sends) {
    const begun = await journal.begin(send);
    if (begun._tag !== "Begun") throw new Error("It was sent already.");
    if (outcome !== undefined) await begun.send.recordOutcome(outcome, ids);
  }
  return journal;
};

const cases: ReadonlyArray<readonly [string, BatchRow, ReadonlyArray<Recorded>, RowSends]> = [
  ["nothing", toKnown, [], "none"],
  ["the same, carried out", toKnown, [[payoutSend(), "carriedOut"]], "paid"],
  [
    "the same amount written otherwise",
    toKnown,
    [[payoutSend({ amount: "250" }), "carriedOut"]],
    "paid",
  ],
  ["the same without an answer", toKnown, [[payoutSend()]], "inDoubt"],
  ["the same, nobody knows", toKnown, [[payoutSend(), "unknown"]], "inDoubt"],
  ["the same, refused", toKnown, [[payoutSend(), "notCarriedOut"]], "none"],
  ["another amount", toKnown, [[payoutSend({ amount: "25.00" }), "carriedOut"]], "otherPayment"],
  [
    "another amount, refused",
    toKnown,
    [[payoutSend({ amount: "25.00" }), "notCarriedOut"]],
    "otherPayment",
  ],
  ["another amount, in doubt", toKnown, [[payoutSend({ amount: "25.00" })]], "otherPayment"],
  ["another currency", toKnown, [[payoutSend({ currency: "USD" }), "carriedOut"]], "otherPayment"],
  [
    "another reason",
    toKnown,
    [[payoutSend({ payout_reason: "Gift" }), "carriedOut"]],
    "otherPayment",
  ],
  [
    "the same, refused and then amended by a person",
    toKnown,
    [
      [payoutSend(), "notCarriedOut"],
      [payoutSend({ amount: "25.00" }, 2), "carriedOut"],
    ],
    "paid",
  ],
  [
    "the same to the beneficiary that was made for it",
    toNew,
    [
      [beneficiarySend, "carriedOut", { beneficiary_id: "b-1" }],
      [payoutSend(), "carriedOut"],
    ],
    "paid",
  ],
  [
    "another reason, to the beneficiary that was made for it",
    toNew,
    [
      [beneficiarySend, "carriedOut", { beneficiary_id: "b-1" }],
      [payoutSend({ payout_reason: "Gift" }), "carriedOut"],
    ],
    "otherPayment",
  ],
  ["as much to a beneficiary that is not known", toNew, [[payoutSend(), "carriedOut"]], "paid"],
  ["more to one", toNew, [[payoutSend({ amount: "251" }), "carriedOut"]], "otherPayment"],
];

describe("of a row that Temporal does not know the journal may have", () => {
  it.each(cases)("%s", async (_, row, sends, expected) => {
    expect((await sendsOfRow(await journalOf(sends), row)).sends).toBe(expected);
  });
});

it("a row whose key has paid something else was not paid", async () => {
  const journal = await journalOf([[payoutSend({ amount: "25.00" }), "carriedOut"]]);
  // The journal alone is asked.
  const none = {} as unknown as Temporal;
  expect(await outcomeOf(none, toKnown, undefined, journal)).toMatchObject({
    payout_id: "",
    state: "otherPayment",
    reason: "its key was used for another payment, as the journal has it",
  });
});
