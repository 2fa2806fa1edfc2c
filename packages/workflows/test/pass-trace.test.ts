import { TRACE_HEADER, traceHeader } from "@durable-payments/protocol";
import {
  ChildWorkflowCancellationType,
  type Headers,
  ParentClosePolicy,
} from "@temporalio/workflow";
import { expect, it } from "vitest";
import { interceptors } from "../src/pass-trace.ts";

const traced = traceHeader("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

const run = async (ofStart: Headers) => {
  const { inbound = [], outbound = [] } = interceptors();
  await inbound[0]?.execute?.({ headers: ofStart, args: [] }, () => Promise.resolve());
  return outbound[0];
};

/** The headers of an activity that a run schedules, which was started with others. */
const passedOn = async (ofStart: Headers, ofActivity: Headers = {}): Promise<unknown> => {
  const scheduled = { headers: ofActivity, activityType: "createPayout", args: [], seq: 1 };
  const outbound = await run(ofStart);
  return outbound?.scheduleActivity?.({ ...scheduled, options: {} }, ({ headers }) =>
    Promise.resolve(headers),
  );
};

it("hands on the trace of a start, and no other header of it", async () => {
  const other = { data: new Uint8Array([1]) };
  expect(await passedOn({ ...traced, other }, { own: other })).toStrictEqual({
    ...traced,
    own: other,
  });
});

it("hands it on to local activities, too, to children and to the run that goes on", async () => {
  const outbound = await run(traced);
  const seen: Array<Headers> = [];
  const see = ({ headers }: { readonly headers: Headers }) => {
    seen.push(headers);
    // What comes of it is not looked at.
    return Promise.reject(new Error("seen"));
  };
  const common = { headers: {}, args: [], seq: 1, options: {} };
  const local = { ...common, activityType: "retrievePayout", attempt: 1 };
  const options = {
    args: [],
    workflowId: "chunk",
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    parentClosePolicy: ParentClosePolicy.ABANDON,
  };
  const all = [
    outbound?.scheduleLocalActivity?.(local, see),
    outbound?.startChildWorkflowExecution?.({ ...common, workflowType: "chunk", options }, see),
    outbound?.continueAsNew?.({ headers: {}, args: [], options: { workflowType: "payout" } }, see),
  ];
  for (const each of all) await expect(each).rejects.toThrow("seen");
  expect(seen).toStrictEqual([traced, traced, traced]);
});

it("hands on nothing where the start has no trace", async () => {
  expect(await passedOn({})).toStrictEqual({});
});

it("keeps what an activity is given by another interceptor", async () => {
  const own = { [TRACE_HEADER]: { data: new Uint8Array([1]) } };
  expect(await passedOn(traced, own)).toStrictEqual(own);
});

it("has its own trace for each run", async () => {
  await passedOn(traced);
  expect(await passedOn({})).toStrictEqual({});
});
