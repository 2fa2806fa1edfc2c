import type { Ledger } from "@durable-payments/ledger";
import { OPEN_RUNS } from "@durable-payments/protocol";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import type { Connected } from "../../src/facts/connection/connections.ts";
import { ACCOUNT } from "./rows.ts";

/** What was asked of Temporal. */
export interface Asked {
  readonly signals: Array<readonly [workflowId: string, signal: string, payload: unknown]>;
  readonly started: Array<{
    readonly type: string;
    readonly workflowId: string;
    readonly args: ReadonlyArray<unknown>;
  }>;
}

/** How the stub answers a signal. */
export type Signals = "taken" | "noRun" | "silent";

/** Open runs by workflow id, with their pending activities. */
type OpenRuns = Readonly<Record<string, ReadonlyArray<object>>>;

interface DescribedRun {
  readonly execution: { readonly workflowId: string };
}

/** Connected on a ledger, with a Temporal that only notes what it is asked. */
export const operationsOn = (
  ledger: Ledger,
  signals: Signals = "taken",
  open: OpenRuns = {},
  histories: Readonly<Record<string, ReadonlyArray<object>>> = {},
): { readonly operations: Connected; readonly asked: Asked } => {
  const asked: Asked = { signals: [], started: [] };
  const workflow = {
    getHandle: (workflowId: string) => ({
      fetchHistory: async () => ({ events: histories[workflowId] ?? [] }),
      signal: async ({ name }: { readonly name: string }, payload: unknown) => {
        if (signals === "noRun")
          throw new WorkflowNotFoundError("not found", workflowId, undefined);
        if (signals === "silent") throw new Error("Deadline exceeded");
        asked.signals.push([workflowId, name, payload]);
      },
    }),
    start: async (
      type: string,
      { args, workflowId }: { readonly args: ReadonlyArray<unknown>; readonly workflowId: string },
    ) => {
      asked.started.push({ type, workflowId, args });
      return { firstExecutionRunId: "run-1" };
    },
  };
  const withDeadline = <A>(_: number, act: () => Promise<A>) => act();
  const workflowService = {
    listWorkflowExecutions: async ({ query }: { readonly query: string }) => ({
      executions: (query.includes(OPEN_RUNS) ? Object.keys(open) : []).map((workflowId) => ({
        execution: { workflowId, runId: `${workflowId}-run` },
      })),
    }),
    describeWorkflowExecution: async ({ execution: { workflowId } }: DescribedRun) => {
      const pendingActivities = open[workflowId];
      if (pendingActivities === undefined)
        throw Object.assign(new Error("not found"), {
          code: 5,
          details: "",
          metadata: { get: () => [] },
        });
      const execution = { workflowId, runId: `${workflowId}-run` };
      return { pendingActivities, workflowExecutionInfo: { execution, status: 1 } };
    },
  };
  const options = { namespace: "default" };
  const client = { workflow, workflowService, options, withDeadline } as unknown as Client;
  const settings = { address: "stub", namespace: "default", taskQueue: "payments" };
  const operations = {
    client,
    connection: { withDeadline },
    settings,
    ledger,
    namespace: "default",
    taskQueue: "payments",
    account: ACCOUNT,
    accounts: [{ name: undefined, hash: ACCOUNT }],
    // What decisions use of Temporal stands above.
  } as unknown as Connected;
  return { operations, asked };
};
