import { makePaymentsClient } from "@durable-payments/api-core";
import {
  type Approval,
  approvalTexts,
  type ApprovalRequest,
  approveCommands,
  approveUpdate,
  NO_STARTER,
  progressQuery,
  resolveUpdate,
} from "@durable-payments/protocol";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { auditRun } from "../../src/audit/audit.ts";
import { EndedByPerson } from "../../src/errors.ts";
import { readCancelRequest } from "../../src/history/cancel-request.ts";
import { retryRun } from "../../src/retry/retry.ts";
import { type OwnRig, retrying, startOwnRig } from "./rig.ts";

// A busy machine takes its time.
const WITHIN = { timeout: 120_000, interval: 50 };

let rig: OwnRig;
let beneficiary_id: string;
beforeAll(async () => {
  rig = await startOwnRig("./pay-in-parts.ts");
  const { apiKey, clientId, url: baseUrl } = rig.simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const payee = { ...beneficiary, account_currency: "USD", payment_method: "swift" } as const;
  ({ beneficiary_id } = await client.createBeneficiary(payee));
  await client.close();
});
afterAll(() => rig?.end(), 60_000);

const begin = async (
  type: "payInParts" | "payOneByOne",
  onRefusal: "ask" | "fail" = "fail",
  { above, startedBy }: { readonly above?: string; readonly startedBy?: string } = {},
) => {
  const id = randomUUID();
  const part = (index: number) => ({
    beneficiary_id,
    payout: {
      ...payout,
      currency: "USD",
      amount: `${index}.00`,
      payout_reference: id.slice(0, 8),
    },
    options: { onRefusal, ...(above !== undefined && { approval: { above } }) },
  });
  const handle = await rig.environment.client.workflow.start(type, {
    workflowId: `invoice/${id}`,
    taskQueue: rig.taskQueue,
    args: [[part(1), part(2)]],
    ...(startedBy !== undefined && { memo: { startedBy } }),
  });
  const { getHandle } = rig.environment.client.workflow;
  const get = getHandle.bind(rig.environment.client.workflow);
  return {
    id,
    handle,
    again: () => get(handle.workflowId),
    child: (index: number) => get(`${handle.workflowId}/part${index}`),
  };
};

const paid = async (id: string) =>
  (await rig.simulator.state()).payouts
    .filter(({ payout_reference }) => payout_reference === id.slice(0, 8))
    .map(({ amount }) => amount)
    .toSorted();

const resetToStart = async (workflowId: string, runId: string) => {
  const { client } = rig.environment;
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await client.workflowService.resetWorkflowExecution({
    namespace: "default",
    requestId: randomUUID(),
    reason: "as an operator would",
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: first!.eventId!,
  });
};

const requests = async () => (await rig.simulator.state()).requests["createPayout"] ?? 0;

describe("children of an own workflow", () => {
  it("are not sent a second time when their parent is reset after they have ended", async () => {
    const { again, handle, id } = await begin("payInParts");
    const first: unknown = await handle.result();
    const before = await requests();
    await resetToStart(handle.workflowId, handle.firstExecutionRunId);
    expect(await again().result()).toEqual(first);
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
    expect(await requests()).toBe(before);
  });

  it("send nothing before a first start that they would not send alone", async () => {
    const { child, handle, id } = await begin("payOneByOne");
    await handle.result();
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
    const { events } = await child(1).fetchHistory();
    const types = events?.flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    );
    // No list is read: nothing can have been sent before.
    expect(types).toEqual(["createPayout", "awaitPayoutEnd"]);
  });

  it("that failed are started again by a retry of their parent, and those that paid are not", async () => {
    await rig.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const { again, handle, id } = await begin("payInParts");
    await expect(handle.result()).rejects.toThrow("failed");
    expect(await paid(id)).toHaveLength(1);
    // The child whose answer was lost is under way still: its parent waits for its end.
    await rig.connected((temporal) => retryRun(temporal, handle.workflowId, retrying()));
    await again().result();
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
  });

  it("whose decision was taken by a person do not go past it, unless that is overruled", async () => {
    await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const { again, child, handle, id } = await begin("payOneByOne", "ask");
    const task = await vi.waitFor(async () => {
      const { attention } = await child(1).query(progressQuery);
      if (attention === undefined) throw new Error("It asks nothing.");
      return attention;
    }, WITHIN);
    await child(1).executeUpdate(resolveUpdate, {
      args: [{ question: task.question, by: "Ada", abandon: "not owed" }],
    });
    await expect(handle.result()).rejects.toThrow("failed");
    // Reset by Temporal's own means: nobody has overruled Ada.
    await resetToStart(handle.workflowId, handle.firstExecutionRunId);
    await expect(again().result()).rejects.toThrow("failed");
    expect(await paid(id)).toEqual([]);
    const run = (options: object) =>
      rig.connected((temporal) =>
        retryRun(temporal, handle.workflowId, retrying(undefined, options)),
      );
    await expect(run({})).rejects.toBeInstanceOf(EndedByPerson);
    await run({ decisions: "overrule", from: "part1" });
    await again().result();
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
  });

  it("that are under way when their parent is reset are awaited, and pay once", async () => {
    await rig.simulator.addFault({
      kind: "slow",
      operation: "createPayout",
      milliseconds: 800,
    });
    const before = await requests();
    const { again, handle, id } = await begin("payOneByOne");
    await vi.waitFor(async () => expect(await requests()).toBe(before + 1), WITHIN);
    await resetToStart(handle.workflowId, handle.firstExecutionRunId);
    await again().result();
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
  });
});

describe("a child that needs an approval", () => {
  const asking = async (child: WorkflowHandle): Promise<ApprovalRequest> =>
    vi.waitFor(async () => {
      const { shown } = await child.query(progressQuery);
      if (shown["approval"] === undefined) throw new Error("It waits for no approval.");
      return shown["approval"] as ApprovalRequest;
    }, WITHIN);
  const decide = (child: WorkflowHandle, decision: Approval) =>
    child.executeUpdate(approveUpdate, { args: [decision] });

  it("that is cancelled through its parent is shown as cancelled by that", async () => {
    const { child, handle } = await begin("payOneByOne", "fail", {
      above: "0.50",
      startedBy: "Ada",
    });
    const { workflowId } = child(1);
    await vi.waitFor(async () => {
      const { shown } = await child(1).query(progressQuery);
      expect(shown).toHaveProperty("approval");
    }, WITHIN);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    const entries = await rig.connected((temporal) => auditRun(temporal, workflowId));
    const by = `the workflow ${handle.workflowId}`;
    expect(entries.entries).toContainEqual(
      expect.objectContaining({ who: by, what: "asked to end" }),
    );
    const { runId } = await child(1).describe();
    const request = rig.connected((temporal) => readCancelRequest(temporal, { workflowId, runId }));
    expect(await request).toMatchObject({ by });
  });

  it("is approved by a second person: who has started its parent has started it", async () => {
    const { child, handle, id } = await begin("payInParts", "fail", {
      above: "1.50",
      startedBy: "Ada",
    });
    const { hash, startedBy } = await asking(child(2));
    expect(startedBy).toBe("Ada");
    await expect(decide(child(2), { by: "Ada", hash, approve: true })).rejects.toThrow();
    await decide(child(2), { by: "Carol", hash, approve: true });
    await handle.result();
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
  });

  it("that nobody can approve says so, and can be rejected", async () => {
    const { child, handle, id } = await begin("payInParts", "fail", { above: "1.50" });
    const request = await asking(child(2));
    const run = { workflowId: child(2).workflowId, runId: "any" };
    expect(approveCommands(run, request).map(({ args }) => args.includes("--reject"))).toEqual([
      true,
    ]);
    expect(approvalTexts(request).warnings).toEqual([NO_STARTER]);
    const { hash } = request;
    await expect(decide(child(2), { by: "Carol", hash, approve: true })).rejects.toMatchObject({
      cause: { message: NO_STARTER },
    });
    await decide(child(2), { by: "Carol", hash, reject: "started by nobody" });
    await expect(handle.result()).rejects.toThrow();
    expect(await paid(id)).toEqual(["1.00"]);
  });
});
