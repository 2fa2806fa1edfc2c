import type { PayoutInput } from "@durable-payments/protocol";
import { beneficiary, holding, options, payout } from "@durable-payments/tools/test-data";
import { expect, it, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

const { ended, file, simulator, start, starter } = await makeRepairRig();

/** Each test pays an amount that no other test pays, to be found in the ledger. */
const paying = (amount: string): PayoutInput => ({
  beneficiary: { ...beneficiary, nickname: "Supplier" },
  payout: { ...payout, amount, payout_reference: "Invoice 1" },
  options,
});

const refuse = () => simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });

const amend = async (id: string, amount: string) =>
  starter([
    "runs",
    "retry",
    id,
    "--by",
    "Bob",
    "--amend",
    await file("amount.json", { payout: { amount } }),
  ]);

it("an id whose payment was amended is the run of both, and says which was given", async () => {
  await refuse();
  await start("payout", "amended", paying("25.00"));
  expect(await ended("amended")).toBe("FAILED");
  expect((await amend("amended", "5.55")).exitCode).toBe(0);
  expect(await ended("amended")).toBe("COMPLETED");
  const submit = async (amount: string, ...more: ReadonlyArray<string>) =>
    starter([
      "payout",
      "--file",
      await file(`${amount}.json`, paying(amount)),
      "--id",
      "amended",
      ...more,
    ]);

  const now = await submit("5.55", "--json");
  expect(now.exitCode).toBe(0);
  expect(jsonOf(now)).toMatchObject({
    isNew: false,
    state: "completed",
    result: { amount: "5.55" },
    amended: { given: "now", fields: ["payout.amount"], about: holding("5.55 EUR") },
  });
  expect(now.stderr).toContain("It was started with another input");

  const before = await submit("25.00", "--json");
  expect(before.exitCode).toBe(0);
  expect(jsonOf(before)).toMatchObject({
    isNew: false,
    result: { amount: "5.55" },
    amended: { given: "before", fields: ["payout.amount"], about: holding("5.55 EUR") },
  });
  expect(before.stderr.replaceAll(/\s+/g, " ")).toContain(
    "What was given here was amended since (payout.amount), and is not what that run sends: Pay 5.55 EUR",
  );

  const other = await submit("7.00", "--json");
  expect(other.exitCode).toBe(2);
  expect(jsonOf(other)).toMatchObject({
    error: {
      message: holding("amended since to"),
      faults: [
        {
          field: "payout.amount",
          problem: "was 25.00 in that run, is 5.55 since it was amended, and 7.00 here",
        },
      ],
    },
  });
});
