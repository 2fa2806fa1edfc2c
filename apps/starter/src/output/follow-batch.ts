import type { Temporal } from "@durable-payments/operations/connection";
import {
  awaitBatch,
  type BatchReport,
  type BatchUpdate,
  unpaid,
} from "@durable-payments/operations/batch";
import { STEP } from "@durable-payments/protocol";
import { commandLines } from "./command-line.ts";
import type { Output } from "./output.ts";
import { duration } from "./text.ts";

const SAY_EVERY_MS = 30_000;

/** Over how long the rate is measured. */
const RATE_OVER_MS = 60_000;

const BAR_WIDTH = 10;

/** How many rows had ended when. */
interface Sample {
  readonly at: number;
  readonly ended: number;
}

/** Rows that have ended, one way or the other. */
const endedRows = ({ progress, runs }: BatchReport): number =>
  runs.completed +
  unpaid(runs) +
  (progress === null ? 0 : progress.known + progress.conflicting + (progress.rejected ?? 0));

/** One line within 80 columns: `████░░░░░░ 45 %  4500 done, 3 failed, 1 asking, 48.0/s, 2 min left`. */
export const progressLine = (report: BatchReport, samples: ReadonlyArray<Sample>): string => {
  const { progress, rows, runs, stage } = report;
  // After a cancellation there are no more rows than were started.
  const all = progress?.cancelled ? progress.done : rows;
  const ended = Math.min(all, endedRows(report));
  const part = all === 0 ? 1 : ended / all;
  const full = Math.floor(part * BAR_WIDTH);
  const bar = "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
  const [first] = samples;
  const last = samples.at(-1);
  const rate =
    first && last && last.at > first.at
      ? ((last.ended - first.ended) * 1000) / (last.at - first.at)
      : 0;
  const failed = unpaid(runs) - runs.unfinished;
  const known = progress?.known ?? 0;
  const parts = [
    `${runs.completed} done`,
    // How they stand is not asked for on the way.
    ...(known > 0 ? [`${known} of other files`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(runs.unfinished > 0 ? [`${runs.unfinished} not in time`] : []),
    ...(runs.attention > 0 ? [`${runs.attention} asking`] : []),
    ...(runs.waiting > 0 && rate === 0 ? [`${runs.waiting} waiting`] : []),
    ...(stage === STEP.awaitApproval ? ["awaits approval"] : []),
    ...(progress?.cancelled ? ["cancelled"] : progress?.paused ? ["paused"] : []),
    ...(rate > 0
      ? [`${rate.toFixed(1)}/s`, `${duration(((all - ended) / rate) * 1000)} left`]
      : []),
  ];
  return `${bar} ${Math.floor(part * 100)} %  ${parts.join(", ")}`;
};

/** Shows the progress of a batch: on a terminal by a line that is overwritten, else by one now and then. */
class BatchProgress {
  readonly #output: Output;
  #samples: ReadonlyArray<Sample> = [];
  #saidAt = Date.now();
  #shown = "";

  constructor(output: Output) {
    this.#output = output;
  }

  show(update: BatchUpdate): void {
    switch (update.kind) {
      case "unanswered":
        this.#output.say("Temporal does not answer. Runs keep what they have done. Trying again …");
        return;
      case "noWorker":
        this.#output.say(
          "No worker answers for the batch: it has stopped, or is busy. Payouts keep what they have done. Trying again …",
        );
        return;
      case "workerAgain":
        this.#output.say("A worker answers for the batch again.");
        return;
      case "othersUnderWay":
        this.#output.live(
          `… ${update.runs} rows that other files started, or that were retried, are under way`,
        );
        return;
      case "report":
        this.#showReport(update.report);
    }
  }

  #showReport(report: BatchReport): void {
    const now = Date.now();
    this.#samples = [...this.#samples, { at: now, ended: endedRows(report) }].filter(
      ({ at }) => at >= now - RATE_OVER_MS,
    );
    const line = progressLine(report, this.#samples);
    this.#output.live(line);
    if (!this.#output.isLive && line !== this.#shown && now >= this.#saidAt + SAY_EVERY_MS) {
      this.#output.say(line);
      this.#saidAt = now;
    }
    this.#shown = line;
  }
}

/** Make what shows the updates of a batch. */
export const showBatch = (output: Output): ((update: BatchUpdate) => void) => {
  const progress = new BatchProgress(output);
  return (update) => progress.show(update);
};

/** Await the end of a batch, and show its progress; an interruption leaves it going. */
export const followBatch = async (
  temporal: Temporal,
  workflowId: string,
  output: Output,
): Promise<BatchReport> => {
  output.onInterrupt = () => {
    output.live(undefined);
    output.say(
      `Not waiting any longer; the batch goes on. See it:\n${commandLines("  ", "payouts", "status", workflowId)}`,
    );
  };
  try {
    return await awaitBatch(temporal, workflowId, showBatch(output));
  } finally {
    output.live(undefined);
    output.onInterrupt = undefined;
  }
};
