import { startSimulator } from "@durable-payments/simulator";
import { PaymentsClient } from "@durable-payments/client/effect";
import { Effect } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { makeReadActivities } from "../src/reads.ts";
import { attempt, failureOf, runtimeOver } from "./support/attempts.ts";
import { beneficiary } from "./support/bodies.ts";

const begin = async () => {
  const simulator = await startSimulator({});
  onTestFinished(() => simulator.stop());
  const runtime = runtimeOver(simulator);
  return { simulator, runtime, reads: makeReadActivities(runtime) };
};

it("every read is an activity by its own name, and no write is", async () => {
  const { reads } = await begin();
  expect(Object.keys(reads).toSorted()).toEqual([
    "listCardholders",
    "listPayers",
    "listPayouts",
    "listTransactions",
    "ping",
    "retrieveBalance",
    "retrieveBalanceBankDetails",
    "retrieveBeneficiary",
    "retrievePayout",
  ]);
  expect(await attempt().run(reads.ping, {})).toEqual({ message: "pong" });
});

it("a read keeps account numbers out of Temporal", async () => {
  const { reads, runtime } = await begin();
  const { beneficiary_id } = await runtime.runPromise(
    Effect.flatMap(PaymentsClient, (client) => client.createBeneficiary(beneficiary)),
  );
  const shown = await attempt().run(reads.retrieveBeneficiary, { beneficiary_id });
  expect(JSON.stringify(shown)).not.toContain(beneficiary.iban);
});

it("a refused read is not tried again; one without an answer is", async () => {
  const { reads, simulator } = await begin();
  const read = () => attempt().run(reads.retrievePayout, { payout_id: "unknown" });
  expect(await failureOf(read())).toMatchObject({ type: "Refused", nonRetryable: true });
  await simulator.addFault({ kind: "dropped", operation: "retrievePayout" });
  expect(await failureOf(read())).toMatchObject({ type: "Unavailable", nonRetryable: false });
});
