import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/workflows";
import { createLocalEnvironment, startApp } from "@durable-payments/tools/testing";
import { startSimulator } from "@durable-payments/simulator";
import { afterAll } from "vitest";
import { makeStarter } from "./starter.ts";

/** A server, a simulator, a worker and the starter, for the tests of one file. */
export const makeRepairRig = async () => {
  const { file, starter, use } = await makeStarter();
  const [temporal, simulator] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({
      verifyAfter: 0,
      settleAfter: 0,
      balances: { USD: "100000.00", EUR: "100000.00" },
    }),
  ]);
  const environment = use({
    TEMPORAL_ADDRESS: temporal.address,
    PAYMENTS_BASE_URL: simulator.url,
    PAYMENTS_CLIENT_ID: simulator.clientId,
    PAYMENTS_API_KEY: simulator.apiKey,
    // What is not listed was not made: look-ups of these tests need not wait.
    PAYMENTS_ASSUMPTIONS: JSON.stringify({ listLagSeconds: 0 }),
    PAYMENTS_REQUEST_TIMEOUT_MS: "20000",
  });
  const workers = [await startApp("worker", ["--json"], environment)];
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill("SIGKILL")));
    await simulator.stop();
    await temporal.teardown();
  });
  const { workflow } = temporal.client;

  const start = (
    workflowType: "onboardCardholder" | "payout",
    workflowId: string,
    input: OnboardCardholderInput | PayoutInput,
    startedBy = "Ada",
  ) =>
    workflow.start(workflowType, {
      workflowId,
      taskQueue: "payments",
      args: [input],
      memo: { startedBy },
    });

  return {
    file,
    starter,
    simulator,
    temporal,
    start,
    /** Awaits that the latest run of an id ends, and gives the name of its status. */
    ended: async (workflowId: string): Promise<string> => {
      await workflow.result(workflowId).catch(() => undefined);
      return (await workflow.getHandle(workflowId).describe()).status.name;
    },
    /** Kills the worker, and starts another one. */
    replaceWorker: async (): Promise<void> => {
      await workers.pop()?.kill("SIGKILL");
      workers.push(await startApp("worker", ["--json"], environment));
    },
  };
};
