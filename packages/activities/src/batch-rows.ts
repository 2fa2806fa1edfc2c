import { type Client, isGrpcServiceError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";

/** One row of a bulk file: the payout run that it becomes. */
export interface BatchRow {
  /** Line of the file on which it begins. */
  readonly row: number;
  /** The row's own key. */
  readonly key: string;
  /** Workflow id of its run, made of the key. */
  readonly workflowId: string;
  /** Stands for what is paid to whom; options are not in it. */
  readonly fingerprint: string;
  readonly currency: string;
  /** One line for the Web UI. */
  readonly summary: string;
  /** Input of the workflow `payout`. */
  readonly input: object;
}

/** gRPC's code. */
const NOT_FOUND = 5;

/** Workflow id of a page of rows; the first is 1. */
export const pageId = (batch: string, page: number): string => `${batch}/page/${page}`;

/**
 * The rows of a page: what the workflow that keeps it was started with.
 *
 * @throws PageMissing, which no retry mends, when the page was deleted
 */
export const readPage = async (
  { options, workflow }: Client,
  id: string,
): Promise<ReadonlyArray<BatchRow>> => {
  const { events } = await workflow
    .getHandle(id)
    .fetchHistory()
    .catch((error: unknown) => {
      const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
      if (code !== NOT_FOUND) throw error;
      throw ApplicationFailure.nonRetryable(
        `The rows of ${id} are gone: import the file once more; what it has paid is not paid again.`,
        "PageMissing",
      );
    });
  const { payloads } = events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? {};
  const [rows] = await decodeArrayFromPayloads(options.loadedDataConverter, payloads);
  // The starter wrote them, with the id of this page.
  return rows as ReadonlyArray<BatchRow>;
};
