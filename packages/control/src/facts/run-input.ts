import { readFirstEvent, type Reading } from "@durable-payments/activities";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { RunOfId } from "./connection/temporal.ts";

/** Reads the arguments of a run. */
export const readArguments = async (reading: Reading, run: RunOfId) => {
  const first = await readFirstEvent(reading, run);
  return decodeArrayFromPayloads(
    reading.client.options.loadedDataConverter,
    first.workflowExecutionStartedEventAttributes?.input?.payloads,
  );
};

/** Reads the input of a run: the first argument of its workflow. */
export const readInput = async (reading: Reading, run: RunOfId): Promise<unknown> =>
  (await readArguments(reading, run))[0];
