import type { BatchActivities, PayoutChunk, StartedRows } from "@durable-payments/protocol/batches";
import { NUDGE } from "@durable-payments/protocol/calls";
import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";

const { startRows } = proxyActivities<BatchActivities>({
  startToCloseTimeout: "1 hour",
  heartbeatTimeout: "30 seconds",
  retry: { initialInterval: "2 seconds", maximumInterval: "1 minute" },
});

/** How long a batch waits for a person before it looks by itself. */
const LOOK_AGAIN = "12 hours";

/**
 * Starts the rows of a part of a batch, and follows them to their ends. What became of each row is in the ledger: the
 * activity continues where an earlier attempt stopped.
 *
 * @param chunk the rows, with their inputs.
 * @returns how many have ended in which way.
 */
export async function payoutBatch(chunk: PayoutChunk): Promise<StartedRows> {
  const seen = { isNudged: false };
  const isNudged = () => seen.isNudged;
  setHandler(defineSignal(NUDGE), () => {
    seen.isNudged = true;
  });
  for (;;) {
    seen.isNudged = false;
    const answer = await startRows(chunk);
    if (answer.is === "done") return answer;
    // Approved, resumed or rejected: whoever decides nudges.
    await condition(isNudged, LOOK_AGAIN);
  }
}
