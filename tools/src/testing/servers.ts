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

const find = (server: Server): string => {
  const located = locate(server);
  if (located !== undefined) return located.path;
  throw new ServerNotFound(
    `The ${server.title} ${server.version} is not set up: run \`npm run setup\`.`,
  );
};

/**
 * Returns why there is no time-skipping test server, for `skippedBecause`; undefined if there is one. Nothing is
 * downloaded or built by a test.
 */
export const whyNoTimeSkipping = (): string | undefined => {
  try {
    find(testServer);
    return undefined;
  } catch (error) {
    if (error instanceof ServerNotFound) return error.message;
    throw error;
  }
};

/** Makes an executable that writes the output of a server into the log of the test file: the SDK prints it. */
const logged = (path: string): string => {
  const log = process.env[SERVER_LOG];
  if (!log) return path;
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

const start = async (
  kind: ServerKind,
  server: Server,
  options: TestEnvironmentOptions["server"] = {},
): Promise<TestWorkflowEnvironment> =>
  startTestEnvironment(kind, {
    ...(process.env[SERVER_LOG] && { logger: fileLogger() }),
    server: { executable: { type: "existing-path", path: logged(find(server)) }, ...options },
  });

/**
 * Starts a real Temporal server in memory, on a free port. End it by `teardown()`.
 *
 * @param server further options of the SDK: a database in a file, arguments of the server
 * @throws ServerNotFound if `npm run setup` has not been run
 */
export const createLocalEnvironment = (server?: TestEnvironmentOptions["server"]) =>
  start("dev", temporalCli, server);

/**
 * Starts the test server that skips waiting times. Skip the tests that use it {@link whyNoTimeSkipping}.
 * End it by `teardown()`.
 *
 * @throws ServerNotFound if it is not set up
 */
export const createTimeSkippingEnvironment = () => start("time-skipping", testServer);
