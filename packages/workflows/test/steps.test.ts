import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { ApplicationFailure, type WorkflowHandle } from "@temporalio/client";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import type { SignalDefinition } from "@temporalio/common";
import { nudgeSignal } from "@durable-payments/protocol/calls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  cancelled,
  done,
  eventsOf,
  made,
  startStubRig,
  type Stub,
  until,
  waiting,
} from "./support/stub-rig.ts";

let environment: TestWorkflowEnvironment;
let rig: Awaited<ReturnType<typeof startStubRig>>;
beforeAll(async () => {
  environment = await createLocalEnvironment();
  rig = await startStubRig(environment);
}, 60_000);
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await environment.teardown();
});

const failedTask = async (handle: WorkflowHandle): Promise<string> => {
  let message: string | null | undefined;
  await until(async () => {
    const { events } = await handle.fetchHistory();
    const failed = events?.find((event) => event.workflowTaskFailedEventAttributes);
    message = failed?.workflowTaskFailedEventAttributes?.failure?.message;
    return failed !== undefined;
  });
  await handle.terminate();
  return message ?? "";
};

const failureOf = async (handle: WorkflowHandle): Promise<ApplicationFailure> => {
  const error: unknown = await handle.result().catch((failed: unknown) => failed);
  const { cause } = error as Error;
  const found = (cause as Error).cause ?? cause;
  if (!(found instanceof ApplicationFailure)) throw error;
  return found;
};

describe("a run that Temporal repeats by a retry policy", () => {
  const retry = { maximumAttempts: 2, initialInterval: "10 milliseconds" };

  it("sends no money without a key", async () => {
    const handle = await rig.start("payThenFail", [{}], { isVouched: true, retry });
    const again = environment.client.workflow.getHandle(handle.workflowId);
    await until(async () => {
      const { raw, runId } = await again.describe();
      return raw.workflowExecutionInfo?.firstRunId !== runId;
    });
    expect(await failedTask(again)).toContain("so the step createPayout needs a key");
    expect(rig.callsOf(handle)).toHaveLength(1);
  });

  it("asks for the same write by its key, and does not vouch for it again", async () => {
    const handle = await rig.start("payThenFail", [{ key: "rent" }], { isVouched: true, retry });
    await handle.result();
    const [first, second] = rig.callsOf(handle).map(({ input }) => input);
    expect([first?.key, second?.key]).toEqual(["rent", "rent"]);
    expect([first?.isFirst, second?.isFirst]).toEqual([true, false]);
  });
});

describe("the name of a step", () => {
  it("is its operation", async () => {
    const handle = await rig.start("pay", []);
    expect(await handle.result()).toMatchObject({ payout_id: "payout of createPayout" });
    const [call] = rig.callsOf(handle);
    expect(call?.input).toMatchObject({
      step: "createPayout",
      isNamed: false,
      rootId: handle.workflowId,
      isContinued: false,
      isFirst: false,
      call: 1,
    });
  });

  it("serves one call: a second one fails the task, whatever the workflow catches, and sends nothing", async () => {
    const handle = await rig.start("payTwice", []);
    expect(await failedTask(handle)).toContain("The step createPayout is called a second time");
    expect(rig.callsOf(handle)).toHaveLength(1);
  });

  it("is that of one operation", async () => {
    const handle = await rig.start("payByOtherName", []);
    expect(await failedTask(handle)).toContain("is already a reserveGoods");
  });

  it.each(["", "two\nlines", "half \ud83d", "x".repeat(101)])("is not %j", async (step) => {
    const handle = await rig.start("pay", ["1.00", { step }]);
    expect(await failedTask(handle)).toContain("must have a name");
    expect(rig.callsOf(handle)).toEqual([]);
  });

  it.each(["keys", "approvals"])("has no option %j", async (option) => {
    const handle = await rig.start("pay", ["1.00", { [option]: "1.00" }]);
    expect(await failedTask(handle)).toContain(`The step createPayout has no option "${option}".`);
    expect(rig.callsOf(handle)).toEqual([]);
  });

  const FUNDS = { amount: "1.00", currency: "USD" };
  const OF_PAYOUT = "awaitPayout needs an object with payout_id.";
  it.each([
    [
      "awaitPayout",
      [{ payout_id: "p-1" }, { wihtin: "5 days" }],
      'awaitPayout has no option "wihtin".',
    ],
    [
      "awaitPayout",
      [{ payout_id: "p-1" }, { within: "soon" }],
      'within of awaitPayout must be a duration, such as "5 days", not "soon".',
    ],
    [
      "awaitPayout",
      [{ payout_id: "p-1" }, { within: -5 }],
      'within of awaitPayout must be a duration, such as "5 days", not -5.',
    ],
    ["awaitPayout", [null], OF_PAYOUT],
    ["awaitPayout", ["p-1"], OF_PAYOUT],
    ["awaitReturn", [{}], "awaitReturn needs an object with payout_id."],
    ["awaitVerification", [null], "awaitVerification needs an object with card_holder_id."],
    ["awaitFunds", [null], "awaitFunds needs an object with amount, currency."],
    ["awaitFunds", [{ amount: "1.00" }], "awaitFunds needs an object with amount, currency."],
    ["createPayout", [null], "The step createPayout needs a request."],
    [
      "checkRequests",
      [{ createPayout: FUNDS }],
      "checkRequests needs a list of requests of createPayout.",
    ],
    ["checkRequests", [null], "checkRequests needs an object."],
    ["undo", [null], "undo needs the name of a step."],
  ])("of %s is named if its arguments are wrong: %j", async (name, args, message) => {
    const handle = await rig.start("callStep", [name, ...args]);
    expect(await failedTask(handle)).toContain(message);
    expect(rig.callsOf(handle)).toEqual([]);
  });

  it("has a threshold of approval that is an amount", async () => {
    const handle = await rig.start("pay", ["1.00", { approval: "1.00" }]);
    expect(await failedTask(handle)).toContain("The approval of createPayout must be");
    expect(rig.callsOf(handle)).toEqual([]);
  });

  it("that is repeated is the same write, and a call after the other", async () => {
    const handle = await rig.start("payAtOnce", [
      [
        ["a", "1.00"],
        ["a", "1.00"],
        ["b", "2.00"],
      ],
    ]);
    expect(await handle.result()).toEqual(["payout of a", "payout of a", "payout of b"]);
    const calls = rig.callsOf(handle).map(({ input }) => [input.step, input.call]);
    expect(calls).toHaveLength(3);
    expect(calls).toEqual(
      expect.arrayContaining([
        ["a", 1],
        ["a", 2],
        ["b", 1],
      ]),
    );
  });
});

describe("a key", () => {
  it("goes with the write, and names the step if nothing else does", async () => {
    const handle = await rig.start("payByKeys", [["may/1", "may/2", "may/1"]]);
    expect(await handle.result()).toEqual([
      "payout of createPayout may/1",
      "payout of createPayout may/2",
      "payout of createPayout may/1",
    ]);
    const calls = rig.callsOf(handle).map(({ input }) => [input.key, input.call]);
    expect(calls).toEqual([
      ["may/1", 1],
      ["may/2", 1],
      ["may/1", 2],
    ]);
  });

  it.each(["", " ", 'a "b"', "back\\slash", "x".repeat(201)])("is not %j", async (key) => {
    const handle = await rig.start("payByKeys", [[key]]);
    expect(await failedTask(handle)).toContain(
      `The key ${JSON.stringify(key)} of createPayout must`,
    );
    expect(rig.callsOf(handle)).toEqual([]);
  });

  it("does not contain the id of a run of a Schedule", async () => {
    const workflowId = "payroll-2026-11-26T16:11:53Z";
    const handle = await rig.start("payByKeys", [[`${workflowId}/e17`]], { workflowId });
    expect(await failedTask(handle)).toContain(`contains the id ${workflowId}`);
    expect(rig.callsOf(handle)).toEqual([]);
  });

  it("is wanted for money of a continued run", async () => {
    const handle = await rig.start("payEachMonth", [2, false]);
    const second = async () =>
      (await handle.describe()).runId !== rig.callsOf(handle)[0]?.input.runId;
    await until(second);
    const latest = environment.client.workflow.getHandle(handle.workflowId);
    const message = await failedTask(latest);
    expect(message).toContain("The run continued as new");
    expect(message).toContain('createPayout(…, { key: "…" })');
    expect(rig.callsOf(handle)).toHaveLength(1);
  });

  it("lets a continued run pay", async () => {
    const handle = await rig.start("payEachMonth", [3, true]);
    await handle.result();
    expect(rig.callsOf(handle).map(({ input }) => [input.key, input.isContinued])).toEqual([
      ["month 3", false],
      ["month 2", true],
      ["month 1", true],
    ]);
  });

  it("is wanted for money of a cron schedule", async () => {
    const handle = await rig.start("pay", [], { cronSchedule: "@every 1s" });
    expect(await failedTask(handle)).toContain("has a cron schedule");
    expect(rig.callsOf(handle)).toEqual([]);
  });
});

describe("a voucher", () => {
  it("holds for a run that starts with a delay", async () => {
    const handle = await rig.start("pay", [], { isVouched: true, startDelay: "12 seconds" });
    await handle.result();
    expect(rig.callsOf(handle)[0]?.input.isFirst).toBe(true);
  }, 30_000);

  it("holds for the run that was started with it", async () => {
    const handle = await rig.start("pay", [], { isVouched: true });
    await handle.result();
    expect(rig.callsOf(handle)[0]?.input.isFirst).toBe(true);
  });

  it("does not hold after a reset: its activities name the run that scheduled them", async () => {
    const handle = await rig.start("noteAndPay", ["once"], { isVouched: true });
    await handle.result();
    const { events } = await handle.fetchHistory();
    const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    const { runId } = await environment.connection.workflowService.resetWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: task?.eventId ?? null,
      reason: "test",
      requestId: "reset-1",
    });
    const reset = environment.client.workflow.getHandle(handle.workflowId, runId);
    await reset.result();
    const [first, second] = rig.callsOf(handle, "createPayout").map(({ input }) => input);
    expect([first?.isFirst, second?.isFirst]).toEqual([true, false]);
    expect(second).toMatchObject({ runId, step: "createPayout" });
  });

  it("is given to a child once by a parent that has one", async () => {
    const workflowId = "vouched";
    const child = "vouched/child";
    const handle = await rig.start("payByChildren", [[child, child]], {
      isVouched: true,
      workflowId,
    });
    await handle.result();
    const calls = rig.callsOf({ workflowId: child });
    expect(calls.map(({ input }) => [input.isFirst, input.rootId, input.step])).toEqual([
      [true, handle.workflowId, "createPayout"],
      [false, handle.workflowId, "createPayout"],
    ]);
  });

  it("is not given by a parent without one", async () => {
    const handle = await rig.start("payByChildren", [["any/child"]], { workflowId: "any" });
    await handle.result();
    expect(rig.callsOf({ workflowId: "any/child" })[0]?.input.isFirst).toBe(false);
  });

  it("is not given to a child that another parent could have", async () => {
    const ids = ["elsewhere", "only-a-prefix", "only/two/levels", "only/"];
    const handle = await rig.start("payByChildren", [ids], { isVouched: true, workflowId: "only" });
    await handle.result();
    const areFirst = ids.map((workflowId) => rig.callsOf({ workflowId })[0]?.input.isFirst);
    expect(areFirst).toEqual([false, false, false, false]);
  });

  it("of a retry is not handed to a child: the parent may have started it before", async () => {
    const workflowId = "retried-parent";
    const voucher = { workflowId, at: Date.now(), is: "retry", versions: { createPayout: 7 } };
    const memo = { "durable-payments/voucher": voucher };
    const child = "retried-parent/child";
    const handle = await rig.start("payByChildren", [[child]], { workflowId, memo });
    await handle.result();
    const [call] = rig.callsOf({ workflowId: child });
    expect([call?.input.isFirst, call?.input.version]).toEqual([false, undefined]);
  });

  it("of a retry names the versions of rows", async () => {
    const workflowId = "retried";
    const voucher = { workflowId, at: Date.now(), is: "retry", versions: { createPayout: 7 } };
    const handle = await rig.start("pay", [], {
      workflowId,
      memo: { "durable-payments/voucher": voucher },
    });
    await handle.result();
    expect(rig.callsOf(handle)[0]?.input).toMatchObject({ isFirst: false, version: 7 });
  });
});

describe("a child whose id is another one in each run of its parent", () => {
  const UUID = "6f9619ff-8b86-4d11-b42d-00c04fc964ff";
  const FIRED = "payroll-2026-11-26T16:11:53Z";

  it.each([
    ["parent", UUID],
    ["parent", `salary-e17-${UUID}`],
    ["parent", `salary/${UUID.toUpperCase()}/e17`],
    ["parent", "salary-e17-1795709513000"],
    ["parent", "salary/2026-11-26T16:11:53.123Z/e17"],
    [FIRED, `${FIRED}/e17`],
    [`payroll-${UUID}`, `payroll-${UUID}/${UUID.replace("6", "7")}`],
  ])("sends nothing without a key: %s, %s", async (workflowId, child) => {
    const handle = await rig.start("payByChildren", [[child]], { workflowId });
    await until(async () => {
      const { raw } = await handle.describe();
      return (raw.pendingChildren?.[0]?.runId ?? "") !== "";
    });
    const message = await failedTask(environment.client.workflow.getHandle(child));
    await expect(handle.result()).rejects.toThrow();
    expect(message).toContain("may have another id in the next run of its parent");
    expect(message).toContain('createPayout(…, { key: "…" })');
    expect(rig.callsOf({ workflowId: child })).toEqual([]);
  });

  it.each([
    ["parent", "salary/2026-11/e17"],
    ["parent", "salary/2026-11-30/17957095130000"],
    [`order-${UUID}`, `order-${UUID}/deposit`],
  ])("is not one that follows from its parent: %s, %s", async (workflowId, child) => {
    await (await rig.start("payByChildren", [[child]], { workflowId })).result();
    expect(rig.callsOf({ workflowId: child })).toHaveLength(1);
  });
});

describe("where a person is asked", () => {
  it("the run waits for a nudge, and calls again with the version of the row", async () => {
    const handle = await rig.start("pay", [], {
      stub: (called) => (called.input.call === 1 ? waiting(3) : made(called)),
    });
    await until(async () => (await eventsOf(handle)).includes("timerStarted"));
    await rig.nudge(handle);
    await handle.result();
    expect(rig.callsOf(handle).map(({ input }) => [input.call, input.version])).toEqual([
      [1, undefined],
      [2, 3],
    ]);
    const events = await eventsOf(handle);
    expect(events.filter((event) => event === "timerStarted")).toHaveLength(1);
    expect(events.filter((event) => event === "activityTaskScheduled")).toHaveLength(2);
  });

  /** As anybody who has access to Temporal may send it. */
  const anyNudge: SignalDefinition<[unknown?]> = nudgeSignal;

  it.each([5, null, "all", { steps: 5 }, [{}]])(
    "a nudge of %j has every step look again, and fails nothing",
    async (content) => {
      const handle = await rig.start("pay", [], {
        stub: (called) => (called.input.call === 1 ? waiting(3) : made(called)),
      });
      await until(async () => (await eventsOf(handle)).includes("timerStarted"));
      await handle.signal(anyNudge, content);
      await handle.result();
      expect(await eventsOf(handle)).not.toContain("workflowTaskFailed");
    },
  );

  it("a nudge that names steps wakes these alone", async () => {
    const handle = await rig.start(
      "payAtOnce",
      [
        [
          ["a", "1.00"],
          ["b", "2.00"],
        ],
      ],
      {
        stub: (called) => (called.input.call === 1 ? waiting(1) : made(called)),
      },
    );
    await until(
      async () => (await eventsOf(handle)).filter((event) => event === "timerStarted").length === 2,
    );
    await rig.nudge(handle, ["a"]);
    await until(() => rig.callsOf(handle).length === 3);
    expect(
      rig
        .callsOf(handle)
        .map(({ input }) => input.step)
        .toSorted(),
    ).toEqual(["a", "a", "b"]);
    await rig.nudge(handle);
    expect(await handle.result()).toEqual(["payout of a", "payout of b"]);
  });

  it("a nudge that comes while the activity runs is not lost", async () => {
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const handle = await rig.start("pay", [], {
      stub: async (called) => {
        if (called.input.call > 1) return made(called);
        await isAnswered;
        return waiting(1);
      },
    });
    await until(() => rig.callsOf(handle).length === 1);
    await rig.nudge(handle);
    await until(async () => (await eventsOf(handle)).includes("workflowExecutionSignaled"));
    answer();
    await handle.result();
    expect(rig.callsOf(handle)).toHaveLength(2);
  });
});

describe("a failure", () => {
  const failWith =
    (type: string, details = [{ operation: "createPayout", step: "createPayout", version: 4 }]) =>
    () => {
      throw ApplicationFailure.nonRetryable("The service said no.", type, ...details);
    };

  it("is an instance of the class of its type", async () => {
    const handle = await rig.start("payAndCatch", [], { stub: failWith("Refused") });
    expect(await handle.result()).toBe("Refused");
    const ended = await rig.start("payAndCatch", [], { stub: failWith("Ended") });
    expect(await ended.result()).toBe("PaymentFailure Ended");
    const other = await rig.start("payAndCatch", [], { stub: failWith("OfTheUser") });
    expect(await other.result()).toBe("another error");
  });

  it("fails the run with its type and details", async () => {
    const handle = await rig.start("pay", [], { stub: failWith("Refused") });
    const failure = await failureOf(handle);
    expect(failure).toMatchObject({
      type: "Refused",
      message: "The service said no.",
      details: [{ operation: "createPayout", step: "createPayout", version: 4 }],
    });
  });
});

describe("on cancellation", () => {
  const hang = async (): Promise<never> => {
    const { Context } = await import("@temporalio/activity");
    // Not before the cancellation is requested: a later one is held back for most of the time-out.
    const beat = setInterval(() => Context.current().heartbeat(), 500);
    try {
      return await Context.current().cancelled;
    } finally {
      clearInterval(beat);
    }
  };

  it("a step that was not sent is closed, and the run ends as cancelled", async () => {
    const handle = await rig.start("pay", [], {
      stub: ({ input }) => (input.mode === "close" ? cancelled() : waiting(1)),
    });
    await until(async () => (await eventsOf(handle)).includes("timerStarted"));
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: "CancelledFailure" } });
    expect(rig.callsOf(handle).map(({ input }) => [input.mode, input.version])).toEqual([
      [undefined, undefined],
      ["close", 1],
    ]);
  });

  it("a step that was sent is waited for, and its result returned", async () => {
    const handle = await rig.start("pay", [], {
      stub: ({ input }) => (input.mode === "close" ? done({ payout_id: "p-1" }) : hang()),
    });
    await until(() => rig.callsOf(handle).length === 1);
    await handle.cancel();
    expect(await handle.result()).toEqual({ payout_id: "p-1" });
  });

  const failOnCancellation: Stub = async () => {
    await hang().catch(() => undefined);
    throw ApplicationFailure.retryable("The service is down.", "NotYet");
  };

  it("a step whose attempt then fails retryably is closed, and the run ends as cancelled", async () => {
    const handle = await rig.start("pay", [], {
      stub: (called) => (called.input.mode === "close" ? cancelled() : failOnCancellation(called)),
    });
    await until(() => rig.callsOf(handle).length === 1);
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: "CancelledFailure" } });
    expect(rig.callsOf(handle).map(({ input }) => input.mode)).toEqual([undefined, "close"]);
  });

  it("a step whose attempt then fails retryably returns what was sent before", async () => {
    const handle = await rig.start("pay", [], {
      stub: (called) =>
        called.input.mode === "close" ? done({ payout_id: "p-1" }) : failOnCancellation(called),
    });
    await until(() => rig.callsOf(handle).length === 1);
    await handle.cancel();
    expect(await handle.result()).toEqual({ payout_id: "p-1" });
  });

  it("a step whose attempt then fails for good is not closed", async () => {
    const handle = await rig.start("pay", [], {
      stub: async () => {
        await hang().catch(() => undefined);
        throw ApplicationFailure.nonRetryable("The service said no.", "Refused");
      },
    });
    await until(() => rig.callsOf(handle).length === 1);
    await handle.cancel();
    expect((await failureOf(handle)).type).toBe("Refused");
    expect(rig.callsOf(handle)).toHaveLength(1);
  });

  it("a step whose outcome a person is asked for waits for the answer", async () => {
    const handle = await rig.start("pay", [], {
      stub: ({ input }) =>
        input.call < 3 ? waiting(input.call) : done({ payout_id: `${input.mode} ${input.call}` }),
    });
    await until(async () => (await eventsOf(handle)).includes("timerStarted"));
    await handle.cancel();
    await until(
      async () => (await eventsOf(handle)).filter((event) => event === "timerStarted").length === 2,
    );
    await rig.nudge(handle);
    expect(await handle.result()).toEqual({ payout_id: "close 3" });
  });

  it("what was made is undone by a cancelled run", async () => {
    const handle = await rig.start("payCancellable", [], {
      stub: ({ input, type }) => {
        if (type === "undo") return done({});
        return input.mode === "close" ? cancelled() : waiting(1);
      },
    });
    await until(async () => (await eventsOf(handle)).includes("timerStarted"));
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: "CancelledFailure" } });
    expect(rig.callsOf(handle, "undo")[0]?.input).toMatchObject({ step: "reserveGoods", call: 1 });
  });
});

it("requests of later steps are taken along by the first write alone", async () => {
  const handle = await rig.start("payOrder", ["17"], {
    stub: (called) =>
      called.type === "awaitPayout"
        ? { payout_id: "payout of deposit", outcome: "failed", payout_status: "REJECTED" }
        : made(called),
  });
  const failure = await failureOf(handle);
  expect(failure.type).toBe("PayoutFailed");
  const calls = rig.callsOf(handle);
  expect(calls.map(({ input, type }) => [type, input.step])).toEqual([
    ["createBeneficiary", "createBeneficiary"],
    ["reserveGoods", "reserveGoods"],
    ["createPayout", "deposit"],
    ["awaitPayout", undefined],
    ["undo", "reserveGoods"],
  ]);
  expect(calls[0]?.input.planned).toEqual([
    { operation: "createBeneficiary", request: {} },
    { operation: "createPayout", request: { amount: "1.00" } },
  ]);
  expect(calls[2]?.input.planned).toBeUndefined();
  expect(calls[3]).toMatchObject({ activityId: "awaitPayout:payout of deposit" });
});
