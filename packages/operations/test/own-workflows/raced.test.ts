import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { makePaymentsClient } from "@durable-payments/api-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { settle } from "../../src/decisions/settle.ts";
import { readTimeline } from "../../src/timeline/read-timeline.ts";
import { reportRun } from "../../src/runs/report.ts";
import { type OwnRig, startOwnRig } from "./rig.ts";

// A busy machine takes its time.

const ID = "raced";

let rig: OwnRig;
beforeAll(async () => {
  rig = await startOwnRig("./raced.ts");
  const { apiKey, clientId, url: baseUrl } = rig.simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const { beneficiary_id } = await client.createBeneficiary({
    ...beneficiary,
    account_currency: "USD",
    payment_method: "swift",
  });
  await client.close();
  await rig.simulator.addFault({ kind: "stalled", operation: "createPayout", times: 20 });
  const result: unknown = await rig.environment.client.workflow.execute("raced", {
    workflowId: ID,
    taskQueue: rig.taskQueue,
    args: [{ ...payout, currency: "USD", beneficiary_id }],
  });
  expect(result).toBe("too late");
});
afterAll(() => rig?.end(), 60_000);

const shown = () =>
  rig.connected(async (temporal) => [
    await reportRun(temporal, ID),
    await readTimeline(temporal, ID),
  ]);

it("a run that has completed in doubt is shown so, and offers no retry", async () => {
  for (const { inDoubt, retry, state, steps } of await shown()) {
    expect(state).toBe("completed");
    expect(inDoubt).toMatchObject([{ step: "racing", operation: "createPayout" }]);
    expect(steps).toMatchObject([{ name: "racing", state: "inDoubt" }]);
    expect(retry).toBeUndefined();
  }
});

it("is settled by a person, who may correct that, and is in doubt no longer", async () => {
  const said = { by: "Ada", reason: "looked up", step: undefined };
  const denied = await rig.connected((t) => settle(t, ID, { ...said, found: undefined }));
  expect(denied).toMatchObject({ step: "racing" });
  expect(denied).not.toHaveProperty("retry");
  for (const { inDoubt, steps } of await shown()) {
    expect(inDoubt).toEqual([]);
    expect(steps).toMatchObject([{ name: "racing", state: "failed" }]);
  }
  const [made] = (await rig.simulator.state()).payouts;
  const found = { payout_id: made?.payout_id ?? "" };
  await rig.connected((t) => settle(t, ID, { ...said, found }));
  for (const { inDoubt, settled } of await shown()) {
    expect(inDoubt).toEqual([]);
    expect(settled).toMatchObject([{ step: "racing", found }]);
  }
});
