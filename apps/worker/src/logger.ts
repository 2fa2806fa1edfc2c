import { redact } from "@durable-payments/api-core";
import { visibleJson, visibleText } from "@durable-payments/api-core/values";
import { ApplicationFailure } from "@temporalio/client";
import { DefaultLogger, type LogEntry, type LogLevel, type LogMetadata } from "@temporalio/worker";
import { inspect } from "node:util";
import type { LogFormat } from "./log-settings.ts";

/** Said of each worker that has activities alone, as those of some queues are meant to. */
const MEANT = "No workflows registered, not polling for workflow tasks";

/**
 * The fields that are shown of a record, as the SDK and its core name them, and as they are named here. There are
 * others that hold whole payloads, failures and task tokens.
 */
const FIELDS: ReadonlyArray<readonly [given: string, name: string]> = [
  ["workflowType", "workflowType"],
  ["workflow_type", "workflowType"],
  ["workflowId", "workflowId"],
  ["workflow_id", "workflowId"],
  ["runId", "runId"],
  ["workflowRunId", "runId"],
  ["run_id", "runId"],
  ["activityType", "activityType"],
  ["activity_type", "activityType"],
  ["activityId", "activityId"],
  ["activity_id", "activityId"],
  ["attempt", "attempt"],
  ["durationMs", "durationMs"],
  ["namespace", "namespace"],
  ["taskQueue", "taskQueue"],
  ["task_queue", "taskQueue"],
  ["state", "state"],
  ["error", "error"],
];

/**
 * Word an error for the log, with what has caused it, and without what only errors of libraries hold: requests, answers,
 * sockets. What fails on purpose says all in its message: where it was thrown helps nobody.
 *
 * @param error of any origin.
 * @returns its text, masked; it may have several lines.
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
    FIELDS.flatMap(([given, name]) => {
      const value: unknown = meta[given];
      if (value === undefined || value === null) return [];
      return [[name, name === "error" ? errorText(value) : value] as const];
    }),
  );

const inOneLine = (text: string): string => visibleText(text.replaceAll(/\s*\n\s*/g, " "));

/**
 * Write a record of the log as one line of visible characters, whatever an error repeats of the service's
 * answer: nothing in it can pass for another record, or command the terminal. It has the ids of the run and of what
 * it did, and no value: {@link redact} masks what messages repeat.
 *
 * @param entry what the SDK hands to a logger.
 * @returns the line, without its end.
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
  const shown = {
    ...ids,
    ...(typeof error === "string" && { error: inOneLine(error) }),
  };
  const more =
    Object.keys(shown).length === 0
      ? ""
      : ` ${inspect(shown, { breakLength: Infinity, compact: true })}`;
  return `${time} [${level}] ${inOneLine(`${masked}${more}`)}`;
};

/** The SDK's logger with a line for each record, without its warning of what is meant. */
export class WorkerLogger extends DefaultLogger {
  constructor(level: LogLevel, format: LogFormat) {
    super(level, (entry) => void process.stderr.write(`${logLine(entry, format)}\n`));
  }

  override log(level: LogLevel, message: string, meta?: LogMetadata): void {
    if (message !== MEANT) super.log(level, message, meta);
  }
}
