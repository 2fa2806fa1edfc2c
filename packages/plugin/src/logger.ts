import { redact } from "@durable-payments/client/effect";
import { visibleJson, visibleText } from "@durable-payments/client/values";
import { ApplicationFailure } from "@temporalio/client";
import type { Settings } from "@durable-payments/protocol/settings";
import {
  DefaultLogger,
  type LogEntry,
  type LogLevel,
  type LogMetadata,
  makeTelemetryFilterString,
  Runtime,
} from "@temporalio/worker";
import { inspect } from "node:util";

/** Format of a line of the log. */
export type LogFormat = "json" | "text";

/** Says what the SDK's core logs at a level. Below INFO its messages hold whole payloads. */
export const coreLogFilter = (level: LogLevel): string =>
  makeTelemetryFilterString({
    core: level === "TRACE" || level === "DEBUG" ? "INFO" : level,
    other: "ERROR",
  });

/** The SDK's warning about a worker with activities only, which is expected for some queues. */
const MEANT = "No workflows registered, not polling for workflow tasks";

/** Logged fields of a record. Others contain whole payloads, failures and task tokens. */
const SHOWN: ReadonlySet<string> = new Set([
  "workflowType",
  "workflowId",
  "runId",
  "activityType",
  "activityId",
  "attempt",
  "durationMs",
  "namespace",
  "taskQueue",
  "state",
  "error",
]);

/** Returns the name of a field, which the SDK and its core spell in their own ways. */
const nameOf = (given: string): string =>
  given === "workflowRunId"
    ? "runId"
    : given.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Words an error for the log, masked, with its cause, but without requests, answers and sockets of library errors. An
 * expected failure needs only its message, not its stack.
 */
export const errorText = (error: unknown): string => {
  if (error instanceof ApplicationFailure) {
    return redact(`${error.type ?? error.name}: ${error.message}`);
  }
  if (!(error instanceof Error)) return typeof error === "string" ? redact(error) : "unknown error";
  const own = redact(error.stack ?? `${error.name}: ${error.message}`);
  return error.cause === undefined ? own : `${own}\n[cause]: ${errorText(error.cause)}`;
};

const fieldsOf = (meta: LogMetadata = {}): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(meta)
      .map(([given, value]: [string, unknown]) => [nameOf(given), value] as const)
      .filter(([name, value]) => SHOWN.has(name) && value !== undefined && value !== null)
      .map(([name, value]) => [name, name === "error" ? errorText(value) : value]),
  );

const inOneLine = (text: string): string => visibleText(text.replaceAll(/\s*\n\s*/g, " "));

/**
 * Writes a record of the log as one line of visible characters. No text of the service can then look like another record or
 * control the terminal.
 */
export const logLine = (
  { level, message, meta, timestampNanos }: LogEntry,
  format: LogFormat,
): string => {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  const fields = fieldsOf(meta);
  const masked = redact(message);
  if (format === "json") return visibleJson({ time, level, message: masked, ...fields });
  const { error, ...ids } = fields;
  const shown = { ...ids, ...(typeof error === "string" && { error: inOneLine(error) }) };
  const more =
    Object.keys(shown).length === 0
      ? ""
      : ` ${inspect(shown, { breakLength: Infinity, compact: true })}`;
  return `${time} [${level}] ${inOneLine(`${masked}${more}`)}`;
};

/** The SDK's logger with one line per record, without the expected warning. */
export class WorkerLogger extends DefaultLogger {
  constructor(level: LogLevel, format: LogFormat) {
    super(level, (entry) => void process.stderr.write(`${logLine(entry, format)}\n`));
  }

  override log(level: LogLevel, message: string, meta?: LogMetadata): void {
    if (message !== MEANT) super.log(level, message, meta);
  }
}

type LogSettings = Pick<Settings, "logFormat" | "logLevel">;

/** Returns the options of a Runtime with the log of the settings. The lines of the SDK's core go to the same logger. */
export const loggingOf = ({ logFormat = "text", logLevel = "WARN" }: LogSettings) => ({
  logger: new WorkerLogger(logLevel, logFormat),
  logging: { filter: coreLogFilter(logLevel), forward: {} },
});

let hasWarned = false;

/**
 * Installs a Runtime with the log of the settings, if they have one. The SDK makes its Runtime with the first connection
 * and keeps it: if there is one already, warns once that these settings have no effect.
 */
export const logAsSet = (settings: LogSettings): void => {
  if (settings.logFormat === undefined && settings.logLevel === undefined) return;
  if (Runtime._instance === undefined && Object.keys(Runtime.defaultOptions).length === 0) {
    const { logger, logging } = loggingOf(settings);
    Runtime.install({ logger, telemetryOptions: { logging } });
    return;
  }
  // The Runtime wraps its logger; these are the options that it was given.
  if (hasWarned || Runtime.defaultOptions.logger instanceof WorkerLogger) return;
  hasWarned = true;
  Runtime.instance().logger.warn(
    "logLevel and logFormat (PAYMENTS_LOG_LEVEL, PAYMENTS_LOG_FORMAT) have no effect: Temporal's Runtime was installed before. Pass PaymentsPlugin to NativeConnection.connect({ plugins }), instead of to Worker.create.",
  );
};
