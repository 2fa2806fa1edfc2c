import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { RunOfId, Temporal } from "./connection/temporal.ts";
import type { Event } from "./history.ts";

interface Reading extends Pick<Temporal, "client"> {
  readonly connection: Pick<Temporal["connection"], "workflowService">;
}

/** Reads the arguments of a run as Temporal has them, encoded; the client would decode them. */
export const readFirstEvent = async (
  { client, connection }: Reading,
  { runId, workflowId }: RunOfId,
): Promise<Event> => {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [first] = history?.events ?? [];
  if (!first?.workflowExecutionStartedEventAttributes)
    throw new Error(`The history of ${workflowId} does not begin with its start.`);
  return first;
};

/** Reads the arguments of a run. */
export const readArguments = async (
  reading: Reading,
  run: RunOfId,
): Promise<ReadonlyArray<unknown>> => {
  const first = await readFirstEvent(reading, run);
  return decodeArrayFromPayloads(
    reading.client.options.loadedDataConverter,
    first.workflowExecutionStartedEventAttributes?.input?.payloads,
  );
};

/** Reads the input of a run: the first argument of its workflow. */
export const readInput = async (reading: Reading, run: RunOfId): Promise<unknown> =>
  (await readArguments(reading, run))[0];
