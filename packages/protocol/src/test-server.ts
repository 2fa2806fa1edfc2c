import { IllegalStateError } from "@temporalio/common";
import {
  type LocalTestWorkflowEnvironmentOptions,
  TestWorkflowEnvironment,
} from "@temporalio/testing";
import { DefaultLogger, type Logger, Runtime } from "@temporalio/worker";

/** `time-skipping` skips days; `dev` is a real server in real time. */
export type ServerKind = "time-skipping" | "dev";

/** The variables that name the executables of the servers. */
export const SERVER_VARIABLES = {
  "time-skipping": "TEMPORAL_TEST_SERVER_PATH",
  dev: "TEMPORAL_CLI_PATH",
} as const satisfies Readonly<Record<ServerKind, string>>;

/** How a server for tests is started. */
export interface TestEnvironmentOptions {
  /**
   * Options of the SDK: executable, port, database, further arguments. Default: the server that its variable names, or
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

const MOST_TRIES = 12;

/** The SDK gives a server 5 seconds to start; on a busy machine that is not always enough. */
const patiently = async (
  create: () => Promise<TestWorkflowEnvironment>,
): Promise<TestWorkflowEnvironment> => {
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      if (tries === MOST_TRIES || !String(error).includes("did not start within")) throw error;
    }
  }
};

/** Starts a Temporal server for tests, on a free port; end it by `teardown`. */
export const startTestEnvironment = (
  kind: ServerKind,
  { logger, server }: TestEnvironmentOptions = {},
): Promise<TestWorkflowEnvironment> => {
  quietRuntime(logger);
  const path = process.env[SERVER_VARIABLES[kind]];
  const named = path ? { server: { executable: { type: "existing-path", path } as const } } : {};
  const options = server === undefined ? named : { server };
  return patiently(() =>
    kind === "dev"
      ? TestWorkflowEnvironment.createLocal(options)
      : TestWorkflowEnvironment.createTimeSkipping(options),
  );
};
