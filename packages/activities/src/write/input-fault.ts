import type { Fault } from "@durable-payments/api-core";
import { type JsonObject, type Look, overLimit } from "@durable-payments/ledger";
import { failureTypes, type PlannedRequest } from "@durable-payments/protocol/calls";
import type { WriteOperation, WriteOperations } from "./operation.ts";

const faultsText = (operation: string, faults: ReadonlyArray<Fault>): string =>
  `${operation}: ${faults.map(({ field, problem }) => `${field} ${problem}`.trim()).join("; ")}`;

/** A request that cannot be sent. */
export interface InputFault {
  readonly type: string;
  /** Names every fault, of later steps too. */
  readonly message: string;
}

/**
 * Checks a request, and those of later steps, before anything is sent.
 *
 * @returns undefined where there is no fault.
 */
export const inputFault = async (
  first: { readonly operation: WriteOperation; readonly request: JsonObject },
  planned: ReadonlyArray<PlannedRequest>,
  { limits, operations }: { readonly limits: Look["limits"]; readonly operations: WriteOperations },
): Promise<InputFault | undefined> => {
  const texts: Array<string> = [];
  let isInvalid = false;
  const check = async (operation: WriteOperation, request: JsonObject, isPlanned: boolean) => {
    const faults = await operation.faults(request, isPlanned);
    isInvalid ||= faults.length > 0;
    const { describe, name } = operation;
    const over =
      // The first is checked by the fence.
      isPlanned && faults.length === 0
        ? overLimit(describe(request), limits.maxAmounts)
        : undefined;
    const all = over === undefined ? faults : [{ field: "", problem: over }];
    if (all.length > 0) texts.push(faultsText(name, all));
  };
  await check(first.operation, first.request, false);
  for (const { operation: name, request } of planned) {
    const operation = operations.get(name);
    if (operation === undefined) {
      texts.push(`${name}: is an unknown operation`);
      isInvalid = true;
      // A request is plain JSON.
    } else await check(operation, request as JsonObject, true);
  }
  if (texts.length === 0) return undefined;
  const type = isInvalid ? failureTypes.invalidRequest : failureTypes.overLimit;
  return { type, message: `Nothing was sent. ${texts.join(". ")}.` };
};
