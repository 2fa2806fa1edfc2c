import {
  ConnectionFailed,
  ControlError,
  InvalidInput,
  type NextAction,
} from "@durable-payments/control/errors";
import { settingVariables } from "@durable-payments/protocol/settings";
import type { Fault } from "@durable-payments/client/effect";
import { messageOf, shownText } from "@durable-payments/client/values";
import { capitalize } from "effect/String";
import { isLocalTemporal, whyNotDev } from "../environment.ts";
import { BadUsage, EXIT_CODES } from "../exit-codes.ts";
import { nextText } from "./next.ts";
import { type Output, visible } from "./output.ts";
import { styled, wrap } from "./text.ts";

/** The reported reason of a command's failure. */
interface ErrorReport {
  /** Code for programs. */
  readonly type: string;
  readonly exitCode: number;
  readonly message: string;
  /** Every fault of an input, if there are several. */
  readonly faults?: ReadonlyArray<Fault>;
  /** The stack of an internal error. */
  readonly stack?: string;
  /** Additional notes. */
  readonly lines?: ReadonlyArray<string>;
  readonly next?: NextAction | undefined;
}

const CODE_OF: Readonly<Record<string, keyof typeof EXIT_CODES>> = {
  ConnectionFailed: "cannotConnect",
  EndedByPerson: "refused",
  InvalidInput: "badInput",
  NotFound: "notFound",
  NotAllowed: "refused",
};

/** Flags by the parameters that messages name in brackets. */
const FLAG_OF: Readonly<Record<string, string>> = {
  account: "--account NAME",
  approveAbove: "--approve-above",
  found: "--found ID",
  notDuplicate: "--not-a-duplicate WHY",
  reason: "--reason WHY",
};

const DOCTOR = { action: "doctor" } as const;

/** Variables of Temporal's own configuration. */
const ABOUT_TEMPORAL =
  "Temporal is found by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and TEMPORAL_TLS_*.";

/** Adds the flags and variables of this command to a message, which names parameters and settings. */
export const inFlags = (message: string): string =>
  message
    .replaceAll(/\((\w+)\)/g, (text, name: string) => `(${FLAG_OF[name] ?? text.slice(1, -1)})`)
    .replaceAll(/\bsettings? (\w+(?:\.\w+)?)/g, (text, name: string) => {
      const variable = settingVariables.get(name);
      return variable === undefined ? text : `${text} (${variable})`;
    });

const reportOf = (error: unknown): ErrorReport => {
  if (error instanceof BadUsage) {
    const { lines, message } = error;
    return { type: "BadInput", exitCode: EXIT_CODES.badInput, message, lines };
  }
  if (error instanceof ControlError) {
    const faults = error instanceof InvalidInput ? error.faults : undefined;
    const reason = error instanceof ConnectionFailed ? error.reason : undefined;
    const isOfTemporal = reason === "cannotConnect" || reason === "namespaceNotFound";
    const why = reason && whyNotDev();
    const lines = [...(isOfTemporal ? [ABOUT_TEMPORAL] : []), ...(why === undefined ? [] : [why])];
    return {
      type: reason === undefined ? error.name : capitalize(reason),
      exitCode: EXIT_CODES[CODE_OF[error.name] ?? "refused"],
      message: inFlags(error.message),
      // Nobody starts the server of an installation on this machine.
      next: error.next?.action === "startServer" && !isLocalTemporal() ? DOCTOR : error.next,
      ...(faults && { faults }),
      lines,
    };
  }
  return {
    type: "Unexpected",
    exitCode: EXIT_CODES.unexpected,
    message: `Internal error. Please report it with the output of --json: ${messageOf(error)}`,
    ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
  };
};

const asText = ({ faults = [], lines = [], message, next }: ErrorReport): string =>
  [
    wrap(`${styled("red", "error")} ${shownText(message)}`),
    ...visible(faults)
      .map(({ field, problem }) => `${field} ${problem}`)
      // The message of some errors names them all.
      .filter((fault) => !shownText(message).includes(fault))
      .map((fault) => wrap(fault, "  ")),
    ...visible(lines).map((line) => wrap(line, "  ")),
    // A command that is copied stays on its line.
    ...(next === undefined ? [] : [`  ${nextText(next)}`]),
  ].join("\n");

/**
 * Reports why a command failed: an object on standard output for programs, lines on standard error for
 * people, also if the answer was cut short.
 *
 * @returns the exit code.
 */
export const reportError = (output: Output, error: unknown): number => {
  const report = reportOf(error);
  if (!output.json || output.answered) {
    output.say(asText(report));
    return report.exitCode;
  }
  const { exitCode, lines = [], message, next, type, ...more } = report;
  const said = [message, ...lines, ...(next === undefined ? [] : [nextText(next)])];
  output.answer({ error: { type, message: said.join("\n"), ...more } }, () => "");
  return exitCode;
};
