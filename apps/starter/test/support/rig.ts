import type { ApprovalRequest, Progress } from "@durable-payments/protocol";
import { type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  type LocalOptions,
  type ReadyProcess,
  serviceVariables,
  startApp,
} from "@durable-payments/tools/testing";
import { afterAll, expect, vi } from "vitest";
import { makeStarter } from "./starter.ts";

/** Polls by the client: a process for each poll would take its time. */
const PATIENCE = { timeout: 120_000, interval: 100 };

/**
 * A server, a simulator, a worker and the starter, for the tests of one file. The starter knows
 * the server only: it needs the service for little, and is then given `service`.
 *
 * @param settings added to the worker's environment
 * @param server how the Temporal server is started
 */
export const makeRig = async (
  options: SimulatorOptions,
  settings: Readonly<Record<string, string>> = {},
  server: LocalOptions["server"] = {},
) => {
  const { use, ...calls } = await makeStarter();
  const [temporal, simulator] = await Promise.all([
    createLocalEnvironment({ server }),
    startSimulator(options),
  ]);
  const service = serviceVariables(simulator);
  const environment = { ...use({ TEMPORAL_ADDRESS: temporal.address }), ...service, ...settings };
  const startWorker = () => startApp("worker", ["--json"], environment);
  const workers: Array<ReadyProcess> = [];
  const stopWorker = async (): Promise<void> => {
    await workers.pop()?.kill("SIGKILL");
  };
  // Before the worker starts: where it does not, the server would outlive the tests.
  afterAll(async () => {
    await stopWorker();
    await simulator.stop();
    await temporal.teardown();
  });
  workers.push(await startWorker());
  /** Does something while the worker stands still, as one whose machine does. */
  const stopped = async (use: () => Promise<void>): Promise<void> => {
    const [worker] = workers;
    worker?.send("SIGSTOP");
    try {
      await use();
    } finally {
      worker?.send("SIGCONT");
    }
  };
  const { workflow } = temporal.client;
  const progressOf = (workflowId: string) =>
    workflow.getHandle(workflowId).query<Progress>("progress");

  return {
    ...calls,
    simulator,
    temporal,
    service,
    stopWorker,
    stopped,
    /** Kills the worker, and starts another one. */
    replaceWorker: async () => {
      await stopWorker();
      workers.push(await startWorker());
    },
    progressOf,
    awaitStage: (workflowId: string, stage: string) =>
      vi.waitFor(async () => expect((await progressOf(workflowId)).stage).toBe(stage), PATIENCE),
    /** Visibility lags behind: awaits that runs are found there that must be. */
    found: (query: string, count = 1) =>
      vi.waitFor(async () => expect((await workflow.count(query)).count).toBe(count), PATIENCE),
    /** By which hash the payment can be approved that a run waits with. */
    approvalHash: async (workflowId: string): Promise<string> => {
      const { approval } = (await progressOf(workflowId)).shown;
      // What the approval step shows.
      return (approval as ApprovalRequest).hash;
    },
  };
};
