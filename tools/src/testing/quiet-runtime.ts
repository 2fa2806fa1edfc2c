import { appendFileSync } from "node:fs";
import { IllegalStateError } from "@temporalio/common";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { serverLogVariable } from "./logged-server.ts";

/**
 * Write the SDK's warnings into the log of the test file's servers, which is shown when a test fails. A test
 * that has installed a runtime before keeps its own.
 */
export const quietRuntime = (): void => {
  const log = process.env[serverLogVariable];
  if (!log) return;
  const logger = new DefaultLogger("WARN", ({ level, message }) =>
    appendFileSync(log, `${level} ${message}\n`),
  );
  try {
    // The core prints its warnings by itself where they are not forwarded.
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {} } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
};
