import {
  type Decision,
  progressQuery,
  type Resolution,
  resolveUpdate,
} from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";

/** A decision, and who takes it. */
export type Decided = Decision & Pick<Resolution, "by">;

/** Reads what a run asks now, and answers that. */
export const decide = async (handle: WorkflowHandle, decided: Decided): Promise<void> => {
  const { attention } = await handle.query(progressQuery);
  const resolution: Resolution = { question: attention?.question ?? "none", ...decided };
  await handle.executeUpdate(resolveUpdate, { args: [resolution] });
};
