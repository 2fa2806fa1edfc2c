import { appendFileSync, existsSync } from "node:fs";
import { dirname } from "node:path";
import { DefaultLogger, type Logger } from "@temporalio/worker";
import { serverLogVariable } from "./server-log-variable.ts";

/**
 * Make a logger that writes the SDK's warnings into the log of the test file's servers, which is shown when a test
 * fails.
 *
 * @returns undefined where the process has no such log.
 */
export const fileLogger = (): Logger | undefined => {
  if (!process.env[serverLogVariable]) return undefined;
  return new DefaultLogger("WARN", ({ level, message }) => {
    // The next file of this process has another log, and what comes between two files has none.
    const log = process.env[serverLogVariable] ?? "";
    if (existsSync(dirname(log))) appendFileSync(log, `${level} ${message}\n`);
  });
};
