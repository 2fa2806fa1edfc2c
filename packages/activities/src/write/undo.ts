import { advance } from "@durable-payments/ledger";
import { failureTypes, type UndoCall, type WriteAnswer } from "@durable-payments/protocol/calls";
import type { Attempt } from "./guard.ts";
import { type EngineOptions, rowNameOf, StepFailed } from "./operation.ts";
import { performWrite, settleRow } from "./perform.ts";

/**
 * Removes what a step has made. What became of the step is found out first; the removal is a write of its own, with a
 * row, a fence and an outcome.
 *
 * @returns what was removed; `made` is empty where the step had made nothing.
 * @throws as `performWrite`.
 */
export const undoWrite = async (
  options: EngineOptions,
  attempt: Attempt,
  call: UndoCall,
): Promise<WriteAnswer> => {
  const { account, ledger, operations, who } = options;
  const name = rowNameOf(account, attempt.workflowId, call);
  let settled: WriteAnswer | undefined;
  try {
    settled = await settleRow(options, attempt, name, "close");
  } catch (error) {
    // Nothing was carried out.
    if (!(error instanceof StepFailed)) throw error;
  }
  if (settled?.is === "waiting") return settled;
  const { row } = await ledger.look(name);
  if (row?.state !== "done" || row.madeId === null) return { is: "done", made: {} };
  const undo = operations.get(row.operation)?.undo?.(row.madeId);
  const details = { operation: row.operation, step: row.step, version: row.version };
  if (undo === undefined) {
    const message = `Nothing removes what ${row.operation} makes: remove ${row.madeId} by hand.`;
    throw new StepFailed(failureTypes.cannotBeUndone, message, details);
  }
  const removed = await performWrite(
    { ...options, operations: new Map([[undo.operation.name, undo.operation]]) },
    attempt,
    {
      ...call,
      operation: undo.operation.name,
      // What was made anew is undone anew.
      step: row.generation === 1 ? `undo ${call.step}` : `undo ${call.step} ${row.generation}`,
      isNamed: true,
      request: { ...undo.request },
    },
  );
  if (removed.is === "waiting") return removed;
  await ledger.transact(name, (look) => {
    const policy = operations.get(row.operation)?.policy({});
    if (policy === undefined) return {};
    const advanced = advance(look, { is: "undone", who }, policy);
    return { ...(advanced.row !== undefined && { row: advanced.row }), entries: advanced.entries };
  });
  return removed;
};
