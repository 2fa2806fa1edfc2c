import { tooWide } from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import type { BatchReport } from "@durable-payments/operations/batch";
import { batchText } from "../src/output/batch-text.ts";
import { exitCodeOfBatch } from "../src/commands/payouts/report-on.ts";
import { progressLine } from "../src/output/follow-batch.ts";

const report: BatchReport = {
  workflowId: "payouts/0123456789abcdef0123456789abcdef",
  runId: "r",
  state: "running",
  stage: "startPayouts",
  startedBy: "Ada",
  startedAt: "2026-11-21T09:00:00.000Z",
  closedAt: null,
  file: "payouts.csv",
  rows: 100_000,
  fileTotals: null,
  amendedRows: 0,
  totals: { EUR: "1000000.00", USD: "2500000.50" },
  progress: { rows: 100_000, done: 60_000, started: 50_000, known: 10_000, conflicting: 0 },
  runs: {
    completed: 34_990,
    failed: 8,
    cancelled: 0,
    terminated: 2,
    timedOut: 0,
    unfinished: 0,
    attention: 3,
    waiting: 14_897,
    running: 100,
  },
  others: null,
};

it("a line of progress shows what is done, failed, asking, the rate, and the time left", () => {
  const samples = [
    { at: 0, ended: 43_000 },
    { at: 40_000, ended: 45_000 },
  ];
  expect(progressLine(report, samples)).toBe(
    "████░░░░░░ 45 %  34990 done, 10000 of other files, 10 failed, 3 asking, 50.0/s, 18m 20s left",
  );
  expect(progressLine(report, [])).toContain("3 asking, 14897 waiting");
  const cancelled = { by: "Bob", since: report.startedAt };
  const progress = { ...report.progress!, cancelled };
  expect(progressLine({ ...report, progress }, samples)).toContain("75 %  34990 done");
  expect(progressLine({ ...report, stage: "awaitApproval" }, [])).toContain("awaits approval");
});

it("the text fits 80 columns", () => {
  const paused = { by: "Bob", why: "the bank reports duplicates", since: report.startedAt };
  const text = batchText({ ...report, progress: { ...report.progress!, paused } });
  expect(text).toContain("100000: 50000 started, 10000 of other files, 40000 not started");
  expect(tooWide(text)).toEqual([]);
});

it("ends well only where every row is paid", () => {
  const runs = { ...report.runs, failed: 0, terminated: 0 };
  const progress = { ...report.progress!, done: 100_000 };
  const ended = { ...report, state: "completed", runs, progress } as const;
  expect(exitCodeOfBatch(report)).toBe(0);
  expect(exitCodeOfBatch(ended)).toBe(0);
  expect(exitCodeOfBatch({ ...ended, runs: report.runs })).toBe(1);
  expect(exitCodeOfBatch({ ...ended, progress: { ...progress, done: 99_999 } })).toBe(1);
  expect(exitCodeOfBatch({ ...ended, progress: { ...progress, conflicting: 1 } })).toBe(1);
});
