import { isOperationError } from "@durable-payments/operations/errors";
import type { Fault } from "@durable-payments/api-core";
import { BadUsage, codesOf, EXIT_CODES } from "../exit-codes.ts";
import { withNext } from "./next-operation.ts";
import { type Output, styled } from "./output.ts";

/** Why a command failed, as it is reported. */
interface ErrorReport {
  /** By what programs know it. */
  readonly type: string;
  readonly exitCode: number;
  readonly message: string;
  /** Every fault of an input, where there are several. */
  readonly faults?: ReadonlyArray<Fault>;
}

const reportOf = (error: unknown): ErrorReport => {
  if (error instanceof BadUsage) {
    return { type: "BadInput", exitCode: EXIT_CODES.badInput, message: error.message };
  }
  if (isOperationError(error)) {
    const faults = error._tag === "InvalidInput" ? error.faults : undefined;
    return { ...codesOf(error), message: withNext(error), ...(faults && { faults }) };
  }
  return {
    type: "Unexpected",
    exitCode: EXIT_CODES.unexpected,
    message: `This is a fault of the starter: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  };
};

const asText = ({ faults = [], message }: ErrorReport): string => {
  const lines = faults.map(({ field, problem }) => `\n  ${field} ${problem}`);
  return `${styled("red", "error", process.stderr)} ${message}${lines.join("")}`;
};

/**
 * Report why a command failed: an object on standard output for programs, lines on standard error for
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
  const { faults, message, type } = report;
  output.answer({ error: { type, message, ...(faults && { faults }) } }, () => message);
  return report.exitCode;
};
