import type { Temporal } from "../connection/temporal.ts";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import { commandLine } from "../output/command-line.ts";
import type { Output } from "../output/output.ts";
import { columns, fieldRows } from "../output/text.ts";
import { awaitEnding, type Ending } from "./run-state.ts";
import type { SubmittedRun } from "./start-run.ts";
import { RunWatch } from "./watch-run.ts";
import { webUiLink } from "./web-ui.ts";

const VERBS = {
  completed: "has completed",
  failed: "has failed",
  paused: "is paused",
  running: "is under way",
} as const;

/** A run that was started, or found, as a person reads it. */
export const describeSubmitted = (temporal: Temporal, run: SubmittedRun): string => {
  const { runId, status, workflowId } = run;
  const link = webUiLink(temporal.settings, run);
  const rows: Array<readonly [string, string]> = [
    ["id", workflowId],
    ["run id", runId],
    ...(run.status === "completed" ? fieldRows(run.result) : []),
    ...(run.status === "failed" ? fieldRows(run.failure) : []),
    ["see it", commandLine("status", workflowId)],
    ...(link === undefined ? [] : [["Web UI", link] as const]),
  ];
  const title = status === "started" ? "Started" : `The run ${VERBS[status]}`;
  return `${title}\n${columns(rows)}`;
};

const sayWhatGoesOn = (output: Output, { runId, workflowId }: SubmittedRun): void => {
  output.live(undefined);
  output.say(
    `Not waiting any longer; the run goes on. See it: ${commandLine("status", workflowId)}`,
  );
  if (output.json) output.answer({ workflowId, runId, status: "running" }, () => "");
};

/** A wait may last for weeks: it outlives a restart of the server. */
const OUTAGE_OUTLIVED_MS = 10 * 60_000;

/** One answer took longer than any series of failing calls: the connection was there meanwhile. */
const CONNECTED_FOR_MS = 2 * 60_000;

const awaitEndingPatiently = async (temporal: Temporal, run: SubmittedRun): Promise<Ending> => {
  let outageMs = 0;
  for (;;) {
    const began = Date.now();
    try {
      return await awaitEnding(temporal, run);
    } catch (error) {
      const took = Date.now() - began;
      outageMs = took > CONNECTED_FOR_MS ? 0 : outageMs + took;
      if (!isNoAnswer(error) || outageMs > OUTAGE_OUTLIVED_MS) throw error;
    }
  }
};

/** Awaits the end of a run, telling on standard error how it gets on; an interruption leaves it going. */
export const awaitRun = async (
  temporal: Temporal,
  run: SubmittedRun,
  output: Output,
): Promise<SubmittedRun> => {
  const over = new AbortController();
  const watching = new RunWatch(temporal, run.workflowId, output).follow(over.signal);
  output.onInterrupt = () => sayWhatGoesOn(output, run);
  try {
    const ending = await awaitEndingPatiently(temporal, run);
    const { inputDiffers, runId, workflowId } = run;
    return { workflowId, runId, ...ending, ...(inputDiffers && { inputDiffers }) };
  } finally {
    over.abort();
    await watching;
    output.onInterrupt = undefined;
  }
};
