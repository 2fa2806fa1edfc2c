import { openTextSeal, readDataConverter } from "@durable-payments/codec";
import type { PayoutInput, PayoutResult } from "@durable-payments/protocol";
import { VOUCHER } from "@durable-payments/protocol/calls";
import { type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeKeyring,
  makeTestFolder,
  type ReadyProcess,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { Client } from "@temporalio/client";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { payoutInput } from "./inputs.ts";

/** Writes a settings file into a folder, and returns the variable that names it. */
export const settingsFile = (folder: string, settings: object, name = "settings.json") => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(settings));
  return { PAYMENTS_SETTINGS: file };
};

/** Later than the first look at a payout: each wait is ended by the tracker of its account. */
const SETTLE_AFTER_MS = 2_000;

/**
 * A Temporal server, two accounts at a simulator each, of which one is named `eu`, a keyring and a folder, for the tests of
 * one file, and workers of them.
 */
export const makeRig = async (given: SimulatorOptions = {}) => {
  const folder = makeTestFolder();
  const keyring = makeKeyring(folder.path);
  const options = { settleAfter: SETTLE_AFTER_MS, ...given };
  const [temporal, simulator, eu] = await Promise.all([
    createLocalEnvironment(),
    startSimulator(options),
    startSimulator({ ...options, clientId: "client-eu", apiKey: "key-eu" }),
  ]);
  const dataConverter = readDataConverter({ keyring }, "default");
  const { connection } = temporal;
  const client = new Client({ connection, ...(dataConverter && { dataConverter }) });
  const { apiKey, clientId, url: baseUrl } = eu;
  const accounts = { eu: { baseUrl, clientId, apiKey } };
  const workers: Array<ReadyProcess> = [];
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill("SIGKILL")));
    await temporal.teardown();
    await Promise.all([simulator.stop(), eu.stop()]);
    folder.remove();
  });
  /** The environment of a worker, with these settings. */
  const variables = (settings: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...folder.variables,
    ...workerVariables(temporal, simulator),
    ...settingsFile(folder.path, { accounts }, "rig.json"),
    PAYMENTS_KEYRING: keyring,
    ...settings,
  });
  return {
    folder,
    temporal,
    simulator,
    eu,
    client,
    /** As workers seal the texts of the ledger. */
    seal: openTextSeal(keyring),
    variables,
    /** Starts a worker; it is killed after the tests, if it still runs. */
    startWorker: async (settings: NodeJS.ProcessEnv = {}): Promise<ReadyProcess> => {
      const worker = await startApp("worker", ["--json"], variables(settings));
      workers.push(worker);
      return worker;
    },
    /** Starts the payout of the README under an id that is vouched for, so that its first send waits for no list. */
    startPayout: (workflowId: string, input: PayoutInput = payoutInput) =>
      client.workflow.start<(input: PayoutInput) => Promise<PayoutResult>>("payout", {
        workflowId,
        taskQueue: "payments",
        args: [input],
        memo: { [VOUCHER]: { workflowId, at: Date.now(), is: "first" } },
      }),
  };
};
