import { PAYMENT_IN_DOUBT } from "@durable-payments/protocol";
import { ServiceError, WorkflowNotFoundError } from "@temporalio/client";
import { expect, it } from "vitest";
import type { Temporal } from "../src/connection/temporal.ts";
import { listRunsInDoubt } from "../src/decisions/in-doubt.ts";
import { listRuns } from "../src/runs/list.ts";

const startTime = new Date("2026-11-22T10:00:00.000Z");

const runOf = (workflowId: string) => ({
  workflowId,
  runId: `run of ${workflowId}`,
  type: "payout",
  status: { name: "TERMINATED" },
  startTime,
  closeTime: startTime,
  typedSearchAttributes: {
    get: ({ name }: { readonly name: string }) =>
      name === PAYMENT_IN_DOUBT.name ? "createPayout" : undefined,
  },
  raw: {},
});

const gone = (workflowId: string) => new WorkflowNotFoundError("not found", workflowId, undefined);

/** Temporal with runs in doubt, some of which it lists and cannot describe; no history is left. */
const temporalWith = (unread: Readonly<Record<string, Error>>): Temporal => {
  const ids = ["a", ...Object.keys(unread), "z"];
  const describe = async (id: string) => {
    const error = unread[id];
    if (error !== undefined) throw error;
    return runOf(id);
  };
  const fetchHistory = async (id: string) => {
    throw gone(id);
  };
  const client = {
    options: { namespace: "default" },
    workflow: {
      list: async function* () {
        for (const id of ids) yield runOf(id);
      },
      getHandle: (id: string) => ({
        describe: () => describe(id),
        fetchHistory: () => fetchHistory(id),
      }),
    },
    workflowService: { getWorkflowExecutionHistory: () => fetchHistory("") },
  };
  const settings = { address: "localhost:7233", namespace: "default", taskQueue: "payments" };
  // As far as these lists need it.
  return { client, connection: {}, settings } as unknown as Temporal;
};

const grpc = (code: number) =>
  new ServiceError("failed", {
    cause: Object.assign(new Error("bad id"), { code, details: "bad id", metadata: {} }),
  });

const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;

const steps = [{ step: "createPayout", operation: "unknown" }];

it("a run in doubt that cannot be read is named, and hides none of the others", async () => {
  const unread = { deleted: gone("deleted"), "nul\u0000": grpc(INVALID_ARGUMENT) };
  expect(await listRunsInDoubt(temporalWith(unread))).toMatchObject([
    { workflowId: "a", inDoubt: steps },
    {
      workflowId: "deleted",
      runId: "run of deleted",
      startedAt: startTime.toISOString(),
      inDoubt: [],
      unread: expect.stringMatching(/^There is no run with the id deleted/) as unknown,
    },
    { workflowId: "nul\u0000", inDoubt: [], unread: expect.stringContaining("bad id") as unknown },
    { workflowId: "z", inDoubt: steps },
  ]);
});

it("no list is given where Temporal is away, as if it were whole", async () => {
  await expect(listRunsInDoubt(temporalWith({ b: grpc(UNAVAILABLE) }))).rejects.toThrow();
});

it("of the listed runs one that cannot be read hides none of the others", async () => {
  const temporal = temporalWith({ "nul\u0000": grpc(INVALID_ARGUMENT) });
  const found: Array<string> = [];
  for await (const { workflowId } of listRuns(temporal, { standing: ["inDoubt"] })) {
    found.push(workflowId);
  }
  expect(found).toEqual(["a", "nul\u0000", "z"]);
});
