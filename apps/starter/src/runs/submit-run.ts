import { userInfo } from "node:os";
import * as Option from "effect/Option";
import { type Temporal, withTemporal } from "../connection/temporal.ts";
import { badInput } from "../errors.ts";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import { readJson } from "../input/read-json.ts";
import type { PlannedRun } from "../input/planned-run.ts";
import { checkId } from "../input/run-id.ts";
import { commandLine } from "../output/command-line.ts";
import type { Output } from "../output/output.ts";
import { columns, fieldRows } from "../output/text.ts";
import { awaitEnding, type Ending, exitCodeOf } from "./run-state.ts";
import { startRun, type SubmittedRun } from "./start-run.ts";
import { RunWatch } from "./watch-run.ts";
import { webUiLink } from "./web-ui.ts";

/** What a command that starts a run is given. */
export interface SubmitFlags {
  readonly file: string;
  readonly id: Option.Option<string>;
  readonly by: Option.Option<string>;
  readonly wait: boolean;
}

/** The user of this machine; a container may have none. */
const thisUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
};

const VERBS = {
  completed: "has completed",
  failed: "has failed",
  paused: "is paused",
  running: "is under way",
} as const;

const describeSubmitted = (temporal: Temporal, run: SubmittedRun): string => {
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

const awaitRun = async (
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

/** Checks the input, starts its run or finds the one that exists, and awaits its end if asked to. */
export const submitRun = async (
  output: Output,
  { by, file, id, wait }: SubmitFlags,
  plan: (file: unknown) => PlannedRun,
): Promise<number> => {
  const planned = plan(await readJson(file));
  const workflowId = Option.match(id, { onNone: () => planned.contentId, onSome: checkId });
  const startedBy = Option.getOrElse(by, thisUser);
  if (startedBy.trim() === "") throw badInput("--by must not be empty.");
  return await withTemporal(async (temporal) => {
    const run = await startRun(temporal, workflowId, planned, startedBy);
    if (run.status !== "started") {
      output.say(`A run with the id ${workflowId} exists: nothing was started.`);
    } else if (Option.isNone(id)) {
      output.say(`The id ${workflowId} was made from the input: the same input is the same run.`);
    }
    if (run.inputDiffers) {
      output.say("Its input differs from the one given here, which is not used.");
    }
    const isOpen = run.status !== "completed" && run.status !== "failed";
    const reported = wait && isOpen ? await awaitRun(temporal, run, output) : run;
    output.answer(reported, () => describeSubmitted(temporal, reported));
    return exitCodeOf(reported);
  });
};
