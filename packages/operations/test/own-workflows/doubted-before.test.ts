import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { makePaymentsClient } from "@durable-payments/api-core";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listRunsInDoubt } from "../../src/decisions/in-doubt.ts";
import { settle } from "../../src/decisions/settle.ts";
import { listRuns } from "../../src/runs/list.ts";
import { retryRun } from "../../src/retry/retry.ts";
import { reportRun } from "../../src/runs/report.ts";
import { readTimeline } from "../../src/timeline/read-timeline.ts";
import { type OwnRig, retrying, startOwnRig } from "./rig.ts";

// A busy machine takes its time.
const WITHIN = { timeout: 120_000, interval: 100 };

let rig: OwnRig;
let payment: object;
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
  payment = { ...payout, currency: "USD", beneficiary_id };
  await rig.simulator.addFault({ kind: "stalled", operation: "createPayout", times: 1_000 });
});
afterAll(() => rig?.end(), 60_000);

/** Starts a run that ends in doubt. */
const start = async (type: "raced" | "racedOn", cronSchedule?: string) => {
  const workflowId = `${type}-${randomUUID().slice(0, 8)}`;
  const { firstExecutionRunId: runId } = await rig.environment.client.workflow.start(type, {
    workflowId,
    taskQueue: rig.taskQueue,
    args: [payment],
    ...(cronSchedule !== undefined && { cronSchedule }),
  });
  return { workflowId, runId };
};

const latest = async (workflowId: string) =>
  (await rig.environment.client.workflow.getHandle(workflowId).describe()).runId;

/** The runs of an id that both lists have as in doubt. */
const inDoubt = (workflowId: string) =>
  rig.connected(async (temporal) => {
    const attention = (await listRunsInDoubt(temporal))
      .filter((run) => run.workflowId === workflowId)
      .map(({ runId }) => runId);
    const listed: Array<string> = [];
    for await (const run of listRuns(temporal, { standing: ["inDoubt"] })) {
      if (run.workflowId === workflowId) listed.push(run.runId);
    }
    return { attention, listed };
  });

const expectInDoubt = (workflowId: string, runIds: ReadonlyArray<string>) =>
  vi.waitFor(async () => {
    expect(await inDoubt(workflowId)).toEqual({ attention: runIds, listed: runIds });
  }, WITHIN);

const settled = (workflowId: string, expectedRunId: string) =>
  rig.connected((temporal) =>
    settle(temporal, workflowId, {
      by: "Ada",
      reason: "looked up",
      step: undefined,
      found: undefined,
      expectedRunId,
    }),
  );

describe("a run in doubt", () => {
  it("stays listed while it is continued as new, and can be settled", async () => {
    const { runId, workflowId } = await start("racedOn");
    const { workflow } = rig.environment.client;
    expect(await workflow.getHandle(workflowId).result()).toBe("owes nothing");
    await expectInDoubt(workflowId, [runId]);
    const shown = await rig.connected((temporal) => readTimeline(temporal, workflowId, runId));
    expect(shown).toMatchObject({
      state: "continuedAsNew",
      laterRun: await latest(workflowId),
      inDoubt: [{ step: "racing" }],
    });
    expect(shown).not.toHaveProperty("retry");
    const answer = await settled(workflowId, runId);
    expect(answer).toMatchObject({ runId, step: "racing" });
    expect(answer).not.toHaveProperty("retry");
    await expectInDoubt(workflowId, []);
  });

  it("stays listed, and it alone, while its cron schedule begins the next ones", async () => {
    const { runId, workflowId } = await start("raced", "@every 1s");
    const { workflow } = rig.environment.client;
    await vi.waitFor(async () => expect(await latest(workflowId)).not.toBe(runId), WITHIN);
    await expectInDoubt(workflowId, [runId]);
    await workflow.getHandle(workflowId).terminate();
    await expectInDoubt(workflowId, [runId]);
  });

  it("stays listed while its id is used again for something else", async () => {
    const { runId, workflowId } = await start("raced");
    const { workflow } = rig.environment.client;
    expect(await workflow.getHandle(workflowId).result()).toBe("too late");
    await workflow.execute("racedOn", { workflowId, taskQueue: rig.taskQueue });
    await expectInDoubt(workflowId, [runId]);
  });

  it("is listed once where a reset goes on with it, and settled by the run that does", async () => {
    const { runId, workflowId } = await start("raced");
    const { client } = rig.environment;
    const handle = client.workflow.getHandle(workflowId, runId);
    expect(await handle.result()).toBe("too late");
    const { events } = await handle.fetchHistory();
    const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
    const { runId: made } = await client.workflowService.resetWorkflowExecution({
      namespace: "default",
      requestId: randomUUID(),
      reason: "as an operator would",
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: last!.eventId!,
    });
    expect(await client.workflow.getHandle(workflowId, made).result()).toBe("too late");
    await expectInDoubt(workflowId, [made]);
    await expect(settled(workflowId, runId)).rejects.toThrow(`The latest run of ${workflowId}`);
    await settled(workflowId, made);
    await expectInDoubt(workflowId, []);
  });
});

describe("a run that ended before any worker took it", () => {
  it("says what other runs of its id have sent", async () => {
    const { runId, workflowId } = await start("raced");
    const { workflow } = rig.environment.client;
    expect(await workflow.getHandle(workflowId).result()).toBe("too late");
    const { taskQueue } = rig;
    const unbegun = { workflowId, taskQueue, startDelay: "1 hour", args: [payment] } as const;
    const handle = await workflow.start("raced", unbegun);
    await handle.terminate();
    const sent = `It has sent nothing itself, but other runs of this id have: racing of ${runId}, whose outcome is not known`;
    const next = { operation: "timeline", workflowId, runId };
    await vi.waitFor(async () => {
      const report = await rig.connected((temporal) => reportRun(temporal, workflowId));
      expect(report.noProgress?.message).toContain(sent);
      expect(report.noProgress).toMatchObject({ next });
    }, WITHIN);
    const retried = rig.connected((temporal) => retryRun(temporal, workflowId, retrying()));
    await expect(retried).rejects.toMatchObject({
      message: expect.stringContaining(sent) as unknown,
      next,
    });
  });

  it("says only of itself that it has sent nothing, where no other is known", async () => {
    const workflowId = `unbegun-${randomUUID().slice(0, 8)}`;
    const { taskQueue } = rig;
    const unbegun = { workflowId, taskQueue, startDelay: "1 hour", args: [payment] } as const;
    await (await rig.environment.client.workflow.start("raced", unbegun)).terminate();
    const report = await rig.connected((temporal) => reportRun(temporal, workflowId));
    expect(report.noProgress?.message).toBe(
      "It ended before any worker took it: this run has sent nothing.",
    );
  });
});
