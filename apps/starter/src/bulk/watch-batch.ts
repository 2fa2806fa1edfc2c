import { STEP } from "@durable-payments/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { commandLines } from "../output/command-line.ts";
import type { Output } from "../output/output.ts";
import { duration } from "../output/text.ts";
import { type BatchReport, reportBatch, unpaid } from "./batch-report.ts";

const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
const SAY_EVERY_MS = 30_000;
const OUTAGE_OUTLIVED_MS = 10 * 60_000;

/** How far back the rate looks. */
const RATE_OVER_MS = 60_000;

const BAR_WIDTH = 10;

/** How many rows had ended when. */
interface Sample {
  readonly at: number;
  readonly ended: number;
}

/** Rows that have come to their end, one way or the other. */
const endedRows = ({ progress, runs }: BatchReport): number =>
  runs.completed +
  unpaid(runs) +
  (progress === null ? 0 : progress.known + progress.conflicting + (progress.rejected ?? 0));

/** One line within 80 columns: `████░░░░░░ 45 %  4500 done, 3 failed, 1 asking, 48.0/s, 2 min left`. */
export const progressLine = (report: BatchReport, samples: ReadonlyArray<Sample>): string => {
  const { progress, rows, runs, stage } = report;
  // After a cancellation no more rows come to it than were started.
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
    ...(runs.asking > 0 ? [`${runs.asking} asking`] : []),
    ...(runs.waiting > 0 && rate === 0 ? [`${runs.waiting} waiting`] : []),
    ...(stage === STEP.awaitApproval ? ["awaits approval"] : []),
    ...(progress?.cancelled ? ["cancelled"] : progress?.paused ? ["paused"] : []),
    ...(rate > 0
      ? [`${rate.toFixed(1)}/s`, `${duration(((all - ended) / rate) * 1000)} left`]
      : []),
  ];
  return `${bar} ${Math.floor(part * 100)} %  ${parts.join(", ")}`;
};

/** Waits until a bulk run has ended, and shows how it gets on; an outage of Temporal is outlived. */
export const awaitBatch = async (
  temporal: Temporal,
  workflowId: string,
  output: Output,
): Promise<BatchReport> => {
  let samples: Array<Sample> = [];
  let saidAt = Date.now();
  let troubledSince: number | undefined;
  let shown = "";
  output.onInterrupt = () => {
    output.live(undefined);
    output.say(
      `Not waiting any longer; it goes on. See it:\n${commandLines("  ", "payouts", "status", workflowId)}`,
    );
  };
  try {
    for (let pause = SHORTEST_PAUSE_MS; ;) {
      try {
        const report = await reportBatch(temporal, workflowId);
        troubledSince = undefined;
        if (report.status !== "running") return report;
        const now = Date.now();
        samples = [...samples, { at: now, ended: endedRows(report) }].filter(
          ({ at }) => at >= now - RATE_OVER_MS,
        );
        const line = progressLine(report, samples);
        output.live(line);
        if (!output.isLive && line !== shown && now >= saidAt + SAY_EVERY_MS) {
          output.say(line);
          saidAt = now;
        }
        pause = line === shown ? Math.min(LONGEST_PAUSE_MS, pause * 1.5) : SHORTEST_PAUSE_MS;
        shown = line;
      } catch (error) {
        if (!isNoAnswer(error)) throw error;
        if (troubledSince === undefined) output.say("Temporal does not answer. Trying again …");
        troubledSince ??= Date.now();
        if (Date.now() - troubledSince > OUTAGE_OUTLIVED_MS) throw error;
      }
      await sleep(pause);
    }
  } finally {
    output.live(undefined);
    output.onInterrupt = undefined;
  }
};
