import { IllegalStateError } from "@temporalio/common";
import {
  type LocalTestWorkflowEnvironmentOptions,
  TestWorkflowEnvironment,
} from "@temporalio/testing";
import { DefaultLogger, type Logger, Runtime } from "@temporalio/worker";
import { locate, TEST_SERVERS } from "./server-files.ts";

/** `time-skipping` skips days; `dev` is a real server in real time. */
export type ServerKind = keyof typeof TEST_SERVERS;

/** How a server for tests is started. */
export interface TestEnvironmentOptions {
  /**
   * Options of the SDK: executable, port, database, further arguments. Default: the server that is on this machine, or
   * that the SDK downloads, in memory.
   */
  readonly server?: LocalTestWorkflowEnvironmentOptions["server"];
  /** See {@link quietRuntime}. */
  readonly logger?: Logger;
}

/** Limits the output of the SDK's runtime to a logger, by default to errors. An installed runtime stays. */
export const quietRuntime = (logger: Logger = new DefaultLogger("ERROR")): void => {
  try {
    // The core prints its warnings directly if they are not forwarded.
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {} } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
};

/** Three minutes: a busy machine has quieter moments. */
const MOST_TRIES = 36;

/** The SDK gives a server 5 seconds to start; on a busy machine that is not always enough. */
const patiently = async (create: () => Promise<TestWorkflowEnvironment>) => {
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      if (tries === MOST_TRIES || !String(error).includes("did not start within")) throw error;
    }
  }
};

/** Returns what a person can do if a server does not start. */
export const remedyOf = (kind: ServerKind): string => {
  const { variable } = TEST_SERVERS[kind];
  const path = process.env[variable];
  if (path)
    return `It was started from ${path} (${variable}): set it to an executable of the server, or unset it.`;
  return `Temporal's SDK downloads it once from temporal.download and keeps it in the folder for temporary files: allow this machine to reach that address, or set ${variable} to an executable of it. In a clone of durable-payments, \`npm run setup\` installs it in other ways, too.`;
};

/**
 * Starts a Temporal server for tests, on a free port; end it by `teardown`.
 *
 * @throws ServerNotFound if a variable names no executable file.
 */
export const startTestEnvironment = async (
  kind: ServerKind,
  { logger, server }: TestEnvironmentOptions = {},
): Promise<TestWorkflowEnvironment> => {
  quietRuntime(logger);
  const path = server === undefined ? locate(TEST_SERVERS[kind])?.path : undefined;
  const named = path ? { server: { executable: { type: "existing-path", path } as const } } : {};
  const options = server === undefined ? named : { server };
  return patiently(() =>
    kind === "dev"
      ? TestWorkflowEnvironment.createLocal(options)
      : TestWorkflowEnvironment.createTimeSkipping(options),
  );
};
