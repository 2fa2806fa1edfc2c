import { type Progress, progressQuery, temporalReason } from "@durable-payments/protocol";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { countPollers, noWorker, type Unanswered } from "../connection/workers.ts";

/** Where a run stands by its own account, or why it cannot be asked. */
export type Asked =
  | { readonly _tag: "Answered"; readonly progress: Progress }
  | ({ readonly _tag: "NoAnswer" } & Unanswered);

const PATIENCE_MS = 3_000;

/** Temporal shows a worker that is very busy as gone: it gets a chance, but is not waited for. */
const PATIENCE_WITHOUT_WORKER_MS = 500;

/** Ask a run where it stands, which takes a worker, also where the run has ended. */
export const askProgress = async (
  temporal: Temporal,
  { taskQueue, workflowId }: { readonly workflowId: string; readonly taskQueue: string },
): Promise<Asked> => {
  const { client, connection, settings } = temporal;
  const isPolled = (await countPollers(temporal, "workflow", taskQueue)) > 0;
  const patience = isPolled ? PATIENCE_MS : PATIENCE_WITHOUT_WORKER_MS;
  try {
    const progress = await connection.withDeadline(Date.now() + patience, () =>
      client.workflow.getHandle(workflowId).query(progressQuery),
    );
    return { _tag: "Answered", progress };
  } catch (error) {
    if (!isPolled) return { _tag: "NoAnswer", ...noWorker(taskQueue, settings.namespace) };
    return {
      _tag: "NoAnswer",
      message: isNoAnswer(error)
        ? `No worker on task queue "${taskQueue}" answers within ${PATIENCE_MS / 1000} s: it is gone, or busy.`
        : `The worker cannot answer: ${temporalReason(error)}`,
    };
  }
};
