import type { Fault } from "../contract/rules.ts";
import { firstFaults } from "../contract/schema-faults.ts";
import { InvalidRequest } from "./errors.ts";

/** The error of a call that is not sent because of these faults, the first one of each field. */
export const invalidRequest = (operation: string, faults: ReadonlyArray<Fault>): InvalidRequest => {
  const named = firstFaults(faults);
  return new InvalidRequest({
    operation,
    carriedOut: "no",
    message: `${operation}: ${named
      .map(({ field, problem }) => `${field === "" ? "the request" : field} ${problem}`)
      .join("; ")}. ${operation} was not sent.`,
    faults: named,
  });
};
