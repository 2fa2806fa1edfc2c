import { type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import { spawnProcess, type StartedProcess } from "@durable-payments/tools/processes";
import { beneficiary, payout } from "@durable-payments/tools/test-data/inputs";
import {
  createLocalEnvironment,
  makeTestFolder,
  workerVariables,
} from "@durable-payments/tools/testing";
import type { Client, WorkflowHandleWithFirstExecutionRunId } from "@temporalio/client";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import type { PaymentsSettings } from "../../src/index.ts";
import type { payInvoice } from "../examples/workflows.ts";

/** An invoice of the docs' workflow. */
const invoice = { supplier: beneficiary, payment: payout };

/** A Temporal server, a simulator and a folder, for the tests of one file, and programs that use them. */
export const makeRig = async ({
  isBare = false,
  ...options
}: SimulatorOptions & { readonly isBare?: boolean } = {}) => {
  const { path: folder, remove, variables } = makeTestFolder();
  const [temporal, simulator] = await Promise.all([
    createLocalEnvironment({ isBare }),
    startSimulator(options),
  ]);
  const programs: Array<StartedProcess> = [];
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.kill("SIGKILL")));
    await temporal.teardown();
    await simulator.stop();
    remove();
  });
  const { apiKey, clientId, url: baseUrl } = simulator;
  return {
    folder,
    temporal,
    simulator,
    /** Settings of a worker in this process. */
    settings: {
      baseUrl,
      clientId,
      apiKey,
      journal: `sqlite:${join(folder, "journal.sqlite")}`,
    } satisfies PaymentsSettings,
    /** Starts a program of the tests, by its path from here; it is killed after the tests, if it still runs. */
    start: (path: string, env: NodeJS.ProcessEnv = {}): StartedProcess => {
      const file = fileURLToPath(new URL(path, import.meta.url));
      const args = ["--conditions=@durable-payments/source", file];
      const program = spawnProcess(process.execPath, args, {
        env: { ...variables, ...workerVariables(temporal, simulator), ...env },
      });
      programs.push(program);
      return program;
    },
    /** Starts the workflow of the docs. */
    pay: (
      workflowId: string,
      taskQueue = "payments",
      client: Client = temporal.client,
    ): Promise<WorkflowHandleWithFirstExecutionRunId<typeof payInvoice>> =>
      client.workflow.start<typeof payInvoice>("payInvoice", {
        workflowId,
        taskQueue,
        args: [invoice],
      }),
  };
};
