import { StarterError } from "../errors.ts";
import { type Output, styled } from "./output.ts";

const asText = (error: StarterError): string => {
  const faults = (error.faults ?? []).map(({ field, problem }) => `\n  ${field} ${problem}`);
  return `${styled("red", "error", process.stderr)} ${error.message}${faults.join("")}`;
};

/** Tells why a command failed: an object on standard output for programs, lines on standard error for people, and where the answer was cut short. */
export const reportError = (output: Output, error: StarterError): void => {
  output.live(undefined);
  if (!output.json || output.answered) {
    output.say(asText(error));
    return;
  }
  const { faults, message, type } = error;
  output.answer({ error: { type, message, ...(faults && { faults }) } }, () => message);
};
