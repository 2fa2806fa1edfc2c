import { PaymentsClient } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { startSimulator } from "@durable-payments/simulator";
import { Effect } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { makePaymentsActivities } from "../../src/make-activities.ts";
import { attempt, failureOf, runtimeOver } from "../support/attempts.ts";
import { beneficiary, payout } from "../support/bodies.ts";

it("an attempt that sent nothing names the version once Temporal has answered the heartbeat before", async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.stop());
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const { beneficiary_id } = await runtimeOver(simulator).runPromise(
    Effect.flatMap(PaymentsClient, (client) => client.createBeneficiary(beneficiary)),
  );
  // The attempt lasts longer than the time between two heartbeats.
  await simulator.addFault({ kind: "slow", operation: "signIn", milliseconds: 3_200 });
  await simulator.addFault({ kind: "rate-limited", operation: "createPayout" });
  const activities = makePaymentsActivities(runtimeOver(simulator), {
    ledger,
    taskQueue: "payments",
  });
  const beats: Array<{ readonly at: number; readonly details: unknown }> = [];
  const environment = attempt({ attempt: 1 });
  environment.on("heartbeat", (details: unknown) => {
    beats.push({ at: performance.now(), details });
  });
  const { unique_request_id: _, ...request } = payout;
  const call = {
    step: "createPayout",
    rootId: "run-1",
    runId: "1",
    isContinued: false,
    call: 1,
    isFirst: true,
    isNamed: false,
    request: { ...request, beneficiary_id },
  };
  const { type } = await failureOf(environment.run(activities.createPayout, call));
  expect(type).toBe("NotYet");
  const regular = beats.findLast(({ details }) => details === undefined);
  expect(beats.at(-1)).toMatchObject({ details: { attempt: 1, version: 1 } });
  expect((beats.at(-1)?.at ?? 0) - (regular?.at ?? Infinity)).toBeGreaterThan(1_900);
});
