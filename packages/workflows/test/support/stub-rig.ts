import {
  CANCELLED,
  nudgeSignal,
  type UndoCall,
  VOUCHER,
  type WriteAnswer,
  type WriteCall,
} from "@durable-payments/protocol/calls";
import { sharedBundle } from "@durable-payments/tools/testing";
import { Context } from "@temporalio/activity";
import {
  ApplicationFailure,
  type WorkflowHandle,
  type WorkflowStartOptions,
} from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Worker } from "@temporalio/worker";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { paymentsBundler } from "../../src/bundler-plugin.ts";

/** A call of an activity by a run. */
export interface Called {
  readonly type: string;
  readonly activityId: string;
  readonly taskQueue: string;
  readonly input: WriteCall & UndoCall;
}

/** What the activities of a run answer. */
export type Stub = (called: Called) => unknown;

const TYPES = [
  "createPayout",
  "createBeneficiary",
  "createCardholder",
  "createCard",
  "createBalance",
  "updateCard",
  "undo",
  "reserveGoods",
  "awaitPayout",
  "awaitReturn",
  "awaitVerification",
  "awaitFunds",
  "retrieveBalance",
  "note",
];

/** Tests give wrong inputs, too. */
export type TestWorkflow = (...args: ReadonlyArray<unknown>) => Promise<unknown>;

/** Bundles workflows as a worker of ours does. */
export const bundleOf = (file: string) =>
  sharedBundle(`workflows-${file}`, () =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL(file, import.meta.url)),
      plugins: [paymentsBundler()],
      logger: new DefaultLogger("ERROR"),
    }),
  );

export const done = (made: object): WriteAnswer => ({ is: "done", made: { ...made } });

/** Answers mode `close` where nothing was sent. */
export const cancelled = (): never => {
  throw ApplicationFailure.nonRetryable("Cancelled before it was sent.", CANCELLED);
};

export const waiting = (version: number): WriteAnswer => ({
  is: "waiting",
  needs: "answer",
  question: "q-1",
  why: "The answer was lost.",
  version,
});

/** Answers a write: what it makes is named after its step. */
export const made: Stub = ({ input, type }) =>
  type === "note" ? input : done({ payout_id: `payout of ${input.step}`, beneficiary_id: "b-9" });

let started = 0;

/** Runs test workflows against activities that a test writes. */
export const startStubRig = async (
  environment: TestWorkflowEnvironment,
  { file = "workflows.ts", taskQueue = "stubs" } = {},
) => {
  const stubs = new Map<string, Stub>();
  const calls = new Map<string, Array<Called>>();
  const rootOf = (): string => {
    const { workflowExecution } = Context.current().info;
    return workflowExecution?.workflowId ?? "";
  };
  const activities = Object.fromEntries(
    TYPES.map((type) => [
      type,
      async (input: Called["input"]): Promise<unknown> => {
        const id = rootOf();
        const { activityId, taskQueue: queue } = Context.current().info;
        const called = { type, activityId, taskQueue: queue, input };
        calls.set(id, [...(calls.get(id) ?? []), called]);
        return await (stubs.get(id) ?? made)(called);
      },
    ]),
  );
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    activities,
    workflowBundle: await bundleOf(file),
  });
  const running = worker.run();
  const start = async (
    type: string,
    args: ReadonlyArray<unknown>,
    {
      isVouched = false,
      stub,
      workflowId = `run-${++started}`,
      ...options
    }: Partial<WorkflowStartOptions> & {
      isVouched?: boolean;
      stub?: Stub;
      workflowId?: string;
    } = {},
  ): Promise<WorkflowHandle> => {
    if (stub !== undefined) stubs.set(workflowId, stub);
    const voucher = { workflowId, at: Date.now(), is: "first" };
    return environment.client.workflow.start<TestWorkflow>(type, {
      taskQueue,
      workflowId,
      args: [...args],
      ...(isVouched && { memo: { [VOUCHER]: voucher } }),
      ...options,
    });
  };
  return {
    start,
    /** Answers of a run that was not started by {@link start}: a child. */
    answer: (workflowId: string, stub: Stub) => stubs.set(workflowId, stub),
    callsOf: ({ workflowId }: { workflowId: string }, type?: string) =>
      (calls.get(workflowId) ?? []).filter((call) => type === undefined || call.type === type),
    nudge: (handle: WorkflowHandle, steps?: ReadonlyArray<string>) =>
      handle.signal(nudgeSignal, steps === undefined ? {} : { steps }),
    async [Symbol.asyncDispose]() {
      worker.shutdown();
      await running;
    },
  };
};

/** Names the types of the events of a run. */
export const eventsOf = async (handle: WorkflowHandle): Promise<ReadonlyArray<string>> => {
  const { events } = await handle.fetchHistory();
  return (events ?? []).map((event) => {
    const attributes = Object.keys(event).find((key) => key.endsWith("EventAttributes")) ?? "";
    return attributes.replace("EventAttributes", "");
  });
};

/** Waits until something holds; asks often, as a server tells nobody. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await delay(20);
  }
  throw new Error("It did not happen within 12 seconds.");
};
