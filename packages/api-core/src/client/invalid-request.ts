import { type Fault, firstFaults } from "../contract/faults.ts";
import { InvalidRequest } from "./errors.ts";
import { redact } from "./redact.ts";

/** The error of a call that is not sent because of these faults, the first one of each field. */
export const invalidRequest = (operation: string, faults: ReadonlyArray<Fault>): InvalidRequest => {
  // An unknown name may be a card number in the wrong place.
  const named = firstFaults(faults).map(({ field, problem }) => ({
    field: redact(field),
    problem,
  }));
  return new InvalidRequest({
    operation,
    carriedOut: "no",
    message: `${operation}: ${named
      .map(({ field, problem }) => `${field === "" ? "the request" : field} ${problem}`)
      .join("; ")}. ${operation} was not sent.`,
    faults: named,
  });
};
