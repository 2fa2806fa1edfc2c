import {
  type ServerKind,
  startTestEnvironment,
  type TestEnvironmentOptions,
} from "@durable-payments/protocol/test-server";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { locate, ServerNotFound } from "../servers/locate-server.ts";
import type { Server } from "../servers/server.ts";
import { temporalCli, testServer } from "../servers/temporal-servers.ts";
import { loggedServer } from "./logged-server.ts";
import { fileLogger } from "./file-logger.ts";

/** Whether the time-skipping test server can be had, for `describe.skipIf(!timeSkipping.available)`. */
export interface TimeSkipping {
  readonly available: boolean;
  /** Why not. */
  readonly reason?: string;
}

/** The variable in which `npm test` hands on why there is no time-skipping server. */
export const noTimeSkipping = "DURABLE_PAYMENTS_NO_TIME_SKIPPING";

const lookUpTimeSkipping = (): TimeSkipping => {
  const reason = process.env[noTimeSkipping];
  if (reason) return { available: false, reason };
  try {
    if (locate(testServer) !== undefined) return { available: true };
    return { available: false, reason: notSetUp(testServer) };
  } catch (error) {
    if (error instanceof ServerNotFound) return { available: false, reason: error.message };
    throw error;
  }
};

const notSetUp = (server: Server) =>
  `The ${server.title} ${server.version} is not set up: run \`npm run setup\`.`;

/** Looked up once, when the module is loaded; nothing is downloaded or built by a test. */
export const timeSkipping: TimeSkipping = lookUpTimeSkipping();

const executable = (server: Server) => {
  const located = locate(server);
  if (located === undefined) throw new ServerNotFound(notSetUp(server));
  return { type: "existing-path" as const, path: loggedServer(located.path) };
};

/** The variables that name the servers which are set up, for processes that look for them by these alone. */
export const temporalServerVariables = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [temporalCli, testServer].flatMap((server) => {
      const located = locate(server);
      return located === undefined ? [] : [[server.variable, located.path]];
    }),
  );

const SERVERS: Readonly<Record<ServerKind, Server>> = {
  dev: temporalCli,
  "time-skipping": testServer,
};

const start = (
  kind: ServerKind,
  { server, ...options }: LocalOptions,
): Promise<TestWorkflowEnvironment> => {
  const logger = fileLogger();
  return startTestEnvironment(kind, {
    ...options,
    ...(logger && { logger }),
    server: { executable: executable(SERVERS[kind]), ...server },
  });
};

/** How a server is started. */
export type LocalOptions = Omit<TestEnvironmentOptions, "logger">;

/**
 * Starts a real Temporal server in memory, on a free port. End it by `teardown()`.
 *
 * @throws ServerNotFound when `npm run setup` has not been run
 */
export const createLocalEnvironment = async (
  options: LocalOptions = {},
): Promise<TestWorkflowEnvironment> => await start("dev", options);

/**
 * Starts the test server that skips waiting times. Skip the tests that use it unless {@link timeSkipping} is available. End it by `teardown()`.
 *
 * @throws ServerNotFound when it is not set up
 */
export const createTimeSkippingEnvironment = async (): Promise<TestWorkflowEnvironment> =>
  await start("time-skipping", {});
