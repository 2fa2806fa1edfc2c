import {
  Client,
  type ConnectionLike,
  ServiceError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { NamespaceNotFoundError } from "@temporalio/common";
import { describe, expect, it } from "vitest";
import { readChunk } from "../src/batch-chunks.ts";
import { isExecutionMissing } from "../src/missing-execution.ts";
import { readHistory, readStart } from "../src/read-history.ts";
import { readablePayloads } from "../src/readable-payloads.ts";
import { grpcError, noNamespace, noRoute, noRun } from "./support/temporal-errors.ts";

const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;

const NONE_IN_TEST_SERVER =
  "Execution not found in mutable state: WorkflowId{namespace='default', workflowId='nope'}";

const missing: ReadonlyArray<readonly [string, Error]> = [
  ["Temporal has no such run", noRun()],
  ["the active cluster has none", noRun({ currentCluster: "a", activeCluster: "a" })],
  ["the test server has none", grpcError(5, { details: NONE_IN_TEST_SERVER })],
  [
    "the test server has none, by the connection of a worker",
    Object.assign(grpcError(5, { details: "" }), { message: NONE_IN_TEST_SERVER }),
  ],
];

const unknown: ReadonlyArray<readonly [string, Error]> = [
  ["the namespace is not found", noNamespace()],
  ["another cluster knows better", noRun({ currentCluster: "a", activeCluster: "b" })],
  ["something between has no route", noRoute()],
  [
    "an HTTP server answers",
    grpcError(UNIMPLEMENTED, { details: "Received HTTP status code 404" }),
  ],
  ["it is not permitted", grpcError(PERMISSION_DENIED, { details: "Request unauthorized." })],
];

const execution = { workflowId: "invoice-1", runId: "2f0c0e4e-1b1c-4a53-9d11-6d8a8f3b8d27" };

/** A client of the SDK whose every call fails so. */
const clientWith = (error: Error): Client => {
  const failing = async () => {
    throw error;
  };
  const connection = {
    plugins: [readablePayloads],
    workflowService: {
      describeWorkflowExecution: failing,
      getWorkflowExecutionHistory: failing,
    },
  };
  // Of a connection, only the service is asked.
  return new Client({ connection: connection as unknown as ConnectionLike, namespace: "payments" });
};

describe("a run is missing", () => {
  it.each(missing)("where %s", async (_, error) => {
    expect(isExecutionMissing(error)).toBe(true);
    const client = clientWith(error);
    expect(await readHistory(client, execution)).toBeUndefined();
    expect(await readStart(client, execution)).toBeUndefined();
    await expect(readChunk(client, "batch/1")).rejects.toMatchObject({ type: "ChunkMissing" });
    const described = client.workflow.getHandle("invoice-1").describe();
    await expect(described).rejects.toBeInstanceOf(WorkflowNotFoundError);
    expect(isExecutionMissing(await described.catch((why: unknown) => why))).toBe(true);
  });
});

describe("whether there is a run is not known", () => {
  it.each(unknown)("where %s", async (_, error) => {
    expect(isExecutionMissing(error)).toBe(false);
    const client = clientWith(error);
    await expect(readHistory(client, execution)).rejects.toThrow(error.message);
    await expect(readStart(client, execution)).rejects.toThrow(error.message);
    await expect(readChunk(client, "batch/1")).rejects.toThrow(error.message);
    const described = await client.workflow
      .getHandle("invoice-1")
      .describe()
      .catch((why: unknown) => why);
    expect(described instanceof ServiceError || described instanceof NamespaceNotFoundError).toBe(
      true,
    );
  });
});
