import { makePaymentsClient } from "@durable-payments/api-core";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { retryMany } from "../../src/retry/retry-many.ts";
import { retryRun } from "../../src/retry/retry.ts";
import type { PaysByChildren } from "./children-without-ids.ts";
import { type OwnRig, retrying, startOwnRig } from "./rig.ts";

// A busy machine takes its time.
const WITHIN = { timeout: 120_000, interval: 50 };

let rig: OwnRig;
let beneficiary_id: string;
beforeAll(async () => {
  rig = await startOwnRig("./children-without-ids.ts");
  const { apiKey, clientId, url: baseUrl } = rig.simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const payee = { ...beneficiary, account_currency: "USD", payment_method: "swift" } as const;
  ({ beneficiary_id } = await client.createBeneficiary(payee));
  await client.close();
});
afterAll(() => rig?.end(), 60_000);

const partOf = (reference: string, amount: string) => ({
  beneficiary_id,
  payout: { ...payout, currency: "USD", amount, payout_reference: reference },
  options: { onRefusal: "fail" as const },
});

const begin = async (input: Omit<PaysByChildren, "parts">, amounts = ["1.00"]) => {
  const id = randomUUID().slice(0, 8);
  const { workflow } = rig.environment.client;
  const handle = await workflow.start("paysByChildren", {
    workflowId: `invoice-${id}`,
    taskQueue: rig.taskQueue,
    args: [{ ...input, parts: amounts.map((amount) => partOf(id, amount)) }],
  });
  return { id, handle };
};

const paid = async (id: string) =>
  (await rig.simulator.state()).payouts
    .filter(({ payout_reference }) => payout_reference === id)
    .map(({ amount }) => amount)
    .toSorted();

const retry = (workflowId: string) =>
  rig.connected((temporal) => retryRun(temporal, workflowId, retrying()));

/** Everything that an error says, and what it wraps. */
const textsOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${textsOf(error.cause)}` : "";

const endOf = async (workflowId: string): Promise<string> =>
  await rig.environment.client.workflow
    .getHandle(workflowId)
    .result()
    .then(() => "completed", textsOf);

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

/** Await the ends of the children that the latest run has started: of those that it leaves behind, too. */
const awaitChildren = async (workflowId: string): Promise<void> => {
  const { workflow } = rig.environment.client;
  const { events = [] } = await workflow.getHandle(workflowId).fetchHistory();
  for (const { startChildWorkflowExecutionInitiatedEventAttributes: started } of events ?? [])
    if (started?.workflowId) await endOf(started.workflowId);
};

const REFUSED = /may have sent it.*runChild/s;

describe("children without ids of their own", () => {
  it.each(["execute", "start", "own", "grandchild", "abandoned"] as const)(
    "do not pay again where their parent is retried (%s)",
    async (how) => {
      const { handle, id } = await begin({ how, after: "fail" });
      expect(await endOf(handle.workflowId)).toContain("The booking failed.");
      await awaitChildren(handle.workflowId);
      expect(await paid(id)).toEqual(["1.00"]);
      await retry(handle.workflowId);
      // A parent that does not await its child ends by itself.
      const why = how === "abandoned" ? /The booking failed/ : REFUSED;
      expect(await endOf(handle.workflowId)).toMatch(why);
      await awaitChildren(handle.workflowId);
      expect(await paid(id)).toEqual(["1.00"]);
    },
  );

  it("do not pay again where their parent is reset by Temporal's own means, and once more", async () => {
    const { handle, id } = await begin({ how: "execute", after: "failOnce" }, ["1.00", "1.00"]);
    await endOf(handle.workflowId);
    await resetToStart(handle.workflowId, handle.firstExecutionRunId);
    expect(await endOf(handle.workflowId)).toMatch(REFUSED);
    const { runId } = await rig.environment.client.workflow.getHandle(handle.workflowId).describe();
    // What the first run has started is in no history but its own.
    await resetToStart(handle.workflowId, runId);
    expect(await endOf(handle.workflowId)).toMatch(REFUSED);
    expect(await paid(id)).toEqual(["1.00", "1.00"]);
  });

  it("do not pay again where their parent was terminated and is retried", async () => {
    const { handle, id } = await begin({ how: "execute", after: "wait" });
    await vi.waitFor(async () => expect(await paid(id)).toEqual(["1.00"]), WITHIN);
    await handle.terminate("by an operator");
    await retry(handle.workflowId);
    expect(await endOf(handle.workflowId)).toMatch(REFUSED);
    expect(await paid(id)).toEqual(["1.00"]);
  });

  it("do not pay again while the earlier child is under way, its parent being reset", async () => {
    await rig.simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 800 });
    const before = (await rig.simulator.state()).requests["createPayout"] ?? 0;
    const { handle, id } = await begin({ how: "abandoned", after: "wait" });
    await vi.waitFor(async () => {
      const { requests } = await rig.simulator.state();
      expect(requests["createPayout"]).toBe(before + 1);
    }, WITHIN);
    const first = await handle.describe();
    const { events } = await handle.fetchHistory();
    await resetToStart(handle.workflowId, first.runId);
    const again = await vi.waitFor(async () => {
      const { events: now } = await rig.environment.client.workflow
        .getHandle(handle.workflowId)
        .fetchHistory();
      const child = (all: typeof now) =>
        all?.find((event) => event.childWorkflowExecutionStartedEventAttributes)
          ?.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId;
      const [was, is] = [child(events), child(now)];
      if (!was || !is || was === is) throw new Error("It has started no other child yet.");
      return { was, is };
    }, WITHIN);
    expect(await endOf(again.is)).toMatch(REFUSED);
    await endOf(again.was);
    expect(await paid(id)).toEqual(["1.00"]);
    await rig.environment.client.workflow.getHandle(handle.workflowId).terminate("done");
  });

  it("do not pay again by a retry of many, be it of the parent or of the refused child", async () => {
    const { handle, id } = await begin({ how: "execute", after: "fail" });
    await endOf(handle.workflowId);
    const { client } = rig.environment;
    const retryAll = async (workflowIds: ReadonlyArray<string>) => {
      const seen = await Promise.all(
        workflowIds.map(async (workflowId) => ({
          workflowId,
          runId: (await client.workflow.getHandle(workflowId).describe()).runId,
        })),
      );
      await rig.connected((temporal) =>
        retryMany(temporal, seen, { ...retrying(), rate: 10, isDryRun: false }),
      );
      for (const workflowId of workflowIds) await endOf(workflowId);
    };
    await retryAll([handle.workflowId]);
    const { events } = await client.workflow.getHandle(handle.workflowId).fetchHistory();
    const children = (events ?? []).flatMap(
      (event) => event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId ?? [],
    );
    expect(children).toHaveLength(1);
    await retryAll([handle.workflowId, ...children]);
    await resetToStart(
      children[0]!,
      (await client.workflow.getHandle(children[0]!).describe()).runId,
    );
    expect(await endOf(children[0]!)).toMatch(REFUSED);
    expect(await paid(id)).toEqual(["1.00"]);
  });

  it("do not pay again where Temporal begins their parent anew by its retry policy", async () => {
    const id = randomUUID().slice(0, 8);
    const handle = await rig.environment.client.workflow.start("plainParent", {
      workflowId: `plain-${id}`,
      taskQueue: rig.taskQueue,
      args: [partOf(id, "1.00")],
      retry: { maximumAttempts: 3, initialInterval: "10ms" },
    });
    await endOf(handle.workflowId);
    expect(await paid(id)).toEqual(["1.00"]);
  });

  it("pay where nothing was sent before: a refused payout is no reason to ask", async () => {
    await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const { handle, id } = await begin({ how: "execute", after: "failOnce" });
    expect(await endOf(handle.workflowId)).toContain("failed");
    expect(await paid(id)).toEqual([]);
    await retry(handle.workflowId);
    expect(await endOf(handle.workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["1.00"]);
  });
});

describe("children with ids that stay", () => {
  it.each([
    ["derived from the parent's", undefined],
    ["of a business, which look like random ones", [randomUUID(), randomUUID()]],
  ])("go on where their parent is retried: ids %s", async (_, ids) => {
    const { handle, id } = await begin({ how: "named", after: "failOnce", ...(ids && { ids }) }, [
      "1.00",
      "1.00",
    ]);
    expect(await endOf(handle.workflowId)).toContain("The booking failed.");
    await retry(handle.workflowId);
    expect(await endOf(handle.workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["1.00", "1.00"]);
  });

  it("are started for the first time behind one that has paid, by a parent that was retried", async () => {
    const { handle, id } = await begin({ how: "namedInTurn", after: "failOnce" }, ["1.00", "2.00"]);
    expect(await endOf(handle.workflowId)).toContain("The booking failed.");
    expect(await paid(id)).toEqual(["1.00"]);
    await retry(handle.workflowId);
    expect(await endOf(handle.workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["1.00", "2.00"]);
  });
});
