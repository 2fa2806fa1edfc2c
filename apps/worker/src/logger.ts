import { visibleText } from "@durable-payments/api-core/values";
import { ApplicationFailure } from "@temporalio/client";
import { DefaultLogger, type LogEntry, type LogLevel, type LogMetadata } from "@temporalio/worker";
import { inspect } from "node:util";

/** Said of each worker that has activities alone, as those of some queues are meant to. */
const MEANT = "No workflows registered, not polling for workflow tasks";

const inOneLine = (text: string): string => visibleText(text.replaceAll(/\s*\n\s*/g, " "));

/** What fails on purpose says all in its message: where it was thrown helps nobody. */
const loggable = (value: unknown): unknown =>
  value instanceof ApplicationFailure ? `${value.type ?? value.name}: ${value.message}` : value;

/** Of use to nobody who reads it. */
const LEFT_OUT: ReadonlySet<string> = new Set(["sdkComponent", "taskToken"]);

/**
 * Write a record of the log as one line of visible characters, whatever an error repeats of the service's
 * answer: nothing in it can pass for another record, or command the terminal.
 *
 * @param entry what the SDK hands to a logger.
 * @returns the line, without its end.
 */
export const logLine = ({ level, message, meta, timestampNanos }: LogEntry): string => {
  const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  const fields = Object.entries(meta ?? {})
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => [name, loggable(value)] as const);
  const shown = { breakLength: Infinity, compact: true, depth: 6 } as const;
  const more = fields.length === 0 ? "" : ` ${inspect(Object.fromEntries(fields), shown)}`;
  return `${at} [${level}] ${inOneLine(`${message}${more}`)}`;
};

/** The SDK's logger with a line for each record, without its warning of what is meant. */
export class WorkerLogger extends DefaultLogger {
  constructor(level: LogLevel) {
    super(level, (entry) => void process.stderr.write(`${logLine(entry)}\n`));
  }

  override log(level: LogLevel, message: string, meta?: LogMetadata): void {
    if (message !== MEANT) super.log(level, message, meta);
  }
}
