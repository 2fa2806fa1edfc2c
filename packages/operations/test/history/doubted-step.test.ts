import { readFile } from "node:fs/promises";
import { stepKinds } from "@durable-payments/protocol";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { expect, it } from "vitest";
import { candidatesOf } from "../../src/history/candidates.ts";
import { doubtedStep } from "../../src/history/doubted-step.ts";
import { executionHistoryOf } from "../../src/history/execution-history.ts";
import { stepsInDoubt } from "../../src/history/in-doubt.ts";
import { readRun } from "../../src/history/read-run.ts";
import type { PastActivity } from "../../src/history/run-history.ts";
import type { PastSend } from "../../src/history/sends.ts";

it("a payout in doubt says whom it pays, under which reference", async () => {
  const file = "../../../workflows/test/histories/payout-abandoned-by-a-person.json";
  const history = JSON.parse(await readFile(new URL(file, import.meta.url), "utf8")) as unknown;
  const executed = executionHistoryOf([{ ...readRun(historyFromJSON(history)), runId: "r" }]);
  expect(stepsInDoubt(executed)).toEqual([
    {
      step: "createPayout",
      operation: "createPayout",
      key: "d474eef5-3b21-5264-93c8-419f23accb92",
      amount: "250.00",
      currency: "USD",
      beneficiary_id: "6034e96d-4532-4048-a426-8880eeb36fb1",
      payee: "Example supplier",
      payout_reference: "Invoice 1",
    },
  ]);
});

const reading = (result: unknown, isDone = true): PastActivity => ({
  type: "findPayouts",
  input: {},
  at: 0,
  isDone,
  result,
  failure: "",
  failureDetail: undefined,
});

const item = { payout_id: "po-1", amount: "20.00", payer_id: "x", beneficiary_name: "Ada" };

it("what the last reading of the list shows may be it, without what others made", () => {
  const steps = [
    { activities: [reading({ items: [{ payout_id: "old" }], matches: [{ id: "old" }] })] },
    {
      activities: [
        reading({
          items: [item, { payout_id: "po-2" }],
          matches: [{ id: "po-1" }, { id: "po-2", owner: "another" }],
        }),
        reading(undefined, false),
      ],
    },
  ];
  expect(candidatesOf(steps, "createPayout")).toEqual([{ payout_id: "po-1", amount: "20.00" }]);
  expect(candidatesOf(steps, "createCardholder")).toEqual([]);
  expect(candidatesOf([{ activities: [reading({ items: "x" })] }], "createPayout")).toEqual([]);
});

it("no number of an account is shown of what was sent, and of what is listed", () => {
  const account_number = "DE89370400440532013000";
  const send: PastSend = {
    kind: stepKinds.createPayout.sends,
    sent: { outcome: "unknown" },
    keys: 1,
    lastInput: { beneficiary_id: "b-1", payout_reference: `to ${account_number}` },
    candidates: [{ payout_id: "po-1", payout_reference: `to ${account_number}` }],
  };
  const created: PastSend = {
    kind: stepKinds.createBeneficiary.sends,
    sent: { outcome: "known", id: "b-1" },
    keys: 1,
    lastInput: { nickname: `Ada ${account_number}` },
  };
  const executed = {
    input: { beneficiary: { account_number } },
    sends: new Map([["createBeneficiary", created]]),
  };
  const shown = doubtedStep("createPayout", send, executed);
  expect(shown).toMatchObject({ beneficiary_id: "b-1", candidates: [{ payout_id: "po-1" }] });
  expect(Object.keys(shown)).toContain("payee");
  expect(JSON.stringify(shown)).not.toContain("37040044053");
});
