import { decodeHistory } from "@durable-payments/codec";
import { messageOf } from "@durable-payments/api-core/values";
import type { Connection } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { Unreadable } from "../history/events.ts";

type Service = Connection["workflowService"];
type HistoryRequest = Parameters<Service["getWorkflowExecutionHistory"]>[0];
type ReverseRequest = Parameters<Service["getWorkflowExecutionHistoryReverse"]>[0];

/** The readings of histories, as far as they are called: with a request alone. */
interface HistoryReadings {
  readonly getWorkflowExecutionHistory: (request: HistoryRequest) => Promise<object>;
  readonly getWorkflowExecutionHistoryReverse: (request: ReverseRequest) => Promise<object>;
}

/**
 * Have a connection decode the histories that it reads: the SDK's `fetchHistory` gives them as Temporal stores them.
 * The codecs leave alone what they have decoded, so that the SDK may decode a result once more.
 *
 * @throws Unreadable from the readings, where a key is missing or a payload was changed.
 */
export const decodeHistoriesOf = (
  { workflowService }: Connection,
  dataConverter: DataConverter,
): void => {
  const decoded = async <
    Page extends { readonly history?: temporal.api.history.v1.IHistory | null },
  >(
    page: Page,
  ): Promise<Page> => {
    if (!page.history) return page;
    try {
      await decodeHistory(page.history, dataConverter);
      return page;
    } catch (error) {
      throw new Unreadable(messageOf(error));
    }
  };
  const read = workflowService.getWorkflowExecutionHistory.bind(workflowService);
  const readReverse = workflowService.getWorkflowExecutionHistoryReverse.bind(workflowService);
  const readings: HistoryReadings = {
    getWorkflowExecutionHistory: async (request) => decoded(await read(request)),
    getWorkflowExecutionHistoryReverse: async (request) => decoded(await readReverse(request)),
  };
  Object.assign(workflowService, readings);
};
