import type { PayoutInput, PayoutResult } from "@durable-payments/protocol";
import { VOUCHER } from "@durable-payments/protocol/calls";
import { type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeTestFolder,
  type ReadyProcess,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { payoutInput } from "./inputs.ts";

/** Writes a settings file into a folder, and returns the variable that names it. */
export const settingsFile = (folder: string, settings: object) => {
  const file = join(folder, "settings.json");
  writeFileSync(file, JSON.stringify(settings));
  return { PAYMENTS_SETTINGS: file };
};

/** A Temporal server, a simulator and a folder, for the tests of one file, and workers of them. */
export const makeRig = async (options: SimulatorOptions = {}) => {
  const folder = makeTestFolder();
  const [temporal, simulator] = await Promise.all([
    createLocalEnvironment(),
    startSimulator(options),
  ]);
  const workers: Array<ReadyProcess> = [];
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill("SIGKILL")));
    await temporal.teardown();
    await simulator.stop();
    folder.remove();
  });
  /** The environment of a worker, with these settings. */
  const variables = (settings: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...folder.variables,
    ...workerVariables(temporal, simulator),
    ...settings,
  });
  return {
    folder,
    temporal,
    simulator,
    variables,
    /** Starts a worker; it is killed after the tests, if it still runs. */
    startWorker: async (settings: NodeJS.ProcessEnv = {}): Promise<ReadyProcess> => {
      const worker = await startApp("worker", ["--json"], variables(settings));
      workers.push(worker);
      return worker;
    },
    /** Starts the payout of the README under an id that is vouched for, so that its first send waits for no list. */
    startPayout: (workflowId: string, input: PayoutInput = payoutInput) =>
      temporal.client.workflow.start<(input: PayoutInput) => Promise<PayoutResult>>("payout", {
        workflowId,
        taskQueue: "payments",
        args: [input],
        memo: { [VOUCHER]: { workflowId, at: Date.now(), is: "first" } },
      }),
  };
};
