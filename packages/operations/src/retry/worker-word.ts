import type { Fault } from "@durable-payments/api-core";
import type { ReadReset } from "@durable-payments/activities";
import { isRecord } from "@durable-payments/api-core/values";
import { setTimeout as sleep } from "node:timers/promises";
import type { Temporal } from "../connection/temporal.ts";
import { readRun } from "../history/read-run.ts";

/** How long a retry waits for what a worker says of an amendment. */
const WITHIN_MS = 10_000;
const EVERY_MS = 250;

const isOfRun = (answer: unknown, runId: string): answer is ReadReset =>
  isRecord(answer) && answer["runId"] === runId;

/**
 * Wait until a worker has said whether a retried run may go on with its amended input: it alone knows the inputs of a
 * user's own workflows.
 *
 * @param runId the run that the reset has made.
 * @returns every fault, none where it has accepted it; undefined where no worker has taken the run within 10 seconds.
 */
export const awaitWorkersWord = async (
  { client }: Temporal,
  workflowId: string,
  runId: string,
): Promise<ReadonlyArray<Fault> | undefined> => {
  const until = Date.now() + WITHIN_MS;
  const handle = client.workflow.getHandle(workflowId, runId);
  for (;;) {
    for (const change of readRun(await handle.fetchHistory()).changes) {
      if (change.by === "reset" && isOfRun(change.answer, runId))
        return change.answer.refused ?? [];
    }
    if (Date.now() > until) return undefined;
    await sleep(EVERY_MS);
  }
};
