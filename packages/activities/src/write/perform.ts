/*
 * Performs a write, reconciles it without its run, or undoes it.
 *
 * Each finds the row and its operation, and leaves the work to `Performing`. They throw the engine's own errors, because
 * the janitor calls them without an activity: activity.ts turns them into failures of Temporal.
 */
import type { Call, JsonObject, Ledger, WriteName } from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol/account";
import {
  failureTypes,
  UNDO,
  type UndoCall,
  type WriteAnswer,
} from "@durable-payments/protocol/calls";
import { rowNameOf, undoNameOf } from "./believed.ts";
import { Performing } from "./engine.ts";
import { advanceRow, type Attempt } from "./guard.ts";
import { type EngineOptions, isChange, type WriteTask } from "./operation.ts";
import { StepFailed } from "./outcomes.ts";

/**
 * Performs a write: looks at its row and acts on the ledger's decisions until the write is done, or until time or a
 * person has to help. Any number of attempts may call it, also at the same time.
 *
 * @throws NotYet if time helps; StepFailed if the step fails; LedgerUnavailable.
 */
export const performWrite = async (
  options: EngineOptions,
  attempt: Attempt,
  task: WriteTask,
  name = rowNameOf(options.account, attempt.workflowId, task),
): Promise<WriteAnswer> => {
  const operation = options.operations.get(task.operation);
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
    ownerId: attempt.workflowId,
    rootId: task.rootId,
    limits: options.limits,
    testimony: attempt.testimony,
    mode: task.mode ?? "send",
    mayAmend: task.isNamed && task.key === undefined,
    approveAbove: task.approveAbove,
  };
  return new Performing({ options, attempt, operation, call, task }).run();
};

/** Returns the write that a run has planned, if a recovered ledger may have forgotten it: its hash and facts are unknown. */
const forgotten = async (ledger: Ledger, { account, step, workflowId }: WriteName) => {
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  if (run?.planned !== "unknown" || run.account !== account) return undefined;
  const { amount, currency, payee, reference } = run;
  const unknown = { hash: "", terms: "", paymentDate: null, facts: {} };
  return {
    operation: step,
    request: { amount, currency, payee, reference, ...unknown },
    ownerId: workflowId,
    rootId: workflowId,
    runId: run.runId ?? "",
  };
};

/**
 * Reconciles a row: reads the list and sends nothing. Throws as `performWrite`.
 *
 * @param mode `close` for an open run, `settle` for an ended run, whose forgotten row is made.
 * @returns the answer; undefined if there is no such row.
 */
export const settleRow = async (
  options: EngineOptions,
  attempt: Attempt,
  name: WriteName,
  mode: "close" | "settle" = "settle",
): Promise<WriteAnswer | undefined> => {
  const { row = mode === "settle" ? await forgotten(options.ledger, name) : undefined } =
    await options.ledger.look(name);
  const operation = row && options.operations.get(row.operation);
  if (row === undefined || operation === undefined) return undefined;
  const call: Call = {
    name,
    operation: row.operation,
    request: row.request,
    ownerId: row.ownerId,
    rootId: row.rootId,
    limits: options.limits,
    runId: mode === "settle" ? row.runId : attempt.runId,
    testimony: undefined,
    mode,
    mayAmend: false,
  };
  return new Performing({ options, attempt, operation, call, task: {} }).run();
};

/**
 * Removes the result of a step. The step is reconciled first; the removal is a write of its own, with a row, a fence and
 * an outcome. `made` is empty if the step made nothing. Throws as `performWrite`.
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
    // Nothing took effect.
    if (!(error instanceof StepFailed)) throw error;
  }
  if (settled?.is === "waiting") return settled;
  const { row } = await ledger.look(name);
  const all = row === undefined ? await ledger.rowsOf(attempt.workflowId) : [];
  const cannot = (of: string, message: string) => {
    const details = { operation: of, step: name.step, version: row?.version ?? 0 };
    return new StepFailed(failureTypes.cannotBeUndone, message, details);
  };
  // With a key, each account has a write of its own.
  if (all.some((one) => one.workflowId === name.workflowId && one.step === name.step)) {
    throw cannot(
      UNDO,
      `The step ${call.step} was sent for another account. Name it: undo(${JSON.stringify(call.step)}, { account: "…" }).`,
    );
  }
  const operation = operations.get(row?.operation ?? call.operation);
  // Temporal remembers a result that a restored ledger has forgotten.
  const returned = row?.state === "undone" ? undefined : call.made;
  const madeId = row?.state === "done" ? row.madeId : textAt(returned, operation?.idField ?? "");
  if (operation === undefined || !madeId) return { is: "done", made: {} };
  const undo = operation.undo?.(madeId);
  const undoName = undoNameOf(name, row?.generation ?? 1);
  if (undo === undefined) {
    throw cannot(
      operation.name,
      `The result of ${operation.name} cannot be removed automatically: remove ${madeId} by hand.`,
    );
  }
  const removed = await performWrite(
    { ...options, operations: new Map([[undo.operation.name, undo.operation]]) },
    attempt,
    { ...call, operation: undo.operation.name, isNamed: true, request: { ...undo.request } },
    undoName,
  );
  if (removed.is === "waiting") return removed;
  // Changes of the object are undone with it: a later run makes the same changes to another object.
  const changes = (await ledger.rowsOf(attempt.workflowId)).filter(
    (one) =>
      one.account === account &&
      one.madeId === madeId &&
      one.step !== undoName.step &&
      isChange(one.operation),
  );
  for (const one of [...changes, name])
    await advanceRow(ledger, one, { is: "undone", who }, operation.policy({}));
  return removed;
};
