import {
  type LocalTestWorkflowEnvironmentOptions,
  TestWorkflowEnvironment,
  type TimeSkippingTestWorkflowEnvironmentOptions,
} from "@temporalio/testing";
import { searchAttributeArguments } from "../stack/temporal-server.ts";
import { locate, ServerNotFound } from "../servers/locate-server.ts";
import type { Server } from "../servers/server.ts";
import { temporalCli, testServer } from "../servers/temporal-servers.ts";
import { loggedServer } from "./logged-server.ts";
import { quietRuntime } from "./quiet-runtime.ts";

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

const mostTries = 3;

/** The SDK gives a server 5 seconds to start; on a busy machine that is not always enough. */
const withPatience = async (
  create: () => Promise<TestWorkflowEnvironment>,
): Promise<TestWorkflowEnvironment> => {
  quietRuntime();
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      if (tries === mostTries || !String(error).includes("did not start within")) throw error;
    }
  }
};

/** How a local server is started. */
export interface LocalOptions extends LocalTestWorkflowEnvironmentOptions {
  /** Leaves out the search attributes, as `temporal server start-dev` does. */
  readonly isBare?: boolean;
}

/**
 * Starts a real Temporal server in memory, on a free port, with the search attributes of the
 * payment workflows. End it by `teardown()`.
 *
 * @throws ServerNotFound when `npm run setup` has not been run
 */
export const createLocalEnvironment = async ({
  isBare = false,
  ...options
}: LocalOptions = {}): Promise<TestWorkflowEnvironment> =>
  await withPatience(() =>
    TestWorkflowEnvironment.createLocal({
      ...options,
      server: {
        executable: executable(temporalCli),
        ...options.server,
        extraArgs: [
          ...(isBare ? [] : searchAttributeArguments()),
          ...(options.server?.extraArgs ?? []),
        ],
      },
    }),
  );

/**
 * Starts the test server that skips waiting times, on a free port. Skip the tests that use it
 * unless {@link timeSkipping} is available. End it by `teardown()`.
 *
 * @throws ServerNotFound when it is not set up
 */
export const createTimeSkippingEnvironment = async (
  options: TimeSkippingTestWorkflowEnvironmentOptions = {},
): Promise<TestWorkflowEnvironment> =>
  await withPatience(() =>
    TestWorkflowEnvironment.createTimeSkipping({
      ...options,
      server: { executable: executable(testServer), ...options.server },
    }),
  );
