import { makePaymentsClient } from "@durable-payments/api-core";
import {
  type ApprovalRequest,
  approveUpdate,
  progressQuery,
  resolveUpdate,
} from "@durable-payments/protocol";
import { WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { InvalidInput } from "../../src/errors.ts";
import { planRetryOf, retryRun } from "../../src/retry/retry.ts";
import type { PayAndBook } from "./ledger-types.ts";
import type { PaysApproved } from "./pays-approved.ts";
import { type OwnRig, retrying, startOwnRig } from "./rig.ts";

// A busy machine takes its time.
const WITHIN = { timeout: 120_000, interval: 50 };

let rig: OwnRig;
let beneficiary_id: string;
beforeAll(async () => {
  rig = await startOwnRig("./workflows.ts");
  const { apiKey, clientId, url: baseUrl } = rig.simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const made = await client.createBeneficiary({
    ...beneficiary,
    account_currency: "USD",
    payment_method: "swift",
  });
  beneficiary_id = made.beneficiary_id;
  await client.close();
});
afterAll(() => rig?.end(), 60_000);

/** An input that nothing else of the tests looks like. */
const inputOf = (id: string): PayAndBook => ({
  payment: { ...payout, currency: "USD", beneficiary_id, payout_reference: id.slice(0, 8) },
  entry: { ledger: id, amount: "250.00", currency: "USD" },
  receipt: { to: "ada@example.com", subject: id },
});

const begin = async (change: (input: PayAndBook) => unknown = (input) => input) => {
  const id = randomUUID();
  const handle = await rig.environment.client.workflow.start("payAndBook", {
    workflowId: `order/${id}`,
    taskQueue: rig.taskQueue,
    args: [change(inputOf(id))],
  });
  return { id, handle, again: () => rig.environment.client.workflow.getHandle(handle.workflowId) };
};

/** What stands of a run: each once, or it was done twice. */
const made = async (id: string) => ({
  payouts: (await rig.simulator.state()).payouts.filter(
    ({ payout_reference }) => payout_reference === id.slice(0, 8),
  ).length,
  entries: rig.ledger.made("entries").filter(({ body }) => body["ledger"] === id).length,
  receipts: rig.ledger.made("receipts").filter(({ body }) => body["subject"] === id).length,
});
const ONCE = { payouts: 1, entries: 1, receipts: 1 };

const failureOf = async (handle: WorkflowHandle): Promise<ApplicationFailure> => {
  const error: unknown = await handle.result().catch((thrown: unknown) => thrown);
  if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) {
    return error.cause;
  }
  throw new Error("The run did not fail.", { cause: error });
};

const untilAsked = (handle: WorkflowHandle) =>
  vi.waitFor(async () => {
    const { attention } = await handle.query(progressQuery);
    if (attention === undefined) throw new Error("It asks nothing.");
    return attention;
  }, WITHIN);

const amended = async (workflowId: string, patch: unknown) => {
  const error: unknown = await rig
    .connected((temporal) => retryRun(temporal, workflowId, retrying(patch)))
    .catch((thrown: unknown) => thrown);
  if (!(error instanceof InvalidInput)) throw new Error("It was not refused.", { cause: error });
  return error;
};

describe("the input of an own workflow", () => {
  it("is checked by its schema before anything is sent, and every fault is named", async () => {
    const { handle, id } = await begin((input) => ({
      ...input,
      entry: { ...input.entry, amount: "250" },
      receipt: { to: "nobody", subject: "" },
    }));
    const failure = await failureOf(handle);
    expect(failure.type).toBe("InvalidRequest");
    expect(failure.message).toContain("entry.amount must have two decimals");
    expect(failure.message).toContain("receipt.to");
    expect(failure.message).toContain("receipt.subject");
    expect(await made(id)).toEqual({ payouts: 0, entries: 0, receipts: 0 });
  });
});

describe("own operations", () => {
  it("are sent once each, and recorded in the journal", async () => {
    const { handle, id } = await begin();
    const { entry } = (await handle.result()) as { readonly entry: string };
    expect(rig.ledger.made("entries").map((each) => each.id)).toContain(entry);
    expect(await made(id)).toEqual(ONCE);
    const sends = await rig.journal.find({ workflowId: handle.workflowId });
    expect(sends.map(({ operation, outcome, step }) => [step, operation, outcome])).toEqual([
      ["createPayout", "createPayout", "carriedOut"],
      ["bookEntry", "send/bookEntry", "carriedOut"],
      ["sendReceipt", "send/sendReceipt", "carriedOut"],
    ]);
    const { steps } = await handle.query(progressQuery);
    expect(steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "checkInput done",
      "createPayout done",
      "awaitPayout done",
      "bookEntry done",
      "sendReceipt done",
    ]);
  });

  it("keyed: a lost answer is asked for again under the same key", async () => {
    rig.ledger.next("entries", "answer lost");
    rig.ledger.next("entries", "request lost");
    const before = rig.ledger.posts("entries");
    const { handle, id } = await begin();
    await handle.result();
    expect(await made(id)).toEqual(ONCE);
    expect(rig.ledger.posts("entries") - before).toBe(3);
  });

  it("once: a lost answer is looked up, and what is listed is not sent again", async () => {
    rig.ledger.next("receipts", "answer lost");
    const before = rig.ledger.posts("receipts");
    const { handle, id } = await begin();
    await handle.result();
    expect(await made(id)).toEqual(ONCE);
    expect(rig.ledger.posts("receipts") - before).toBe(1);
  });

  it("once: a lost request is looked up, and sent when it is not listed", async () => {
    rig.ledger.next("receipts", "request lost");
    const before = rig.ledger.posts("receipts");
    const { handle, id } = await begin();
    await handle.result();
    expect(await made(id)).toEqual(ONCE);
    expect(rig.ledger.posts("receipts") - before).toBe(2);
  });

  it("are sent once though the run is reset by Temporal's own means", async () => {
    const { handle, id } = await begin();
    await handle.result();
    const { events } = await handle.fetchHistory();
    const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    const { client } = rig.environment;
    await client.workflowService.resetWorkflowExecution({
      namespace: "default",
      requestId: randomUUID(),
      reason: "as an operator would",
      workflowExecution: { workflowId: handle.workflowId, runId: handle.firstExecutionRunId },
      workflowTaskFinishEventId: first!.eventId!,
    });
    await client.workflow.getHandle(handle.workflowId).result();
    expect(await made(id)).toEqual(ONCE);
  });

  it("once: a person is asked about what may be it, and decides", async () => {
    // Somebody else sends the like.
    // Without digits, which could look like those of an account and be masked.
    const to = `${randomUUID().replaceAll(/\d/g, "d")}@example.com`;
    const other = { to, subject: "something else" };
    await fetch(`${rig.ledger.url}/receipts`, { method: "POST", body: JSON.stringify(other) });
    rig.ledger.next("receipts", "request lost");
    const { handle, id } = await begin((input) => ({
      ...input,
      receipt: { ...input.receipt, to },
    }));
    const task = await untilAsked(handle);
    expect(task).toMatchObject({
      operation: "send/sendReceipt",
      sent: { subject: id },
      candidates: [other],
      idsWanted: ["sendReceipt_id"],
    });
    const { question } = task;
    // A mistyped id is not taken.
    const found = { sendReceipt_id: "receipts-none" };
    await handle.executeUpdate(resolveUpdate, { args: [{ question, by: "Ada", found }] });
    const again = await vi.waitFor(async () => {
      const asked = await untilAsked(handle);
      expect(asked.reason).toContain("Nothing has the id receipts-none");
      return asked;
    }, WITHIN);
    await handle.executeUpdate(resolveUpdate, {
      args: [{ question: again.question, by: "Ada", resend: true }],
    });
    await handle.result();
    expect(await made(id)).toEqual(ONCE);
  });

  it("are undone where the run fails later, and the run can be retried", async () => {
    rig.ledger.next("receipts", { status: 409, text: "unknown address" });
    const { again, handle, id } = await begin();
    expect((await failureOf(handle)).message).toContain("unknown address");
    expect(await made(id)).toEqual({ payouts: 1, entries: 0, receipts: 0 });
    await rig.connected((temporal) =>
      retryRun(temporal, handle.workflowId, retrying(undefined, { from: "bookEntry" })),
    );
    await again().result();
    expect(await made(id)).toEqual(ONCE);
  });
});

describe("a retry of an own workflow", () => {
  it("refuses an amendment by name, sends nothing, and takes the right one", async () => {
    rig.ledger.next("entries", { status: 409, text: "the ledger is closed for good" });
    const { again, handle, id } = await begin();
    expect((await failureOf(handle)).type).toBe("Refused");
    const posts = rig.ledger.posts("entries");

    const wrong = await amended(handle.workflowId, { entry: { amount: "19" } });
    expect(wrong.faults).toEqual([{ field: "entry.amount", problem: "must have two decimals" }]);
    const late = await amended(handle.workflowId, { payment: { amount: "19.00" } });
    expect(late.faults).toEqual([
      { field: "payment.amount", problem: "is used by createPayout, which is done and stays so" },
    ]);
    const unknown = await amended(handle.workflowId, { other: { amount: "19.00" } });
    expect(unknown.faults).toContainEqual({ field: "other.amount", problem: "cannot be amended" });
    expect(rig.ledger.posts("entries")).toBe(posts);
    expect((await failureOf(again())).type).toBe("AmendmentRefused");

    await rig.connected((temporal) =>
      retryRun(temporal, handle.workflowId, retrying({ entry: { amount: "20.00" } })),
    );
    await again().result();
    expect(await made(id)).toEqual(ONCE);
    expect(rig.ledger.made("entries").at(-1)?.body).toMatchObject({ amount: "20.00", ledger: id });
  });

  it("sends nothing of a workflow that has not read its amended input", async () => {
    const id = randomUUID();
    const { workflow } = rig.environment.client;
    rig.ledger.next("entries", "carried out");
    rig.ledger.next("entries", { status: 409, text: "the ledger is closed" });
    const { workflowId } = await workflow.start("readsOnce", {
      workflowId: `reads-once/${id}`,
      taskQueue: rig.taskQueue,
      args: [{ entry: inputOf(id).entry }],
    });
    // The first entry is booked, and the second is refused.
    await vi.waitFor(async () => expect((await made(id)).entries).toBe(1), WITHIN);
    const failed = workflow.getHandle(workflowId);
    const ended = await failureOf(failed);
    expect(ended.type).toBe("Refused");
    const posts = rig.ledger.posts("entries");
    await rig.connected((temporal) =>
      retryRun(temporal, workflowId, retrying({ entry: { amount: "20.00" } })),
    );
    const failure = await failureOf(workflow.getHandle(workflowId));
    expect(failure.type).toBe("AmendmentRefused");
    expect(failure.message).toContain("run.input() anew before each step");
    expect(rig.ledger.posts("entries")).toBe(posts);
  });

  it("reconciles what it has sent before, and takes no amendment of it", async () => {
    // Its answer is lost with the run that sent it.
    const held = Promise.withResolvers<void>();
    const came = Promise.withResolvers<void>();
    rig.ledger.onPost = async () => {
      came.resolve();
      await held.promise;
    };
    const { again, handle, id } = await begin();
    await came.promise;
    await handle.terminate("its worker was lost");
    rig.ledger.onPost = async () => undefined;
    held.resolve();
    const late = await amended(handle.workflowId, { entry: { amount: "20.00" } });
    expect(late.faults?.[0]?.problem).toContain("nobody knows what became of it");
    const { plan } = await rig.connected((temporal) =>
      planRetryOf(temporal, handle.workflowId, retrying()),
    );
    expect(plan.instruction.sent).toMatchObject({ bookEntry: { outcome: "unknown" } });
    await rig.connected((temporal) => retryRun(temporal, handle.workflowId, retrying()));
    await again().result();
    expect(await made(id)).toEqual(ONCE);
  });
});

describe("what a second person has approved", () => {
  const beginApproved = async (what: PaysApproved["what"]) => {
    const id = randomUUID();
    const { entry, payment } = inputOf(id);
    const handle = await rig.environment.client.workflow.start("paysApproved", {
      workflowId: `order/${id}`,
      taskQueue: rig.taskQueue,
      args: [
        { entry: { ...entry, amount: "100.00" }, payment: { ...payment, amount: "100.00" }, what },
      ],
      memo: { startedBy: "Ada" },
    });
    return {
      id,
      handle,
      again: () => rig.environment.client.workflow.getHandle(handle.workflowId),
    };
  };
  const untilApproval = (handle: WorkflowHandle) =>
    vi.waitFor(async () => {
      const { shown } = await handle.query(progressQuery);
      if (shown["approval"] === undefined) throw new Error("It waits for no approval.");
      return shown["approval"] as ApprovalRequest;
    }, WITHIN);
  const approve = async (handle: WorkflowHandle, by: string) => {
    const { hash } = await untilApproval(handle);
    await handle.executeUpdate(approveUpdate, { args: [{ by, approve: true, hash }] });
  };

  it.each<PaysApproved["what"]>(["payment", "requests", "booking", "child"])(
    "is approved anew where it is amended since, and not by who has amended it: %s",
    async (what) => {
      if (what === "booking") rig.ledger.next("entries", { status: 409, text: "closed" });
      else await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
      const { again, handle, id } = await beginApproved(what);
      await approve(handle, "Carol");
      // What is not named request by request is approved once more where it is sent.
      if (what === "payment") await approve(handle, "Carol");
      await expect(handle.result()).rejects.toThrow("failed");
      const amount = "900.00";
      const patch = what === "booking" ? { entry: { amount } } : { payment: { amount } };
      await rig.connected((temporal) => retryRun(temporal, handle.workflowId, retrying(patch)));
      const { payment } = await untilApproval(again());
      expect(payment).toMatchObject({ amount });
      for (const by of ["Bob", "Ada"]) {
        await expect(approve(again(), by)).rejects.toThrow();
      }
      expect(await made(id)).toMatchObject({ payouts: 0, entries: 0 });
      await approve(again(), "Carol");
      await again().result();
      expect(await made(id)).toMatchObject(
        what === "booking" ? { payouts: 0, entries: 1 } : { payouts: 1, entries: 0 },
      );
    },
  );

  const resetAfterUpdate = async (handle: WorkflowHandle) => {
    const { events = [] } = await handle.fetchHistory();
    const taken = events?.find((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    const task = events?.findLast(
      (event) =>
        event.workflowTaskCompletedEventAttributes &&
        Number(event.eventId) < Number(taken?.eventId),
    );
    await rig.environment.client.workflowService.resetWorkflowExecution({
      namespace: "default",
      requestId: randomUUID(),
      reason: "as an operator would",
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: task?.eventId ?? null,
    });
  };

  it("is approved anew where another booking has used its approval", async () => {
    const { again, handle, id } = await beginApproved("twoBookings");
    const first = await untilApproval(handle);
    await approve(handle, "Carol");
    const second = await vi.waitFor(async () => {
      const asked = await untilApproval(handle);
      expect(asked.hash).not.toBe(first.hash);
      return asked;
    }, WITHIN);
    expect(second.why).toContain("the approval of such a payment was used by bookEntry");
    expect(await made(id)).toMatchObject({ entries: 1 });
    // The run is put back to when the first approval was taken: that is still the first booking's.
    await resetAfterUpdate(handle);
    await vi.waitFor(
      async () => expect((await untilApproval(again())).why).toContain("bookEntry"),
      WITHIN,
    );
    expect(await made(id)).toMatchObject({ entries: 1 });
    await approve(again(), "Carol");
    await again().result();
    expect(await made(id)).toMatchObject({ entries: 2 });
  });
});
