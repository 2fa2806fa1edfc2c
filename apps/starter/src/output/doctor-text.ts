import type { Check, Diagnosis } from "@durable-payments/operations/doctor";
import { commandOf } from "./next.ts";
import { checkStatus } from "./overview-text.ts";
import { beside, columnsOf, pad, styled, wrap } from "./text.ts";

const remedyOf = ({ next, remedy }: Check): ReadonlyArray<string> =>
  next === undefined
    ? remedy === undefined
      ? []
      : [remedy.startsWith("temporal ") ? `    ${styled("cyan", remedy)}` : wrap(remedy, "    ")]
    : [`    ${styled("cyan", commandOf(next))}`];

/** Prints each check with what was found, and what helps. */
export const doctorText = ({ checks, isWell }: Diagnosis): string => {
  const width = Math.max(0, ...checks.map(({ name }) => columnsOf(name)));
  const failed = checks.filter(({ status }) => status === "failed").length;
  return [
    ...checks.flatMap((check) => [
      beside(`${pad(checkStatus(check.status), 13)}${pad(check.name, width)}  `, check.detail),
      ...remedyOf(check),
    ]),
    "",
    isWell
      ? "Everything that must work works."
      : styled("red", `${failed} of ${checks.length} checks failed.`),
  ].join("\n");
};
