import type { NotificationType } from "@durable-payments/protocol";
import {
  anyText,
  beneficiary,
  fields,
  holding,
  jsonLines,
  like,
  listWith,
  makeRows,
  options,
  payout,
} from "@durable-payments/tools/test-data";
import { describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";
import { SECRET, startWebhookSink } from "./support/webhook-sink.ts";

// A busy machine takes its time.

const POLLING = { timeout: 120_000, interval: 200 };

const sink = await startWebhookSink();
const notifying = {
  PAYMENTS_NOTIFY_URL: `${sink.url}?token=of-the-endpoint`,
  PAYMENTS_NOTIFY_SECRET: SECRET,
  PAYMENTS_NOTIFY_INTERVAL_SECONDS: "1",
  // Ten seconds.
  PAYMENTS_NOTIFY_OVERDUE_HOURS: "0.0028",
  TEMPORAL_UI_URL: "http://web-ui.example",
};
const { awaitStage, file, replaceWorker, simulator, starter, temporal } = await makeRig(
  { settleAfter: 0, balances: { EUR: "1000.00" } },
  notifying,
);

const input = (amount: string, more: object = {}) =>
  file(`payout-${amount}.json`, {
    beneficiary,
    payout: { ...payout, amount },
    options: { ...options, ...more },
  });

const of = (type: NotificationType, workflowId: string) =>
  sink.posted.filter(
    ({ notification }) => notification.type === type && notification.data.workflowId === workflowId,
  );

const startRun = async (id: string, name: string): Promise<void> => {
  const started = await starter(["payout", "--file", name, "--id", id, "--by", "Ada"]);
  expect(started.exitCode).toBe(0);
};

describe("notifications", () => {
  it("are delivered when the endpoint is back, in order, though the worker was killed meanwhile", async () => {
    sink.answer(500);
    await startRun("asks", await input("5000.00", { onRefusal: "ask" }));
    await awaitStage("asks", "needsAttention");
    await vi.waitFor(() => expect(of("run.asks", "asks")[0]).toBeDefined(), POLLING);

    await startRun("fails", await input("6000.00"));
    await startRun("approval", await input("7.00", { approval: { above: "1.00" } }));
    await awaitStage("approval", "awaitApproval");
    await startRun("terminated", await input("8.00", { approval: { above: "1.00" } }));
    await awaitStage("terminated", "awaitApproval");
    await temporal.client.workflow.getHandle("terminated").terminate("by somebody");
    const batch = await file("batch.jsonl", jsonLines(makeRows("batch", 2)));
    const imported = await starter(["payouts", "import", batch, "--wait", "--json"]);
    expect(imported.exitCode).toBe(0);
    expect(sink.delivered()).toEqual([]);
    await vi.waitFor(async () => {
      const { exitCode, stdout } = await starter(["doctor", "--json"]);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(
        /"name":"notifications","status":"failed","detail":"0 delivered, \d+ to be delivered, and since [^"]* UTC they are not: [^"]* answers 500","remedy":"starter notify test"/,
      );
    }, POLLING);

    await replaceWorker();
    sink.answer(200);
    const batchId = String(jsonOf(imported)["workflowId"]);
    await vi.waitFor(() => {
      const arrived = sink
        .delivered()
        .map(({ notification: { data, type } }) => [type, data.workflowId, data.state, data.stage]);
      expect(arrived).toEqual(
        listWith(
          ["run.asks", "asks", "attention", "needsAttention"],
          ["run.failed", "fails", "failed", "createPayout"],
          ["run.asks", "approval", "attention", "awaitApproval"],
          ["run.failed", "terminated", "terminated", "awaitApproval"],
          ["batch.ended", batchId, "completed", "awaitPayouts"],
          ["run.overdue", "asks", "running", "needsAttention"],
        ),
      );
    }, POLLING);

    expect(of("batch.ended", batchId)[0]?.notification.data.rows).toMatchObject({
      rows: 2,
      completed: 2,
      failed: 0,
      notStarted: 0,
    });

    const times = sink.delivered().map(({ notification }) => notification.timestamp);
    expect(times).toEqual(times.toSorted());
    const ids = sink.posted.map(({ id }) => id);
    const things = sink.posted.map(
      ({ notification: { data, type } }) => `${type} ${data.runId} ${data.state}`,
    );
    // Posted again, it has the id that it had.
    expect(new Set(ids).size).toBe(new Set(things).size);
    expect(sink.posted.every(({ isSigned }) => isSigned)).toBe(true);
    expect(of("run.failed", "fails")[0]?.notification).toEqual({
      type: "run.failed",
      timestamp: like(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: {
        namespace: "default",
        taskQueue: "payments",
        workflowId: "fails",
        runId: anyText,
        workflowType: "payout",
        state: "failed",
        stage: "createPayout",
        webUi: like(/^http:\/\/web-ui\.example\/namespaces\/default\/workflows\/fails\/[\w-]+$/),
        command: "starter runs show fails",
      },
    });
  });

  it("say nothing of what is paid to whom, and come once for each occurrence", async () => {
    const bodies = sink.posted.map(({ body }) => body).join("\n");
    for (const secret of [
      beneficiary.iban,
      beneficiary.account_holder,
      beneficiary.nickname,
      beneficiary.email,
      payout.payout_reference,
      "5000.00",
      "Ada",
      simulator.apiKey,
    ]) {
      expect(bodies).not.toContain(secret);
    }
    for (const id of ["asks", "approval"]) {
      expect(sink.delivered().filter((one) => of("run.asks", id).includes(one))).toHaveLength(1);
    }
  });

  it("are counted by the doctor", async () => {
    await vi.waitFor(async () => {
      const { stdout } = await starter(["doctor", "--json"]);
      expect(stdout).toMatch(/"notifications","status":"ok","detail":"[1-9]\d* delivered, 0 to be/);
    }, POLLING);
  });

  it("come again when a run asks again", async () => {
    const before = of("run.asks", "asks").length;
    const { stdout } = await starter(["attention"]);
    const question = /resolve\s+asks[^]*?--question\s+(\S+)/.exec(stdout)?.[1] ?? "";
    const taken = await starter([
      "resolve",
      "asks",
      "--question",
      question,
      "--by",
      "Bob",
      "--resend",
    ]);
    expect(taken).toMatchObject({ exitCode: 0 });
    await vi.waitFor(() => expect(of("run.asks", "asks").length).toBeGreaterThan(before), POLLING);
  });
});

describe("starter notify test", () => {
  it("has the worker post one, and says what was answered", async () => {
    const [person, program] = await Promise.all([
      starter(["notify", "test"]),
      starter(["notify", "test", "--json"]),
    ]);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(person.stdout).toMatch(
      new RegExp(`^Delivered: ${sink.host} answered 200 in \\d+ ms\\.\\n$`),
    );
    expect(program.exitCode).toBe(0);
    expect(jsonOf(program)).toMatchObject({ isDelivered: true, host: sink.host, status: 200 });
    const tests = sink.posted.filter(
      ({ notification }) => notification.type === "notifications.test",
    );
    expect(tests).toHaveLength(2);
    expect(tests.every(({ isSigned }) => isSigned)).toBe(true);
  });

  it.each([
    [500, /Not delivered: \S+ answers 500, after/],
    [401, /answers 401[^]*PAYMENTS_NOTIFY_SECRET/],
    [302, /answers 302, a redirect, which is not\s+followed/],
  ])("says that the endpoint answers %i", async (status, said) => {
    sink.answer(status);
    const { exitCode, stdout } = await starter(["notify", "test"]);
    sink.answer(200);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(said);
    for (const secret of ["of-the-endpoint", "own words", SECRET]) {
      expect(stdout).not.toContain(secret);
    }
    expect(sink.posted.filter(({ path }) => path.startsWith("/elsewhere"))).toEqual([]);
  });

  it("says that the workers notify nobody", async () => {
    const called = await starter(["notify", "test", "--json"], {
      env: { PAYMENTS_TASK_QUEUE: "another" },
    });
    expect(called.exitCode).toBe(3);
    expect(jsonOf(called)).toMatchObject({ error: { type: "NoWorker" } });
    await temporal.client.workflow.getHandle("notifier/payments").terminate();
    const refused = await starter(["notify", "test", "--json"]);
    expect(refused.exitCode).toBe(2);
    expect(jsonOf(refused)).toMatchObject({
      error: fields({ message: holding("set PAYMENTS_NOTIFY_URL and PAYMENTS_NOTIFY_SECRET") }),
    });
  });
});
