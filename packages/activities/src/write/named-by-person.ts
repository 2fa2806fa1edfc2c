import type { Decision, JsonObject, Ledger, Verdict, WriteRow } from "@durable-payments/ledger";
import { plainKey } from "../evidence/match-fields.ts";
import type { ReadMade, WriteOperation } from "./operation.ts";
import { keyOf, otherKeysOf, textAt } from "./request-fields.ts";

/** Returns the id that a person's answer names. */
export const namedId = ({ value: { id } }: Decision): string =>
  typeof id === "string" ? id.trim() : "";

/**
 * Reads at the service what a person named, and compares it with what was sent. What another write has made does not fit.
 *
 * @throws PaymentsError where the service cannot be read.
 */
export const readNamed = async (
  ledger: Ledger,
  operation: WriteOperation,
  row: WriteRow,
  id: string,
  request: JsonObject | undefined,
  signal: AbortSignal,
): Promise<ReadMade> => {
  const owner = (await ledger.owners(row.account, row.operation, [id])).get(id);
  if (owner !== undefined && (owner.workflowId !== row.workflowId || owner.step !== row.step)) {
    return { is: "fault", fault: `${owner.workflowId} (${owner.step}) has made ${id}.` };
  }
  const read = await operation.read(row, id, request, signal);
  if (read.is === "fault") return read;
  // What shows the key of another write of unknown outcome is that one's.
  const key = plainKey(textAt(read.result, "unique_request_id") ?? "");
  const rivals = await ledger.rivals(row.account, row.operation, row);
  const rival = rivals.find((other) =>
    [keyOf(other, other.generation), ...otherKeysOf(other, other.generation)].includes(key),
  );
  return rival === undefined
    ? read
    : { is: "fault", fault: `${id} has the key of ${rival.workflowId} (${rival.step}).` };
};

/** Returns the verdict that asks a person whether a step was renamed. */
export const renamed = (elsewhere: ReadonlyArray<WriteRow>): Verdict => {
  const steps = elsewhere.map(({ madeId, step }) => `${step} (${madeId ?? "unknown"})`);
  return {
    is: "unclear",
    message: `An earlier run has the same request under another step: ${steps.join(", ")}. If the step was renamed, deploy its old name: a resend pays a second time.`,
    candidates: elsewhere.flatMap(({ result }) => (result === null ? [] : [result])),
  };
};
