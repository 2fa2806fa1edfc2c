// The ledger knows how runs have ended, although Temporal forgets them, and visibility lags.
import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { Client } from "@temporalio/client";
import { ServiceError, WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, RetryState } from "@temporalio/common";
import { msToTs } from "@temporalio/common/lib/time.js";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { endsOf } from "../../src/tracker/ends.ts";
import { ACCOUNT } from "../support/rows.ts";

const MINUTE_MS = 60_000;

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  /** By Temporal's code. */
  readonly status: number;
  readonly startedAt: number;
  readonly closedAt?: number;
  readonly cause?: Error;
}

interface DescribedRun {
  readonly execution: { readonly workflowId: string };
}

const OPEN = 1;
const COMPLETED = 2;
const FAILED = 3;

/** A client whose visibility lists these runs, except those with an `unlisted` id, which it describes. */
const clientOf = (runs: Array<Run>, unlisted: ReadonlyArray<string> = []) => {
  const infoOf = ({ closedAt, runId, startedAt, status, workflowId }: Run) => ({
    execution: { workflowId, runId },
    status,
    startTime: msToTs(startedAt),
    ...(closedAt !== undefined && { closeTime: msToTs(closedAt) }),
  });
  const listWorkflowExecutions = async ({ query }: { readonly query: string }) => {
    const since = Date.parse(/>= "([^"]+)"/.exec(query)?.[1] ?? "");
    const isMeant = ({ closedAt, runId, startedAt, workflowId }: Run): boolean => {
      if (unlisted.includes(workflowId) || unlisted.includes(runId)) return false;
      if (query.startsWith("WorkflowId")) return query.includes(`"${workflowId}"`);
      return query.startsWith("CloseTime >=")
        ? (closedAt ?? 0) >= since
        : closedAt === undefined && startedAt >= since;
    };
    return { executions: runs.filter(isMeant).map(infoOf) };
  };
  const describeWorkflowExecution = async ({ execution: { workflowId } }: DescribedRun) => {
    const run = runs
      .filter((one) => one.workflowId === workflowId)
      .toSorted((one, next) => next.startedAt - one.startedAt)[0];
    const fields = { code: 5, details: "not found", metadata: { get: () => [] } };
    if (run === undefined) throw Object.assign(new Error("not found"), fields);
    return { workflowExecutionInfo: infoOf(run) };
  };
  const getHandle = (_: string, runId?: string) => ({
    result: async () => {
      const cause = runs.find((one) => one.runId === runId)?.cause;
      if (cause instanceof ServiceError) throw cause;
      throw new WorkflowFailedError("failed", cause, RetryState.NON_RETRYABLE_FAILURE);
    },
  });
  // Of a client, only this is asked for.
  return {
    options: { namespace: "default" },
    workflowService: { describeWorkflowExecution, listWorkflowExecutions },
    workflow: { getHandle },
  } as unknown as Client;
};

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
});

const start = (workflowId: string) =>
  ledger.recordStart(
    {
      account: ACCOUNT,
      workflowId,
      runId: null,
      type: "custom",
      batch: null,
      batchRow: null,
      amount: null,
      currency: null,
      payee: null,
      reference: null,
    },
    { by: "ada", how: "test", value: { type: "custom", content: "c" } },
  );

const endOf = async (workflowId: string) => (await ledger.runs({ workflowIds: [workflowId] }))[0];

const now = Date.now();
const ends = (client: Client, of: Ledger = ledger) =>
  endsOf({ client, ledger: of, holder: "one", begunAt: now });

/** The ledger, when a start would have been listed. */
const inTwoMinutes = (): Ledger => ({
  ...ledger,
  state: async () => ({ ...(await ledger.state()), now: Date.now() + 2 * MINUTE_MS }),
});

const failed: Run = {
  workflowId: "run-1",
  runId: "r-1",
  status: FAILED,
  startedAt: now - MINUTE_MS,
  closedAt: now - 1_000,
  cause: ApplicationFailure.create({
    type: "Refused",
    message: "No account DE89370400440532013000",
  }),
};

it("an end is recorded with its type and its reason, without account numbers", async () => {
  await start("run-1");
  await ends(clientOf([failed])).recent();
  expect(await endOf("run-1")).toMatchObject({
    endState: "failed",
    endedAt: failed.closedAt,
    endType: "Refused",
    endReason: "No account …3000",
    runId: "r-1",
    status: "failed",
  });
});

it("an open run that nobody has recorded began at its start in Temporal, not with its first write", async () => {
  const open = { workflowId: "run-1", runId: "r-1", status: OPEN, startedAt: now - MINUTE_MS };
  const planned = { amount: null, currency: null, payee: null, reference: null };
  const run = { ...planned, account: ACCOUNT, type: "custom", batch: null, batchRow: null };
  await ledger.recordRun({ ...run, workflowId: "run-1", runId: "r-1" }, now);
  await ends(clientOf([open])).recent();
  expect(await endOf("run-1")).toMatchObject({ endState: null, startedAt: now - MINUTE_MS });
});

it("the latest run of an id counts, and opens it again", async () => {
  await start("run-1");
  const again = { workflowId: "run-1", runId: "r-2", status: OPEN, startedAt: now };
  const runs: Array<Run> = [failed];
  const { recent } = ends(clientOf(runs));
  await recent();
  runs.unshift(again);
  await recent();
  expect(await endOf("run-1")).toMatchObject({ endState: null, status: "running", runId: "r-2" });
  runs[0] = { ...again, status: COMPLETED, closedAt: now + 5_000 };
  await recent();
  expect(await endOf("run-1")).toMatchObject({ endState: "succeeded", status: "succeeded" });
});

it.each(["recent", "known"] as const)(
  "a run that visibility does not list yet is not replaced by the one before it (%s)",
  async (look) => {
    await start("run-1");
    await ends(clientOf([failed])).recent();
    await ledger.reopenRun("run-1", "r-1", "r-2");
    const before = (await ledger.events(ACCOUNT)).length;
    const again = { workflowId: "run-1", runId: "r-2", status: OPEN, startedAt: now };
    // A tracker that was restarted has recorded nothing.
    await ends(clientOf([failed, again], ["r-2"]))[look]();
    expect(await endOf("run-1")).toMatchObject({ endState: null, status: "running", runId: "r-2" });
    expect((await ledger.events(ACCOUNT)).slice(before)).toEqual([]);
  },
);

it("a run that the ledger does not know is left alone", async () => {
  await ends(clientOf([failed])).recent();
  expect(await endOf("run-1")).toBeUndefined();
});

it("one tracker at a time asks Temporal", async () => {
  await start("run-1");
  await ledger.lease("ends of runs", "another", 20_000);
  await ends(clientOf([failed])).recent();
  expect(await endOf("run-1")).toMatchObject({ endState: null });
});

it("an end before the watermark is found by its id", async () => {
  await start("run-1");
  const client = clientOf([{ ...failed, closedAt: now - 60 * MINUTE_MS, startedAt: 0 }]);
  await ends(client).recent();
  expect(await endOf("run-1")).toMatchObject({ endState: null });
  await ends(client).known();
  expect(await endOf("run-1")).toMatchObject({ endState: "failed" });
});

it("an id that Temporal does not know is missing, and open again once it is known", async () => {
  await start("run-1");
  const runs: Array<Run> = [];
  await ends(clientOf(runs)).known();
  // Its start is about to be listed.
  expect(await endOf("run-1")).toMatchObject({ endState: null });
  await ends(clientOf(runs), inTwoMinutes()).known();
  expect(await endOf("run-1")).toMatchObject({ endState: "missing", status: "missing" });
  runs.push({ workflowId: "run-1", runId: "r-2", status: OPEN, startedAt: now });
  await ends(clientOf(runs), inTwoMinutes()).known();
  expect(await endOf("run-1")).toMatchObject({ endState: null, status: "running" });
});

it("a run that visibility does not list yet is described, and not missing", async () => {
  await start("run-1");
  const run = { workflowId: "run-1", runId: "r-1", status: OPEN, startedAt: now };
  await ends(clientOf([run], ["run-1"]), inTwoMinutes()).known();
  expect(await endOf("run-1")).toMatchObject({ endState: null });
});

it("an end that cannot be read delays no other, and is read again", async () => {
  await start("run-1");
  await start("run-2");
  const unread = { ...failed, cause: new ServiceError("unavailable") };
  const runs = [unread, { ...failed, workflowId: "run-2", runId: "r-2" }];
  const { recent } = ends(clientOf(runs));
  await expect(recent()).rejects.toThrow("The end of a run could not be read: unavailable");
  expect(await endOf("run-2")).toMatchObject({ endState: "failed" });
  expect(await endOf("run-1")).toMatchObject({ endState: null });
  runs[0] = failed;
  await recent();
  expect(await endOf("run-1")).toMatchObject({ endState: "failed" });
});

it("a row of a file is missing only after its start", async () => {
  const batch = "payouts/1";
  const details = { id: batch, account: ACCOUNT, type: "payout", file: "f", contentHash: "c" };
  const who = {
    createdBy: "ada",
    createdAt: 0,
    approvedBy: null,
    details: "{}",
    chunks: 1,
    rows: 2,
  };
  await ledger.saveBatch(batch, () => ({
    batch: { ...details, ...who, state: "needsApproval" as const },
  }));
  for (const number of [1, 2]) {
    const workflowId = `payout/${number}`;
    const payment = { amount: "1.00", currency: "EUR", payee: null, reference: null };
    await ledger.saveRows(batch, [
      {
        number,
        workflowId,
        fingerprint: workflowId,
        terms: "t",
        mark: null,
        shown: null,
        state: number === 1 ? "started" : "waiting",
        message: null,
        ...payment,
      },
    ]);
    await ledger.recordStart(
      {
        account: ACCOUNT,
        workflowId,
        runId: null,
        type: "payout",
        batch,
        batchRow: number,
        ...payment,
      },
      { by: "ada", how: "test", value: { type: "payout", content: workflowId } },
    );
  }
  await ends(clientOf([]), inTwoMinutes()).known();
  expect(await endOf("payout/1")).toMatchObject({ endState: "missing" });
  expect(await endOf("payout/2")).toMatchObject({ endState: null });
});
