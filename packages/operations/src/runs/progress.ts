import { messageOf } from "@durable-payments/api-core/values";
import {
  maskFreeTexts,
  type Progress,
  progressQuery,
  temporalReason,
} from "@durable-payments/protocol";
import * as Result from "effect/Result";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { readSentByOthers } from "../history/read-execution-history.ts";
import { masked } from "../history/masked.ts";
import { sentByOthersText } from "../history/sent-by-others.ts";
import { countPollers, noWorker, type Unanswered } from "../connection/workers.ts";

/** Where a run stands by its own account, or why it cannot be asked. */
export type Asked =
  | { readonly _tag: "Answered"; readonly progress: Progress }
  | ({ readonly _tag: "NoAnswer" } & Unanswered);

/** With what a command does beside, a worker that hangs is waited for no longer than three seconds. */
const PATIENCE_MS = 2_000;

/** Temporal shows a worker that is very busy as gone: it gets a chance, but is not waited for. */
const PATIENCE_WITHOUT_WORKER_MS = 500;

/** What came of the questions that were asked about the runs of a task queue. */
interface OfQueue {
  isAnswered: boolean;
  /** Why the first had no answer. */
  lost?: Unanswered;
}

/**
 * Questions to many runs: where none of a task queue was answered, and one had no answer, the others of that
 * queue are not waited for. Those of another queue are: anybody can start a run on a queue that nobody polls.
 */
export class Questions {
  readonly #queues = new Map<string, OfQueue>();

  #of(taskQueue: string): OfQueue {
    const known = this.#queues.get(taskQueue) ?? { isAnswered: false };
    this.#queues.set(taskQueue, known);
    return known;
  }

  /** What is known without another question. */
  hopeless(taskQueue: string): Unanswered | undefined {
    const { isAnswered, lost } = this.#of(taskQueue);
    return isAnswered ? undefined : lost;
  }

  answered(taskQueue: string): void {
    this.#of(taskQueue).isAnswered = true;
  }

  /** @param others what is said of the other runs of the queue. */
  lost(taskQueue: string, others: Unanswered): void {
    this.#of(taskQueue).lost ??= others;
  }
}

/** As the server words it of a run that has no workflow task. */
const ENDED_UNBEGUN = "closed before WorkflowTaskStarted";

/** What is to be said of a run that no worker took: others of its id may have sent what it was to send. */
const endedUnbegun = async (temporal: Temporal, workflowId: string): Promise<Unanswered> => {
  const begin = "It ended before any worker took it";
  try {
    const { runId } = await temporal.client.workflow.getHandle(workflowId).describe();
    const sent = await readSentByOthers(temporal, { workflowId, runId });
    const byOthers = sentByOthersText(workflowId, sent);
    return byOthers === undefined
      ? { message: `${begin}: this run has sent nothing.` }
      : { ...byOthers, message: `${begin}. ${byOthers.message}` };
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    return {
      message: `${begin}: this run has sent nothing. What other runs of this id have sent cannot be read: ${masked(messageOf(error))}`,
    };
  }
};

const seconds = PATIENCE_MS / 1000;

const hung = (taskQueue: string): Unanswered => ({
  message: `No worker on task queue "${taskQueue}" answers within ${seconds} s: it is gone, or busy.`,
});

/** That one run is not answered may be the fault of that run. */
const notAsked = (taskQueue: string): Unanswered => ({
  message: `It was not asked: for other runs on task queue "${taskQueue}" no worker has answered within ${seconds} s. Ask it alone.`,
});

const noAnswer = (why: Unanswered): Asked => ({ _tag: "NoAnswer", ...why });

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
  const hopeless = questions.hopeless(taskQueue);
  if (hopeless !== undefined) {
    return noAnswer({ next: { operation: "describe", workflowId }, ...hopeless });
  }
  const isPolled = (await countPollers(temporal, "workflow", taskQueue)) > 0;
  const patience = isPolled ? PATIENCE_MS : PATIENCE_WITHOUT_WORKER_MS;
  try {
    const [answer, { readAnswer }] = await Promise.all([
      connection.withDeadline(Date.now() + patience, () =>
        client.workflow.getHandle(workflowId).query<unknown>(progressQuery.name),
      ),
      // Most of a start is loading: it is loaded while the worker is asked.
      import("@durable-payments/activities/answers"),
    ]);
    questions.answered(taskQueue);
    return Result.match(readAnswer.progress(answer), {
      onSuccess: (progress) => ({ _tag: "Answered", progress: maskFreeTexts(progress) }),
      onFailure: (fault) =>
        noAnswer({
          message: `What executes it on task queue "${taskQueue}" does not say where it stands. ${fault}`,
        }),
    });
  } catch (error) {
    if (!isPolled) {
      const why = noWorker(taskQueue, settings.namespace);
      questions.lost(taskQueue, why);
      return noAnswer(why);
    }
    if (isNoAnswer(error)) {
      questions.lost(taskQueue, notAsked(taskQueue));
      return noAnswer(hung(taskQueue));
    }
    if (temporalReason(error).includes(ENDED_UNBEGUN)) {
      return noAnswer(await endedUnbegun(temporal, workflowId));
    }
    return noAnswer({ message: `The worker cannot answer: ${temporalReason(error)}` });
  }
};
