import { startAttributes } from "@durable-payments/activities/start-attributes";
import { makeMemoryJournal } from "@durable-payments/journal";
import { msToTs } from "@temporalio/common/lib/time.js";
import proto from "@temporalio/proto";
import { expect, it, vi } from "vitest";
import { auditRun } from "../src/audit/audit.ts";
import { listBatches } from "../src/batch/list.ts";
import { reportBatch } from "../src/batch/report.ts";
import type { Temporal } from "../src/connection/temporal.ts";
import { cancelRun, terminateRun } from "../src/ending/end-run.ts";
import { unrecordedSince } from "../src/recovery/compare.ts";
import { groupRuns } from "../src/runs/group.ts";
import { listRuns } from "../src/runs/list.ts";
import { readTimeline } from "../src/timeline/read-timeline.ts";
import { startServer } from "./support/server.ts";

const { connected, workflow } = await startServer();

const all = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const list: Array<A> = [];
  for await (const item of items) list.push(item);
  return list;
};

/** What Temporal lists once a run is listed: about a second after its start. */
const listed = <A extends { readonly workflowId: string }>(
  list: () => Promise<ReadonlyArray<A>>,
  workflowId: string,
) =>
  vi.waitFor(
    async () => {
      const found = (await list()).find((one) => one.workflowId === workflowId);
      if (found === undefined) throw new Error(`${workflowId} is not listed`);
      return found;
    },
    { timeout: 120_000, interval: 100 },
  );

const runsIn = (temporal: Temporal) => () => all(listRuns(temporal, { standing: [] }));

it("a batch with totals that are no amounts hides no other batch", () =>
  connected(async (temporal) => {
    const batch = "payouts/planted";
    await workflow.start("payoutBatch", {
      workflowId: batch,
      taskQueue: "nobody",
      typedSearchAttributes: [...startAttributes({})],
      args: [{ chunks: 1, rows: "x", totals: { EUR: "1.00 EUR", USD: 3, X: "1e99999999" } }],
      memo: { startedBy: { a: 1 }, rows: 2, totals: { EUR: "9000.00" } },
    });
    const found = await listed(() => all(listBatches(temporal)), batch);
    expect(found).toMatchObject({ rows: 0, startedBy: "somebody who is not named" });
    expect(found.totals).toEqual({});
    const { payouts } = await listed(runsIn(temporal), batch);
    expect(payouts).toEqual({ file: null, rows: 0, totals: {} });
    expect((await reportBatch(temporal, batch)).totals).toEqual({});
  }));

it("an amount that is none is in no sum", () =>
  connected(async (temporal) => {
    await workflow.start("payout", {
      workflowId: "no-amount",
      taskQueue: "nobody",
      typedSearchAttributes: [...startAttributes({})],
      args: [null],
      memo: { payment: { amount: "1.00 or so", currency: "EUR" } },
    });
    const run = await listed(runsIn(temporal), "no-amount");
    expect(groupRuns([run])).toMatchObject([{ count: 1, totals: {} }]);
  }));

it("a run whose end cannot be read is listed, and says so", () =>
  connected(async (temporal) => {
    const { connection } = temporal;
    const { namespace } = temporal.client.options;
    await workflow.start("payout", {
      workflowId: "no-end",
      taskQueue: "raw",
      args: [null],
      typedSearchAttributes: [...startAttributes({})],
    });
    const service = connection.workflowService;
    const { taskToken } = await connection.withDeadline(Date.now() + 60_000, () =>
      service.pollWorkflowTaskQueue({ namespace, taskQueue: { name: "raw" } }),
    );
    const { CommandType } = proto.temporal.api.enums.v1;
    const details = {
      payloads: [{ metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from("{,") }],
    };
    await service.respondWorkflowTaskCompleted({
      namespace,
      taskToken,
      commands: [
        {
          commandType: CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
          failWorkflowExecutionCommandAttributes: {
            failure: { message: "no", applicationFailureInfo: { type: "Abandoned", details } },
          },
        },
      ],
    });
    const failed = () => all(listRuns(temporal, { standing: ["failed"] }));
    expect(await listed(failed, "no-end")).toMatchObject({
      state: "failed",
      failure: { message: expect.stringContaining("its history cannot be read: ") as unknown },
    });
    expect(await unrecordedSince(temporal, [makeMemoryJournal()], new Date(0))).toContainEqual(
      expect.objectContaining({
        workflowId: "no-end",
        steps: [],
        unread: expect.stringContaining("Its history cannot be read: ") as unknown,
      }),
    );
    for (const read of [auditRun, readTimeline]) {
      await expect(read(temporal, "no-end")).rejects.toMatchObject({
        _tag: "Refused",
        message: expect.stringContaining("Its history cannot be read: ") as unknown,
      });
    }
  }));

it("a run whose history cannot be read can be cancelled and terminated", () =>
  connected(async (temporal) => {
    const run = await workflow.start("payout", { workflowId: "odd", taskQueue: "odd", args: [{}] });
    const { connection } = temporal;
    const { namespace } = temporal.client.options;
    const { taskToken } = await connection.withDeadline(Date.now() + 60_000, () =>
      connection.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: "odd" } }),
    );
    await connection.workflowService.respondWorkflowTaskCompleted({
      namespace,
      taskToken,
      commands: [
        {
          commandType: proto.temporal.api.enums.v1.CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
          scheduleActivityTaskCommandAttributes: {
            activityId: "1",
            activityType: { name: "createPayout" },
            taskQueue: { name: "odd" },
            input: { payloads: [{ metadata: { encoding: Buffer.from("binary/encrypted") } }] },
            startToCloseTimeout: msToTs(60_000),
          },
        },
      ],
    });
    const ending = { by: "Ada", reason: "nobody knows it" };
    expect(await cancelRun(temporal, "odd", ending)).toMatchObject({ undoes: false });
    await expect(terminateRun(temporal, "odd", ending)).rejects.toMatchObject({
      _tag: "Refused",
      message: expect.stringMatching(/^The run odd was terminated\. What it has sent/) as unknown,
    });
    expect((await run.describe()).status.name).toBe("TERMINATED");
  }));

it("what a run is to do stands in its input, whatever was written beside it", () =>
  connected(async (temporal) => {
    await workflow.start("payout", {
      workflowId: "beside",
      taskQueue: "nobody",
      args: [{ beneficiary_id: "b-1", payout: { amount: "150.00", currency: "eur" } }],
      staticSummary: "Pay 1.00 EUR to Good Ltd",
    });
    expect(await readTimeline(temporal, "beside")).toMatchObject({
      summary: "Pay 150.00 EUR to the beneficiary b-1",
    });
  }));
