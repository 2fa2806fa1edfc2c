import { makePaymentsClient } from "@durable-payments/api-core";
import { beneficiary, payout } from "@durable-payments/tools/test-data/inputs";
import type { payout as payoutWorkflow } from "@durable-payments/workflows";
import { WorkflowFailedError } from "@temporalio/client";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeRig } from "./support/rig.ts";

const { folder, simulator, start, temporal } = await makeRig({
  settleAfter: 0,
  clientId: "client-eu",
  apiKey: "key-of-eu",
});

it("the worker of docs/accounts.md pays from the account that is named, and from none where none is", async () => {
  for (const name of ["eu", "us"]) writeFileSync(join(folder, `${name}.key`), `key-of-${name}\n`);
  const worker = start("../examples/accounts-worker.ts", {
    KEYS: folder,
    PAYMENTS_CLIENT_ID: "",
    PAYMENTS_API_KEY: "",
  });
  const { apiKey, clientId, url: baseUrl } = simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const { beneficiary_id } = await client.createBeneficiary(beneficiary);
  await client.close();
  const pay = (workflowId: string, account?: string) =>
    temporal.client.workflow.execute<typeof payoutWorkflow>("payout", {
      workflowId,
      taskQueue: "payments",
      args: [{ beneficiary_id, payout, ...(account !== undefined && { account }) }],
    });
  expect(await pay("named", "eu")).toMatchObject({ outcome: "completed" });
  const failure = await pay("unnamed").then(
    () => undefined,
    (error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error),
  );
  expect(failure).toMatchObject({ type: "UnknownAccount" });
  expect(String(failure)).toContain("it has eu, us. Give one of them as account in the input");
  expect((await simulator.state()).payouts).toHaveLength(1);
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
});
