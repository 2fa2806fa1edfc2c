import { WorkflowNotFoundError } from "@temporalio/client";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { NotFound } from "../errors.ts";
import { endingOfRun } from "./batch-state.ts";
import { awaitEnding, type Ending, explainedEnding, notFound, type RunEnding } from "./state.ts";
import { type RunUpdate, watchRun } from "./watch.ts";

/** A wait may last for weeks: it outlives a restart of the server. */
const OUTAGE_OUTLIVED_MS = 10 * 60_000;

/** One answer took longer than any series of failing calls: the connection was there meanwhile. */
const CONNECTED_FOR_MS = 2 * 60_000;

type Run = Readonly<Record<"runId" | "workflowId", string>>;

/** Await how a run ends, also where Temporal is away for a while. */
export const awaitEndingPatiently = async (temporal: Temporal, run: Run): Promise<Ending> => {
  let outageMs = 0;
  for (;;) {
    const began = Date.now();
    try {
      return await awaitEnding(temporal, run);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw notFound(temporal.settings, run);
      const took = Date.now() - began;
      outageMs = took > CONNECTED_FOR_MS ? 0 : outageMs + took;
      if (!isNoAnswer(error) || outageMs > OUTAGE_OUTLIVED_MS) throw error;
    }
  }
};

/**
 * Await the end of a run, and report its progress. Whoever stops waiting leaves it going; an outage of
 * Temporal is outlived.
 *
 * @param temporal the connection of `withTemporal`.
 * @param run workflow id and run id of the run.
 * @param onUpdate is called with each change.
 * @returns how it ended: `completed` with its result, or in another state with its failure.
 * @throws NotFound where there is no such run.
 */
export const awaitRun = async (
  temporal: Temporal,
  { runId, workflowId }: Run,
  onUpdate: (update: RunUpdate) => void,
): Promise<Run & RunEnding> => {
  const over = new AbortController();
  const watching = watchRun(temporal, workflowId, { onUpdate, over: over.signal }).catch(
    (error: unknown) => {
      // The wait itself reports it.
      if (!(error instanceof NotFound)) throw error;
    },
  );
  try {
    const ending = await awaitEndingPatiently(temporal, { workflowId, runId });
    const explained = await explainedEnding(temporal, { workflowId, runId }, ending);
    return { workflowId, runId, ...endingOfRun(workflowId, explained) };
  } finally {
    over.abort();
    await watching;
  }
};
