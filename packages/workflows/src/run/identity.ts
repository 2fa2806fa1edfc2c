import { STARTED_BY, VOUCHER, type Voucher, voucherOf } from "@durable-payments/protocol/calls";
import { workflowInfo } from "@temporalio/workflow";
import { InvalidRequest } from "./failures.ts";
import { runState } from "./run-state.ts";

/** What a run knows of itself that each of its writes names. */
export interface Identity {
  readonly workflowId: string;
  readonly rootId: string;
  readonly runId: string;
  /** As its memo says. */
  readonly startedBy: string | undefined;
  /** The run follows another of its chain, or its id has a schedule. */
  readonly isContinued: boolean;
  readonly voucher: Voucher | undefined;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/**
 * Returns what this run knows of itself.
 *
 * @throws InvalidRequest for a child with a random id: a retry of its parent would start another one, which sends again.
 */
export const identity = (): Identity => {
  const info = workflowInfo();
  const { runId, workflowId } = info;
  const by = info.memo?.[STARTED_BY];
  if (info.parent !== undefined && UUID.test(workflowId)) {
    throw new InvalidRequest(
      `The child workflow ${workflowId} has a random id, so it sends nothing: a retry of its parent would start another child, which sends again. Start it with a workflowId that says what it pays.`,
    );
  }
  return {
    workflowId,
    rootId: info.root?.workflowId ?? workflowId,
    runId,
    startedBy: typeof by === "string" && by !== "" ? by : undefined,
    isContinued: info.continuedFromExecutionRunId !== undefined || (info.cronSchedule ?? "") !== "",
    voucher: voucherOf({ ...info, memo: info.memo, startTime: info.startTime.getTime() }),
  };
};

/**
 * Tells a child workflow who started its parent, who then cannot approve what the child sends. Vouches for the child, too,
 * where this run starts it for the first time: then its first sends need no look at the service before.
 *
 * @param workflowId of the child.
 * @returns a memo for the child. Without it nobody can approve a payment of the child.
 * @example
 * ```ts
 * const workflowId = `${orderId}/deposit`;
 * await executeChild(payDeposit, { workflowId, args: [order], memo: voucherFor(workflowId) });
 * ```
 */
export const voucherFor = (workflowId: string): Readonly<Record<string, Voucher | string>> => {
  const { children } = runState();
  const { startedBy, voucher } = identity();
  const starter = startedBy === undefined ? {} : { [STARTED_BY]: startedBy };
  if (voucher === undefined || children.has(workflowId)) return starter;
  children.add(workflowId);
  return { ...starter, [VOUCHER]: { ...voucher, workflowId, at: Date.now() } };
};
