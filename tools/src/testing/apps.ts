import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type App,
  appArguments,
  awaitReadyLine,
  NO_PROFILES,
  type ReadyLine,
  spawnProcess,
  type StartedProcess,
} from "../processes.ts";

import { checkJsonOutput } from "./json-output.ts";

/** A process that is ready. */
export interface ReadyProcess extends StartedProcess {
  /** The first JSON object on its standard output. */
  readonly ready: ReadyLine;
}

/**
 * The arguments with which this Node runs an app: as this test run has built it from its sources
 * (apps/worker/test/support/built-apps.ts), which starts in half the CPU, or else from the sources.
 */
const testedAppArguments = (app: App, args: ReadonlyArray<string>): Array<string> => {
  const folder = process.env["DURABLE_PAYMENTS_BUILT_APPS"];
  const built = folder ? join(folder, "starter/dist/app/main.mjs") : undefined;
  return appArguments(app, args, built);
};

/**
 * Starts a process and awaits the first line of JSON on its standard output. End it by `kill()`.
 *
 * @param env added to the environment of this process
 * @throws Error with its last lines, if it ends or stays silent for two minutes
 */
export const startProcess = async (
  command: string,
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = {},
): Promise<ReadyProcess> => {
  const process = spawnProcess(command, args, { env });
  return { ...process, ready: await awaitReadyLine(process) };
};

/** {@link startProcess} for an app of this workspace. */
export const startApp = (
  app: App,
  args: ReadonlyArray<string>,
  env?: NodeJS.ProcessEnv,
): Promise<ReadyProcess> => startProcess(process.execPath, testedAppArguments(app, args), env);

/** Runs an app of this workspace to its end, whatever its exit code. */
export const runApp = async (
  app: App,
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly exitCode: number | undefined; stdout: string; stderr: string }> => {
  const started = spawnProcess(process.execPath, testedAppArguments(app, args), { env });
  const { code } = await started.exited;
  if (app === "starter") checkJsonOutput(args, started.stdout());
  return { exitCode: code, stdout: started.stdout(), stderr: started.stderr() };
};

/** Where a payment service is, and who signs in there. */
type ServiceAccess = Readonly<Record<"url" | "clientId" | "apiKey", string>>;

/** Reads the access to a simulator from its ready line. */
export const accessOf = ({ ready }: Pick<ReadyProcess, "ready">): ServiceAccess => ({
  url: String(ready["url"]),
  clientId: String(ready["clientId"]),
  apiKey: String(ready["apiKey"]),
});

/** Returns the variables by which worker and starter find a payment service. */
export const serviceVariables = ({ apiKey, clientId, url }: ServiceAccess) => ({
  PAYMENTS_BASE_URL: url,
  PAYMENTS_CLIENT_ID: clientId,
  PAYMENTS_API_KEY: apiKey,
});

/** Returns the variables by which worker and starter find a Temporal server and a payment service. */
export const workerVariables = (
  { address }: { readonly address: string },
  service: ServiceAccess,
) => ({
  TEMPORAL_ADDRESS: address,
  TEMPORAL_NAMESPACE: "default",
  PAYMENTS_TASK_QUEUE: "payments",
  ...serviceVariables(service),
});

/** Makes a folder of a test's own; remove it after the test. */
export const makeTestFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "test-"));
  return {
    path,
    /** Keeps the Temporal profiles of the developer out of the processes of a test. */
    variables: { TEMPORAL_CONFIG_FILE: NO_PROFILES },
    remove: () => rmSync(path, { recursive: true }),
  };
};
