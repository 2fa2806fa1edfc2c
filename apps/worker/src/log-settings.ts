import { CannotStart } from "@durable-payments/plugin";
import { type LogLevel, makeTelemetryFilterString } from "@temporalio/worker";

const LOG_LEVELS = [
  "TRACE",
  "DEBUG",
  "INFO",
  "WARN",
  "ERROR",
] as const satisfies ReadonlyArray<LogLevel>;

/** How a line of the log is written. */
export type LogFormat = "json" | "text";

/**
 * Read from `PAYMENTS_LOG_LEVEL` what is logged.
 *
 * @throws CannotStart where it is no level.
 */
export const readLogLevel = (environment: NodeJS.ProcessEnv): LogLevel => {
  const given = (environment["PAYMENTS_LOG_LEVEL"] ?? "WARN").toUpperCase();
  const level = LOG_LEVELS.find((known) => known === given);
  if (level === undefined) {
    throw new CannotStart(`PAYMENTS_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}.`);
  }
  return level;
};

/**
 * Read from `PAYMENTS_LOG_FORMAT` how lines are written: as text unless it says `json`, wherever they go.
 *
 * @throws CannotStart where it is none of the two.
 */
export const readLogFormat = (environment: NodeJS.ProcessEnv): LogFormat => {
  const given = environment["PAYMENTS_LOG_FORMAT"] || "text";
  if (given === "json" || given === "text") return given;
  throw new CannotStart("PAYMENTS_LOG_FORMAT must be json or text.");
};

/**
 * Say what the SDK's core logs at a level. Below INFO its messages hold whole payloads, so it says no more than at INFO.
 */
export const coreLogFilter = (level: LogLevel): string =>
  makeTelemetryFilterString({
    core: level === "TRACE" || level === "DEBUG" ? "INFO" : level,
    other: "ERROR",
  });
