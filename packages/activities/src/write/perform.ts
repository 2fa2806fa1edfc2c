import type { Call, JsonObject, WriteName } from "@durable-payments/ledger";
import { failureTypes, type UndoCall, type WriteAnswer } from "@durable-payments/protocol/calls";
import { advanceRow } from "./advance-row.ts";
import { Performing } from "./engine.ts";
import type { Attempt } from "./guard.ts";
import { type EngineOptions, rowNameOf, StepFailed, type WriteTask } from "./operation.ts";

/**
 * Carries out a write: looks at its row, and does what the ledger says until it is done, or time or a person has to
 * help. It may be called again and again, by any number of attempts at once.
 *
 * @throws NotYet where time helps; StepFailed where the step fails; LedgerUnavailable.
 */
export const performWrite = async (
  options: EngineOptions,
  attempt: Attempt,
  task: WriteTask,
): Promise<WriteAnswer> => {
  const operation = options.operations.get(task.operation);
  const name = rowNameOf(options.account, attempt.workflowId, task);
  if (operation === undefined) {
    const { step } = name;
    const message = `The worker does not know the operation ${task.operation}.`;
    const details = { operation: task.operation, step, version: 0 };
    throw new StepFailed(failureTypes.invalidRequest, message, details);
  }
  const call: Call = {
    name,
    operation: task.operation,
    // A request is plain JSON.
    request: operation.describe(task.request as JsonObject),
    runId: attempt.runId,
    startedBy: task.startedBy,
    testimony: attempt.testimony,
    mode: task.mode ?? "send",
    mayAmend: task.isNamed,
    approveAbove: task.approveAbove,
  };
  return new Performing(options, attempt, operation, call, task).run();
};

/**
 * Finds out what became of a row whose run has ended: reads the list, and sends nothing.
 *
 * @param mode `close` for a run that goes on, `settle` for one that has ended.
 * @returns the answer; undefined where there is no such row.
 * @throws as `performWrite`.
 */
export const settleRow = async (
  options: EngineOptions,
  attempt: Attempt,
  name: WriteName,
  mode: "close" | "settle" = "settle",
): Promise<WriteAnswer | undefined> => {
  const { row } = await options.ledger.look(name);
  const operation = row && options.operations.get(row.operation);
  if (row === undefined || operation === undefined) return undefined;
  const call: Call = {
    name,
    operation: row.operation,
    request: row.request,
    runId: mode === "settle" ? row.runId : attempt.runId,
    testimony: undefined,
    mode,
    mayAmend: false,
  };
  return new Performing(options, attempt, operation, call, {}).run();
};

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
  const policy = operations.get(row.operation)?.policy({});
  if (policy !== undefined) await advanceRow(ledger, name, { is: "undone", who }, policy);
  return removed;
};
