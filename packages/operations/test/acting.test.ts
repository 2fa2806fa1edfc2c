import { type ClientOptions, defaultAssumptions } from "@durable-payments/api-core";
import { approveUpdate, cancelBatchUpdate } from "@durable-payments/protocol";
import { payout } from "@durable-payments/tools/test-data";
import { describe, expect, it } from "vitest";
import { importBatch } from "../src/batch/import.ts";
import type { Temporal } from "../src/connection/temporal.ts";
import type { OpenedJournal } from "../src/connection/journal.ts";
import { decide } from "../src/decisions/decide.ts";
import { resolveRun } from "../src/decisions/resolve.ts";
import { settle } from "../src/decisions/settle.ts";
import { cancelRun, terminateRun } from "../src/ending/end-run.ts";
import { InvalidInput } from "../src/errors.ts";
import { planPayout } from "../src/input/payout.ts";
import { pauseSends, resumeSends } from "../src/pause/pause.ts";
import { recover } from "../src/recovery/recover.ts";
import { planRetryOf, retryRun } from "../src/retry/retry.ts";
import { retryMany } from "../src/retry/retry-many.ts";
import { startRun } from "../src/start/start-run.ts";

/** Whoever reads anything of it has asked Temporal, the journal or the service. */
const unreachable = (): never => {
  throw new Error("something was asked");
};
// Nothing of them may be read, so nothing of them is there.
const temporal = new Proxy({}, { get: unreachable }) as Temporal;
const opened = new Proxy({}, { get: unreachable }) as OpenedJournal;
const service = new Proxy({}, { get: unreachable }) as ClientOptions;

const run = "invoice-1";
const planned = planPayout({ beneficiary_id: "b-1", payout }, defaultAssumptions);
const retry = {
  from: undefined,
  patch: undefined,
  assumptions: defaultAssumptions,
  decisions: "keep",
} as const;
const checked = { file: "f.csv", batch: "payouts/1", rows: 1, totals: {}, chunks: ["hash"] };
const batch = {
  startedBy: "Ada",
  approveAbove: undefined,
  window: undefined,
  overrule: undefined,
  journal: { clientId: undefined, journal: undefined },
};
const observer = {
  onRows: () => undefined,
  onFound: () => undefined,
  onChunk: () => undefined,
  onWritten: () => undefined,
};

type Operation = (by: string, reason: string) => Promise<unknown>;

/** All that takes the name of who acts. */
const operations: Readonly<Record<string, Operation>> = {
  startRun: (startedBy) => startRun(temporal, run, planned, { startedBy, journal: batch.journal }),
  importBatch: (startedBy) => importBatch(temporal, checked, { ...batch, startedBy }, observer),
  resumeSends: (by) => resumeSends(temporal, by),
  resolveRun: (by) =>
    resolveRun(temporal, run, {
      by,
      question: "1-9f",
      decision: { resend: true },
      assumptions: defaultAssumptions,
    }),
  approve: (by) => decide(temporal, run, approveUpdate, { by, hash: "h", approve: true }),
  cancelBatch: (by) => decide(temporal, run, cancelBatchUpdate, { by }),
  recover: (by) => recover(temporal, opened, { by, since: new Date(0), service }),
};

/** All that takes a reason, too. */
const reasoned: Readonly<Record<string, Operation>> = {
  planRetryOf: (by, reason) => planRetryOf(temporal, run, { ...retry, by, reason }),
  retryRun: (by, reason) => retryRun(temporal, run, { ...retry, by, reason }),
  retryMany: (by, reason) =>
    retryMany(temporal, [{ workflowId: run, runId: "r" }], {
      ...retry,
      by,
      reason,
      isDryRun: false,
      rate: 5,
    }),
  settle: (by, reason) => settle(temporal, run, { by, reason, step: undefined, found: undefined }),
  cancelRun: (by, reason) => cancelRun(temporal, run, { by, reason }),
  terminateRun: (by, reason) => terminateRun(temporal, run, { by, reason }),
  pauseSends: (by, why) => pauseSends(temporal, { by, why }),
  importBatch: (startedBy, overrule) =>
    importBatch(temporal, checked, { ...batch, startedBy, overrule }, observer),
  resolveRun: (by, abandon) =>
    resolveRun(temporal, run, {
      by,
      question: "1-9f",
      decision: { abandon },
      assumptions: defaultAssumptions,
    }),
  reject: (by, reject) => decide(temporal, run, approveUpdate, { by, hash: "h", reject }),
  cancelBatch: (by, why) => decide(temporal, run, cancelBatchUpdate, { by, why }),
};

const outcomeOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "done",
    (error: unknown) => error,
  );

describe.each(Object.entries({ ...operations, ...reasoned }))("%s", (_, operation) => {
  it.each([
    ["", "must not be empty"],
    [" \t", "must not be empty"],
    ["\u200B\u3000", "must not be empty"],
    ["Ada\n", "must have no control characters"],
    ["Ada\u0000", "must have no control characters"],
    ["\uD800Ada", "must have whole characters only"],
    ["A".repeat(201), "must have at most 200 characters"],
  ])("is done by nobody who is called %j", async (by, problem) => {
    const error = await outcomeOf(operation(by, "checked"));
    expect(error).toBeInstanceOf(InvalidInput);
    expect((error as InvalidInput).message).toContain(`) ${problem}.`);
  });

  it("is done by who has a name, as far as this goes", async () => {
    expect(await outcomeOf(operation("Ægir Ó’Brien (2)", "checked"))).not.toBeInstanceOf(
      InvalidInput,
    );
  });
});

describe.each(Object.entries(reasoned))("%s", (_, operation) => {
  it.each([
    ["", "must not be empty"],
    ["  ", "must not be empty"],
    ["a\u0000b", "must have no control characters"],
    ["\uDC00a", "must have whole characters only"],
    ["a".repeat(1001), "must have at most 1000 characters"],
  ])("is done for no such reason as %j", async (reason, problem) => {
    const error = await outcomeOf(operation("Ada", reason));
    expect(error).toBeInstanceOf(InvalidInput);
    expect((error as InvalidInput).message).toContain(`) ${problem}.`);
  });
});
