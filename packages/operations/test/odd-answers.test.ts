import { startAttributes } from "@durable-payments/activities/start-attributes";
import { PAYMENT_STAGE } from "@durable-payments/protocol";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { reportBatch } from "../src/batch/report.ts";
import { temporalSettings } from "../src/connection/settings.ts";
import { connectTemporal } from "../src/connection/temporal.ts";
import { listWaitingRuns, type WaitingRun } from "../src/decisions/human-tasks.ts";
import { readApproval } from "../src/decisions/resolve.ts";
import { reportRun } from "../src/runs/report.ts";
import { answerQueries } from "./support/answering.ts";
import { startServer } from "./support/server.ts";

const { address, connected, workflow } = await startServer();

const since = "2026-11-22T10:00:00.000Z";
const approval = { payment: { amount: "20.00" }, hash: "b74c", since };
const task = {
  question: "1-9f3c07aa",
  step: "createPayout",
  operation: "createPayout",
  reason: "its answer was lost",
  sent: {},
  candidates: [],
  actions: ["resend"],
  consequences: {},
  idsWanted: [],
  since,
};
const sound = {
  workflow: "payout",
  stage: "awaitApproval",
  steps: [],
  ids: {},
  shown: {},
  notes: [],
};

/** What anybody's worker can answer where a run is asked where it stands. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  null: null,
  number: 5,
  text: "x",
  list: [],
  empty: {},
  "without steps": { ...sound, steps: undefined },
  "no step": { ...sound, steps: [null] },
  "a step of another kind": { ...sound, steps: [{ name: 5, status: "zz", since: null }] },
  "no time": { ...sound, steps: [{ name: "createPayout", status: "running", since: "x" }] },
  "ids that are none": { ...sound, ids: { payout_id: 5 } },
  "a task that is text": { ...sound, attention: "x" },
  "no time of the task": { ...sound, attention: { ...task, since: "x" } },
  "no actions": { ...sound, attention: { ...task, actions: null } },
  "another action": { ...sound, attention: { ...task, actions: ["constructor"] } },
  "no candidates": { ...sound, attention: { ...task, candidates: null } },
  "a hash that is no text": { ...sound, shown: { approval: { ...approval, hash: 5 } } },
  "people that are no list": { ...sound, shown: { approval: { ...approval, resentBy: {} } } },
  "no time of the approval": { ...sound, shown: { approval: { ...approval, since: 5 } } },
};

const plant = (workflowId: string, taskQueue: string) =>
  workflow.start("payout", {
    workflowId,
    taskQueue,
    args: [],
    typedSearchAttributes: [
      ...startAttributes({}).filter(({ key }) => key.name !== PAYMENT_STAGE.name),
      { key: PAYMENT_STAGE, value: "awaitApproval" },
    ],
  });

afterEach(async () => {
  const open = workflow.list({ query: 'ExecutionStatus = "Running"' });
  for await (const { workflowId } of open) {
    if (workflowId !== "sound") await workflow.getHandle(workflowId).terminate();
  }
});

const close: Array<() => Promise<void>> = [];

beforeAll(async () => {
  const temporal = await connectTemporal(temporalSettings({ TEMPORAL_ADDRESS: address }));
  const stop = answerQueries(temporal, "answered", (id) =>
    id === "sound" ? { ...sound, shown: { approval }, later: 1 } : ANSWERS[id],
  );
  close.push(async () => {
    await stop();
    await temporal.connection.close();
  });
  await plant("sound", "answered");
});
afterAll(() => Promise.all(close.map((one) => one())));

const LATE = /within 2 s|No worker polls task queue "answered"/;

/** The runs that are listed as waiting, once they are these, and each is answered that can be. */
const waiting = (ids: ReadonlyArray<string>) =>
  connected((temporal) =>
    vi.waitFor(
      async () => {
        const found = new Map(
          (await listWaitingRuns(temporal)).map((run) => [run.workflowId, run]),
        );
        expect([...found.keys()].toSorted()).toEqual([...ids, "sound"].toSorted());
        // This machine may be busy.
        const late = [...found.values()].filter((run) => LATE.test(reasonOf(run)));
        expect(late).toEqual([]);
        return found;
      },
      { timeout: 120_000 },
    ),
  );

const soundRun = { attention: null, approval: { hash: "b74c" } };

it("what a run answers in no known shape is said, and hides no other run", async () => {
  const names = Object.keys(ANSWERS);
  await Promise.all(names.map((name) => plant(name, "answered")));
  const found = await waiting(names);
  expect(found.get("sound")).toMatchObject(soundRun);
  expect(names.filter((name) => !/not in the shape/.test(reasonOf(found.get(name))))).toEqual([]);
  expect(reasonOf(found.get("a hash that is no text"))).toBe(
    'What executes it on task queue "answered" does not say where it stands. The answer is not in the shape that this version knows: shown.approval.hash: must be a string.',
  );
  await connected(async (temporal) => {
    for (const name of names) {
      expect(await reportRun(temporal, name)).toMatchObject({ stepsFrom: "history", ids: {} });
      await expect(readApproval(temporal, name)).rejects.toMatchObject({
        _tag: "ConnectionFailed",
      });
    }
  });
});

const reasonOf = (run: WaitingRun | undefined): string => run?.noProgress?.message ?? "";

it("runs on queues that nobody polls hide none on a queue that is polled", async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `dead-${index}`);
  await Promise.all(ids.map((id) => plant(id, "dead-queue")));
  const found = await waiting(ids);
  expect(found.get("sound")).toMatchObject(soundRun);
  for (const id of ids) {
    expect(reasonOf(found.get(id))).toBe(
      'No worker polls task queue "dead-queue" in namespace "default".',
    );
  }
});

it("a batch that does not say how far it is is reported all the same", async () => {
  const batch = "payouts/odd";
  await workflow.start("payoutBatch", {
    workflowId: batch,
    taskQueue: "answered",
    args: [{ chunks: 1, rows: 2, totals: {} }],
  });
  const report = await connected((temporal) => reportBatch(temporal, batch));
  expect(report).toMatchObject({ rows: 2, progress: null });
});
