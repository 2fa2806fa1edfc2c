import { defineOperation, makePaymentsActivities } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/client/effect";
import { type Ledger, openLedger } from "@durable-payments/ledger";
import { accountHash, trackerId, type Workflows } from "@durable-payments/protocol";
import { VOUCHER } from "@durable-payments/protocol/calls";
import { startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import type { WorkflowHandle } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { Worker } from "@temporalio/worker";
import { ManagedRuntime } from "effect";
import { writeFile } from "node:fs/promises";
import { bundleOf, type TestWorkflow } from "./stub-rig.ts";

/** A payee by SWIFT, in the currency of the simulator's balance. */
export const beneficiary = {
  ...inputs.beneficiary,
  account_currency: "USD",
  payment_method: "swift",
} as const;

export const payout = { ...inputs.payout, currency: "USD", payout_reference: "Invoice 1" } as const;

export const operations = {
  reserveGoods: defineOperation<{ readonly orderId: string }>({
    repeat: "keyed",
    send: async ({ orderId }) => ({ id: `reserved ${orderId}` }),
  }),
};

interface StartOptions {
  /** Default: true. */
  readonly isVouched?: boolean;
  /** Of a retry: versions of rows, as the failed run has named them. */
  readonly versions?: Readonly<Record<string, number>>;
}

/**
 * Real activities, a simulator and a ledger in memory, on a server of their own. It tests steps: one account, one worker and
 * plain texts show the events and costs of a run; packages/control has the tests of a deployment.
 */
export const startRealRig = async () => {
  const [environment, simulator, ledger, workflowBundle] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: "200 millis", verifyAfter: "100 millis" }),
    openLedger("memory"),
    bundleOf("workflows.ts"),
  ]);
  const { apiKey, clientId, url } = simulator;
  const runtime = ManagedRuntime.make(
    PaymentsClient.layer({
      baseUrl: url,
      clientId,
      apiKey,
      requestTimeoutMs: 1_000,
      assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
    }),
  );
  const taskQueue = "real";
  const notes: Array<string> = [];
  const draining = new AbortController();
  const activities = {
    ...makePaymentsActivities(runtime, {
      ledger,
      taskQueue,
      operations,
      tracker: { draining: draining.signal },
    }),
    note: async (text: string) => {
      notes.push(text);
      return text;
    },
  };
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    activities,
    workflowBundle,
  });
  const running = worker.run();
  const account = accountHash({ clientId, baseUrl: url });
  const { workflow } = environment.client;
  const tracker = await workflow.start<Workflows["tracker"]>("tracker", {
    taskQueue,
    workflowId: trackerId(account),
    args: [{ account }],
  });
  return {
    environment,
    simulator,
    ledger,
    notes,
    account,
    /** Starts a run as `startPayment` does: vouched for. */
    start: (
      type: string,
      workflowId: string,
      args: ReadonlyArray<unknown>,
      { isVouched = true, versions }: StartOptions = {},
    ): Promise<WorkflowHandle> =>
      workflow.start<TestWorkflow>(type, {
        taskQueue,
        workflowId,
        args: [...args],
        ...(isVouched && {
          memo: {
            [VOUCHER]: {
              workflowId,
              at: Date.now(),
              ...(versions === undefined ? { is: "first" } : { is: "retry", versions }),
            },
          },
        }),
      }),
    /** Resets a run to its first workflow task, as Temporal's own tools do. */
    reset: async (handle: WorkflowHandle, task = 1): Promise<WorkflowHandle> => {
      const { events } = await handle.fetchHistory();
      const completed = events?.filter((event) => event.workflowTaskCompletedEventAttributes);
      const { runId: from } = await handle.describe();
      const { runId } = await environment.connection.workflowService.resetWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId: handle.workflowId, runId: from },
        workflowTaskFinishEventId: completed?.[task - 1]?.eventId ?? null,
        reason: "test",
        requestId: `${from}/${task}`,
      });
      return workflow.getHandle(handle.workflowId, runId);
    },
    /** Writes the history of a run into test/histories, where RECORD_HISTORIES is set. */
    record: async (handle: WorkflowHandle, name: string): Promise<void> => {
      if (process.env["RECORD_HISTORIES"] === undefined) return;
      const history = historyToJSON(await handle.fetchHistory());
      const file = new URL(`../histories/${name}.json`, import.meta.url);
      // Neither paths nor names of a machine.
      const plain = history
        .replaceAll(/("stackTrace":\s*)"(?:[^"\\]|\\.)*"/g, '$1""')
        .replaceAll(/"\d+@[^"]*"/g, '"worker"');
      await writeFile(file, `${plain}\n`);
    },
    end: (workflowId: string) => endRun(ledger, account, workflowId),
    async [Symbol.asyncDispose]() {
      draining.abort();
      await tracker.terminate();
      worker.shutdown();
      await running;
      await runtime.dispose();
      await ledger.close();
      await simulator.stop();
      await environment.teardown();
    },
  };
};

const endRun = (ledger: Ledger, account: string, workflowId: string) =>
  ledger.decide({
    account,
    workflowId,
    step: null,
    kind: "end",
    question: null,
    by: "ada",
    how: "test",
    reason: "fraud",
    value: {},
  });
