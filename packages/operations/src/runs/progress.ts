import {
  maskFreeTexts,
  type Progress,
  progressQuery,
  temporalReason,
} from "@durable-payments/protocol";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { countPollers, noWorker, type Unanswered } from "../connection/workers.ts";

/** Where a run stands by its own account, or why it cannot be asked. */
export type Asked =
  | { readonly _tag: "Answered"; readonly progress: Progress }
  | ({ readonly _tag: "NoAnswer" } & Unanswered);

/** With what a command does beside, a worker that hangs is waited for no longer than three seconds. */
const PATIENCE_MS = 2_000;

/** Temporal shows a worker that is very busy as gone: it gets a chance, but is not waited for. */
const PATIENCE_WITHOUT_WORKER_MS = 500;

/** Questions to many runs: where none was answered, and one had no answer, the others are not waited for. */
export class Questions {
  #isAnswered = false;
  #lost: Asked | undefined;

  /** What is known without another question. */
  get hopeless(): Asked | undefined {
    return this.#isAnswered ? undefined : this.#lost;
  }

  answered(asked: Asked): Asked {
    this.#isAnswered = true;
    return asked;
  }

  lost(asked: Asked): Asked {
    this.#lost = asked;
    return asked;
  }
}

const hung = (taskQueue: string): Asked => ({
  _tag: "NoAnswer",
  message: `No worker on task queue "${taskQueue}" answers within ${PATIENCE_MS / 1000} s: it is gone, or busy.`,
});

/**
 * Ask a run where it stands, which takes a worker, also where the run has ended.
 *
 * @param questions those to other runs of the same command.
 */
export const askProgress = async (
  temporal: Temporal,
  { taskQueue, workflowId }: { readonly workflowId: string; readonly taskQueue: string },
  questions = new Questions(),
): Promise<Asked> => {
  const { client, connection, settings } = temporal;
  if (questions.hopeless !== undefined) return questions.hopeless;
  const isPolled = (await countPollers(temporal, "workflow", taskQueue)) > 0;
  const patience = isPolled ? PATIENCE_MS : PATIENCE_WITHOUT_WORKER_MS;
  try {
    const progress = await connection.withDeadline(Date.now() + patience, () =>
      client.workflow.getHandle(workflowId).query(progressQuery),
    );
    return questions.answered({ _tag: "Answered", progress: maskFreeTexts(progress) });
  } catch (error) {
    if (!isPolled) {
      return questions.lost({ _tag: "NoAnswer", ...noWorker(taskQueue, settings.namespace) });
    }
    if (isNoAnswer(error)) return questions.lost(hung(taskQueue));
    return { _tag: "NoAnswer", message: `The worker cannot answer: ${temporalReason(error)}` };
  }
};
