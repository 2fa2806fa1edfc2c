import { defaultPayloadConverter } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { Temporal } from "../../src/connection/temporal.ts";

const { QueryResultType } = proto.temporal.api.enums.v1;

/**
 * Answer the queries to the runs of a task queue, as whoever reaches Temporal can: with anything, without the
 * code of a workflow.
 *
 * @param answerOf what is answered, by the id of the run.
 * @returns ends it.
 */
export const answerQueries = (
  { client, connection }: Temporal,
  taskQueue: string,
  answerOf: (workflowId: string) => unknown,
): (() => Promise<void>) => {
  const over = new AbortController();
  const service = client.workflowService;
  const { namespace } = client.options;
  const answerOne = async (): Promise<void> => {
    const { queries, query, taskToken, workflowExecution } = await connection.withDeadline(
      Date.now() + 60_000,
      () => service.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
    );
    if (taskToken.length === 0) return;
    const answer = {
      payloads: [defaultPayloadConverter.toPayload(answerOf(workflowExecution?.workflowId ?? ""))],
    };
    const resultType = QueryResultType.QUERY_RESULT_TYPE_ANSWERED;
    if (query) {
      await service.respondQueryTaskCompleted({
        namespace,
        taskToken,
        completedType: resultType,
        queryResult: answer,
      });
      return;
    }
    await service.respondWorkflowTaskCompleted({
      namespace,
      taskToken,
      queryResults: Object.fromEntries(
        Object.keys(queries ?? {}).map((id) => [id, { resultType, answer }]),
      ),
    });
  };
  const poll = async (): Promise<void> => {
    while (!over.signal.aborted) {
      // A task that is late, or a query that nobody waits for any more, is no matter.
      await connection.withAbortSignal(over.signal, answerOne).catch(() => undefined);
    }
  };
  const polling = Promise.all(Array.from({ length: 4 }, poll));
  return async () => {
    over.abort();
    await polling;
  };
};
