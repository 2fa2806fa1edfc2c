import type { Ledger, WriteName } from "@durable-payments/ledger";
import { rowStep } from "@durable-payments/protocol";
import type { WriteCall } from "@durable-payments/protocol/calls";
import type { WriteOperations } from "./operation.ts";

/** What the engine works with. */
export interface EngineOptions {
  readonly ledger: Ledger;
  /** Hash of the account. */
  readonly account: string;
  readonly operations: WriteOperations;
  /** Number of the worker's build. */
  readonly build: number;
  /** The worker, as the log of the ledger names it. */
  readonly who: string;
}

/** A write to be carried out: what the activity got, under the name of its operation. */
export interface WriteTask extends WriteCall {
  readonly operation: string;
}

/** Returns the name of the row of a step: that of a child holds the child's workflow id. */
export const rowNameOf = (
  account: string,
  workflowId: string,
  { rootId, step }: Pick<WriteCall, "rootId" | "step">,
): WriteName => ({ account, workflowId: rootId, step: rowStep(rootId, { workflowId, step }) });
