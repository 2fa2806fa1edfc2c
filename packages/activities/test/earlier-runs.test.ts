import { type Client, ServiceError } from "@temporalio/client";
import { expect, it } from "vitest";
import { makeEarlierRunsReader } from "../src/earlier-runs.ts";
import { environment } from "./support/activities.ts";
import { grpcError } from "./support/temporal-errors.ts";

const workflowId = "invoice-1";
const run = (runId: string, id = workflowId) => ({ workflowId: id, runId });

/** As it is listed: of this account, unless its id names another one. */
const listing = (execution: ReturnType<typeof run>) => ({
  ...execution,
  typedSearchAttributes: { get: () => (execution.runId === "theirs" ? "theirs" : "ours") },
});

/** Reads the runs before one of them, of which the Temporal server lists these. */
const readerOf = (list: () => ReadonlyArray<ReturnType<typeof run>>) => {
  const queries: Array<string> = [];
  async function* listed({ query }: { readonly query: string }) {
    queries.push(query);
    yield* list().map(listing);
  }
  const withDeadline = <A>(_: number, work: () => Promise<A>) => work();
  const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
  // Of a client, only its list is asked for.
  const client = { workflow: { list: listed }, withAbortSignal, withDeadline } as unknown as Client;
  const read = makeEarlierRunsReader(async () => "ours");
  return {
    queries,
    read: (runId = "second") =>
      environment({ workflowExecution: run(runId) }, { client }).run(read),
  };
};

const failing = (code: number, details = "no") => {
  throw new ServiceError("Failed to list workflows", { cause: grpcError(code, { details }) });
};

it("are the other runs of the very workflow id and account", async () => {
  const { read } = readerOf(() => [
    run("second"),
    run("first"),
    run("theirs"),
    run("other", "invoice-1/2"),
  ]);
  expect(await read()).toEqual([run("first")]);
});

it("are asked for once for each run", async () => {
  const { queries, read } = readerOf(() => [run("second"), run("first")]);
  await Promise.all([read(), read()]);
  await read();
  expect(queries).toEqual([`WorkflowId = "${workflowId}"`]);
  expect(await read("first")).toEqual([run("second")]);
  expect(queries).toHaveLength(2);
});

it("are asked for again where the server has not answered", async () => {
  let isAway = true;
  const { read } = readerOf(() => (isAway ? failing(14) : [run("first")]));
  await expect(read()).rejects.toThrow("Failed to list workflows");
  isAway = false;
  expect(await read()).toEqual([run("first")]);
});

it("are none for a server without visibility, as in tests that skip time", async () => {
  const details =
    "Method temporal.api.workflowservice.v1.WorkflowService/ListWorkflowExecutions is unimplemented";
  expect(await readerOf(() => failing(12, details)).read()).toEqual([]);
});

it.each([
  [12, "Received HTTP status code 404"],
  [12, "unknown service temporal.api.workflowservice.v1.WorkflowService"],
  [5, "Namespace payments is not found."],
  [7, "Request unauthorized."],
])("are not none where something else answers, or refuses to: %i %s", async (code, details) => {
  const { read } = readerOf(() => failing(code, details));
  await expect(read()).rejects.toThrow("Failed to list workflows");
});
