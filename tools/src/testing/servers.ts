import { shellQuoted } from "@durable-payments/protocol";
import {
  type ServerKind,
  startTestEnvironment,
  type TestEnvironmentOptions,
} from "@durable-payments/protocol/test-server";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { DefaultLogger, type Logger } from "@temporalio/worker";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { locate, type Server, ServerNotFound, temporalCli, testServer } from "../servers.ts";
import { SERVER_LOG } from "./run.ts";

/** The variable in which `npm test` passes on why there is no time-skipping server. */
export const NO_TIME_SKIPPING = "DURABLE_PAYMENTS_NO_TIME_SKIPPING";

const notSetUp = ({ title, version }: Server) =>
  `The ${title} ${version} is not set up: run \`npm run setup\`.`;

const whyNoTimeSkipping = (): string | undefined => {
  const reason = process.env[NO_TIME_SKIPPING];
  if (reason) return reason;
  try {
    return locate(testServer) === undefined ? notSetUp(testServer) : undefined;
  } catch (error) {
    if (error instanceof ServerNotFound) return error.message;
    throw error;
  }
};

const reason = whyNoTimeSkipping();

/**
 * Whether the time-skipping test server is there, for `describe.skipIf(!timeSkipping.available)`. Nothing is downloaded
 * or built by a test.
 */
export const timeSkipping = { available: reason === undefined, reason };

/** Returns the variables that name the servers which are set up, for processes that look for them by these alone. */
export const temporalServerVariables = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [temporalCli, testServer].flatMap((server) => {
      const located = locate(server);
      return located === undefined ? [] : [[server.variable, located.path]];
    }),
  );

/** Makes an executable that writes the output of a server into the log of the test file: the SDK prints it. */
const logged = (path: string): string => {
  const log = process.env[SERVER_LOG];
  if (!log || process.platform === "win32") return path;
  const script = `${log}.${basename(path)}`;
  if (!existsSync(script)) {
    const text = `#!/bin/sh\nexec ${shellQuoted(path)} "$@" >>${shellQuoted(log)} 2>&1\n`;
    writeFileSync(script, text, { mode: 0o700 });
  }
  return script;
};

/** Writes the SDK's warnings into the log of the test file, which is shown if a test fails. */
const fileLogger = (): Logger =>
  new DefaultLogger("WARN", ({ level, message }) => {
    // The next file of this process has another log, and between two files there is none.
    const log = process.env[SERVER_LOG] ?? "";
    if (existsSync(dirname(log))) appendFileSync(log, `${level} ${message}\n`);
  });

const start = (
  kind: ServerKind,
  server: Server,
  options: LocalOptions["server"] = {},
): Promise<TestWorkflowEnvironment> => {
  const located = locate(server);
  if (located === undefined) throw new ServerNotFound(notSetUp(server));
  return startTestEnvironment(kind, {
    ...(process.env[SERVER_LOG] && { logger: fileLogger() }),
    server: { executable: { type: "existing-path", path: logged(located.path) }, ...options },
  });
};

/** How a server is started. */
export interface LocalOptions {
  /** Further options of the SDK: a database in a file, arguments of the server. */
  readonly server?: TestEnvironmentOptions["server"];
}

/**
 * Starts a real Temporal server in memory, on a free port. End it by `teardown()`.
 *
 * @throws ServerNotFound if `npm run setup` has not been run
 */
export const createLocalEnvironment = async ({
  server,
}: LocalOptions = {}): Promise<TestWorkflowEnvironment> => start("dev", temporalCli, server);

/**
 * Starts the test server that skips waiting times. Skip the tests that use it unless {@link timeSkipping} is available.
 * End it by `teardown()`.
 *
 * @throws ServerNotFound if it is not set up
 */
export const createTimeSkippingEnvironment = async (): Promise<TestWorkflowEnvironment> =>
  start("time-skipping", testServer);
