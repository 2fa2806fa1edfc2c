import { isOperationError } from "@durable-payments/operations/errors";
import type { Fault } from "@durable-payments/api-core";
import { messageOf, shownText } from "@durable-payments/api-core/values";
import { BadUsage, codesOf, EXIT_CODES } from "../exit-codes.ts";
import { withNext } from "./next.ts";
import { type Output, visible } from "./output.ts";
import { styled, wrap } from "./text.ts";

/** Why a command failed, as it is reported. */
interface ErrorReport {
  /** By what programs know it. */
  readonly type: string;
  readonly exitCode: number;
  readonly message: string;
  /** Every fault of an input, where there are several. */
  readonly faults?: ReadonlyArray<Fault>;
  /** Where it was thrown, of a fault of the starter: for those who correct it. */
  readonly stack?: string;
  /** What is said beside: lines that are not wrapped. */
  readonly lines?: ReadonlyArray<string>;
}

const reportOf = (error: unknown): ErrorReport => {
  if (error instanceof BadUsage) {
    const { lines, message } = error;
    return { type: "BadInput", exitCode: EXIT_CODES.badInput, message, lines };
  }
  if (isOperationError(error)) {
    const faults = error._tag === "InvalidInput" ? error.faults : undefined;
    const { message } = error;
    const [, ...lines] = withNext({
      message: "",
      next: "next" in error ? error.next : undefined,
    }).split("\n");
    return { ...codesOf(error), message, lines, ...(faults && { faults }) };
  }
  return {
    type: "Unexpected",
    exitCode: EXIT_CODES.unexpected,
    message: `Internal error, please report it with what --json prints: ${messageOf(error)}`,
    ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
  };
};

const asText = ({ faults = [], lines = [], message }: ErrorReport): string =>
  [
    wrap(`${styled("red", "error")} ${shownText(message)}`),
    ...visible(faults).map(({ field, problem }) => wrap(`${field} ${problem}`, "  ")),
    ...lines.map((line) => `  ${shownText(line.trim())}`),
  ].join("\n");

/**
 * Reports why a command failed: an object on standard output for programs, lines on standard error for
 * people, and where the answer was cut short.
 *
 * @returns the exit code.
 */
export const reportError = (output: Output, error: unknown): number => {
  const report = reportOf(error);
  output.live(undefined);
  if (!output.json || output.answered) {
    output.say(asText(report));
    return report.exitCode;
  }
  const { exitCode, lines = [], message, type, ...more } = report;
  output.answer({ error: { type, message: [message, ...lines].join("\n"), ...more } }, () => "");
  return exitCode;
};
