import type { Fault } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { mergePatch } from "./merge-patch.ts";
import { OWN_REQUEST } from "./own-operations.ts";
import { sendingOf } from "./steps.ts";

const partOf = (operation: string): string => sendingOf(operation)?.input ?? OWN_REQUEST;

const BY_THE_RUN = "is filled in by the run: leave it out";

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0;

/**
 * Check the shape of an amendment to what a step sends: that of the run's input, as
 * `{"payout": {"amount": "20.00"}}`, and only the fields to change. What the fields say is checked by the
 * contract.
 *
 * @param operation the operation that the step sends.
 * @param amendment what was given, anything.
 * @returns each fault by the path of its field; none where the shape is right.
 */
export const amendmentFaults = (operation: string, amendment: unknown): ReadonlyArray<Fault> => {
  const part = partOf(operation);
  const { beside, filledIn = ["unique_request_id"] } = sendingOf(operation) ?? {};
  const shape = `{"${part}": {…}}`;
  if (!isRecord(amendment) || isEmpty(amendment)) {
    return [{ field: "amend", problem: `must be an object of the shape of the input: ${shape}` }];
  }
  return Object.entries(amendment).flatMap(([name, change]): ReadonlyArray<Fault> => {
    if (name === beside) {
      return typeof change === "string" ? [] : [{ field: name, problem: "must be a text" }];
    }
    if (name !== part) {
      return [{ field: name, problem: `is none of what ${operation} sends: give ${shape}` }];
    }
    if (!isRecord(change) || isEmpty(change)) {
      return [{ field: name, problem: "must be an object of the fields to change" }];
    }
    return Object.keys(change).flatMap((field) => {
      const at = `${part}.${field}`;
      if (field === beside) return [{ field: at, problem: `belongs beside ${part}, not into it` }];
      return filledIn.includes(field) ? [{ field: at, problem: BY_THE_RUN }] : [];
    });
  });
};

/**
 * Amend a request.
 *
 * @param operation the operation that sends it.
 * @param request as it was to be sent.
 * @param amendment of the shape that `amendmentFaults` finds right.
 * @returns the request, amended; null in the amendment takes a field away.
 */
export const amendRequest = <Request extends object>(
  operation: string,
  request: Request,
  amendment: Readonly<Record<string, unknown>>,
): Request => {
  const { [partOf(operation)]: fields = {}, ...beside } = amendment;
  // The contract checks what has become of it before it is sent.
  return mergePatch(mergePatch(request, fields), beside) as Request;
};

/**
 * Check whether an amendment has the shape of the run's input: in histories of before it has that of the
 * request.
 *
 * @param operation the operation that the step sends.
 * @param amendment as a person gave it.
 * @returns false for one of the request's shape.
 */
export const isInputShaped = (
  operation: string,
  amendment: Readonly<Record<string, unknown>>,
): boolean => amendmentFaults(operation, amendment).length === 0;
