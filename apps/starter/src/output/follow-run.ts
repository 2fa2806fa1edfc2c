import { isUnfinished, type Progress, utc } from "@durable-payments/protocol";
import { type Temporal, webUiLink } from "@durable-payments/operations/connection";
import {
  awaitRun,
  isOpen,
  openStateOf,
  type PendingActivity,
  type RunState,
  type RunUpdate,
  type StateName,
} from "@durable-payments/operations/runs";
import type { SubmittedRun } from "@durable-payments/operations/start";
import { unbroken } from "./styled.ts";
import { commandLine } from "./command-line.ts";
import { failureRows } from "./failure-text.ts";
import { shownWithNext } from "./next-operation.ts";
import type { Output } from "./output.ts";
import { progressLines } from "./progress-lines.ts";
import { columns, duration, fieldRows } from "./text.ts";
import { visible } from "./visible.ts";

const VERBS = {
  running: "is under way",
  waiting: "is under way, and waits",
  attention: "waits for a person",
  paused: "is paused",
  completed: "has completed",
  failed: "has failed",
  timedOut: "has timed out",
  cancelled: "was cancelled",
  terminated: "was terminated",
} as const satisfies Record<StateName, string>;

const UNFINISHED_VERB = "has ended: its payout was not complete in time";

/** A run that was started, or found, as a person reads it. */
export const describeSubmitted = (
  temporal: Temporal,
  run: RunState & Partial<Pick<SubmittedRun, "isNew">>,
): string => {
  const { isNew = false, runId, state, workflowId } = run;
  const link = webUiLink(temporal.settings, run);
  const rows: Array<readonly [string, string]> = [
    ["id", workflowId],
    ["run id", runId],
    ...("result" in run ? fieldRows(run.result) : []),
    ...("failure" in run ? failureRows(run.failure) : []),
    ["see it", commandLine("status", workflowId)],
    ...(link === undefined ? [] : [["Web UI", unbroken(link)] as const]),
  ];
  const verb = isUnfinished(run) ? UNFINISHED_VERB : VERBS[state];
  const title = isNew && isOpen(run) ? "Started" : `The run ${verb}`;
  return `${title}\n${columns(rows)}`;
};

const REDRAW_EVERY_MS = 1_000;

/** Shows the progress of a run on standard error: a line for each thing that changes. */
class RunProgress {
  readonly #run: RunState;
  readonly #output: Output;
  readonly #said = new Set<string>();
  #progress: Progress | undefined;
  #pending: ReadonlyArray<PendingActivity> = [];

  constructor(run: RunState, output: Output) {
    this.#run = run;
    this.#output = output;
  }

  show(given: RunUpdate): void {
    const update = visible(given);
    switch (update.kind) {
      case "progress":
        this.#progress = update.now;
        for (const line of progressLines(this.#run, update.before, update.now)) {
          this.#output.say(line);
        }
        this.draw();
        return;
      case "pending":
        this.#pending = update.activities;
        for (const { activity, message } of this.#pending) {
          if (message !== undefined) this.#sayOnce(`  ${activity}: ${message}`);
        }
        return;
      case "unanswered":
        this.#output.say(shownWithNext(update));
        return;
      case "answersAgain":
        this.#output.say("The run answers again.");
    }
  }

  /** How the run stands, as far as it was seen; `before` where it has not been asked. */
  stateNow(before: StateName): StateName {
    return this.#progress === undefined ? before : openStateOf(this.#progress.stage);
  }

  draw(): void {
    const step = this.#progress?.steps.findLast(({ until }) => until === undefined);
    this.#output.live(
      step &&
        `… ${step.name} since ${utc(step.since)} (${duration(Date.now() - Date.parse(step.since))})${this.#nextPoll()}`,
    );
  }

  #sayOnce(line: string): void {
    if (this.#said.has(line)) return;
    this.#said.add(line);
    this.#output.say(line);
  }

  /** When the next of the activities that are under way is tried again. */
  #nextPoll(): string {
    const [next] = this.#pending
      .flatMap(({ nextAttemptAt }) => (nextAttemptAt === undefined ? [] : [nextAttemptAt]))
      .toSorted();
    if (next === undefined) return "";
    const wait = Date.parse(next) - Date.now();
    return wait > 0 ? `, next poll in ${duration(wait)}` : "";
  }
}

const sayWhatGoesOn = (output: Output, { runId, workflowId }: RunState, state: StateName): void => {
  output.live(undefined);
  output.say(
    `Not waiting any longer; the run goes on. See it: ${commandLine("status", workflowId)}`,
  );
  if (output.json) output.answer({ workflowId, runId, state }, () => "");
};

/** Await the end of a run, showing its progress on standard error; an interruption leaves it going. */
export const followRun = async (
  temporal: Temporal,
  run: RunState,
  output: Output,
): Promise<RunState> => {
  const progress = new RunProgress(run, output);
  const redraw = setInterval(() => progress.draw(), REDRAW_EVERY_MS);
  output.onInterrupt = () => sayWhatGoesOn(output, run, progress.stateNow(run.state));
  try {
    return await awaitRun(temporal, run, (update) => progress.show(update));
  } finally {
    clearInterval(redraw);
    output.live(undefined);
    output.onInterrupt = undefined;
  }
};
