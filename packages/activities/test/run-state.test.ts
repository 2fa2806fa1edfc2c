import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { expect, it } from "vitest";
import { readTemporalRunState } from "../src/run-state.ts";
import { environment } from "./support/activities.ts";

const workflowExecution = { workflowId: "payout-1", runId: "run-1" };

/** How a run stands of which the Temporal server says this. */
const stateOf = async (
  describe: () => { readonly name: string; readonly cancelRequested?: boolean | null },
) => {
  const asked: Array<readonly [string, string]> = [];
  const getHandle = (workflowId: string, runId: string) => ({
    describe: async () => {
      asked.push([workflowId, runId]);
      const { cancelRequested, name } = describe();
      return {
        status: { name },
        raw: {
          workflowExtendedInfo: cancelRequested === undefined ? null : { cancelRequested },
        },
      };
    },
  });
  const withDeadline = <A>(_: number, work: () => Promise<A>) => work();
  const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
  // Of a client, only the description of a run is asked for.
  const client = { workflow: { getHandle }, withAbortSignal, withDeadline } as unknown as Client;
  const state = await environment({ workflowExecution }, { client }).run(readTemporalRunState);
  return { asked, state };
};

it.each([
  ["RUNNING", undefined, "open"],
  ["RUNNING", null, "open"],
  ["RUNNING", false, "open"],
  ["RUNNING", true, "cancelRequested"],
  ["PAUSED", false, "open"],
  ["PAUSED", true, "cancelRequested"],
  ["TERMINATED", false, "ended"],
  ["CANCELLED", true, "ended"],
  ["COMPLETED", false, "ended"],
  ["FAILED", false, "ended"],
  ["TIMED_OUT", false, "ended"],
  ["CONTINUED_AS_NEW", false, "ended"],
] as const)("a run that is %s, cancellation requested: %s, is %s", async (name, asked, state) => {
  const read = await stateOf(() => ({
    name,
    ...(asked !== undefined && { cancelRequested: asked }),
  }));
  // This very run, not whatever has its id now.
  expect(read).toEqual({ state, asked: [["payout-1", "run-1"]] });
});

it("a run that the server does not know has ended", async () => {
  const { state } = await stateOf(() => {
    throw new WorkflowNotFoundError("not found", "payout-1", "run-1");
  });
  expect(state).toBe("ended");
});

it.each(["UNKNOWN", "UNSPECIFIED"])("a run that is %s is none of these", async (name) => {
  await expect(stateOf(() => ({ name }))).rejects.toThrow("is none that is known");
});

it("a server that does not answer is not taken for any", async () => {
  const silent = () => {
    throw new Error("no connection");
  };
  await expect(stateOf(silent)).rejects.toThrow("no connection");
});

it("an activity that belongs to no workflow has nothing to ask", async () => {
  const alone = environment();
  // The SDK's own environment is always that of a workflow. Without a client, to ask would be a fault.
  const { workflowExecution: _, ...info } = alone.context.info;
  Object.assign(alone.context, { info });
  expect(await alone.run(readTemporalRunState)).toBe("open");
});
