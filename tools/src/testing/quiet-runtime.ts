import { appendFileSync, existsSync } from "node:fs";
import { dirname } from "node:path";
import { IllegalStateError } from "@temporalio/common";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { serverLogVariable } from "./server-log-variable.ts";

/**
 * Write the SDK's warnings into the log of the test file's servers, which is shown when a test fails. A test
 * that has installed a runtime before keeps its own.
 */
export const quietRuntime = (): void => {
  if (!process.env[serverLogVariable]) return;
  const logger = new DefaultLogger("WARN", ({ level, message }) => {
    // The next file of this process has another log, and what comes between two files has none.
    const log = process.env[serverLogVariable] ?? "";
    if (existsSync(dirname(log))) appendFileSync(log, `${level} ${message}\n`);
  });
  try {
    // The core prints its warnings by itself where they are not forwarded.
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {} } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
};
