import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import type { WorkflowBundle } from "@temporalio/worker";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  bundleForReplay,
  CannotBundle,
  type History,
  InvalidHistory,
  readRun,
  type Replay,
  replayHistories,
} from "../src/index.ts";
import { readHistory } from "../src/history.ts";
import { goesOn } from "./examples/goes-on.ts";
import {
  activityScheduled,
  beginOf,
  childInitiated,
  completed,
  historyOf,
  localActivityRecorded,
  ofWorkflowId,
  patchRecorded,
  sent,
  timerStarted,
} from "./support/histories.ts";

let bundle: WorkflowBundle;
beforeAll(async () => {
  bundle = await bundleForReplay(fileURLToPath(new URL("./support/workflows.ts", import.meta.url)));
});

const replayed = async (...histories: ReadonlyArray<History>): Promise<Array<Replay>> => {
  const replays: Array<Replay> = [];
  const runs = histories.map((history, index) => ({ workflowId: `run-${index}`, history }));
  for await (const replay of replayHistories(bundle, runs)) replays.push(replay);
  return replays;
};

const thrownBy = (act: () => unknown): Error => {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
};

const differenceOf = async (history: History) => {
  const [replay] = await replayed(history);
  if (replay === undefined || replay.deterministic) throw new Error("it is deterministic");
  return replay;
};

describe("what the code does as it did is deterministic:", () => {
  it.each([
    ["an activity", historyOf("callsFirst", activityScheduled("first"))],
    ["a timer", historyOf("sleeps", timerStarted())],
    ["waiting", historyOf("waits")],
    ["an end", historyOf("returns", completed)],
    ["a local activity", historyOf("callsLocally", localActivityRecorded("first"), completed)],
    ["a timer that was taken back", historyOf("takesTimerBack", activityScheduled("first"))],
    ["a patch", historyOf("isPatched", ...patchRecorded("one-more"), activityScheduled("second"))],
    ["code before a patch", historyOf("isPatched", activityScheduled("first"))],
    ["a child", historyOf("startsChild", childInitiated("callsFirst", "run-0/first"))],
    ["a step", historyOf("paysAsPayFirst", sent("payFirst"))],
    ["a run that has not begun", beginOf(historyOf("callsFirst"), 1)],
    ["a run whose first workflow task waits for a worker", beginOf(historyOf("callsFirst"), 2)],
  ])("%s", async (_, history) => {
    expect(await replayed(history)).toEqual([
      {
        workflowId: "run-0",
        type: history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name,
        events: history.events?.length,
        deterministic: true,
      },
    ]);
  });
});

describe("the first differing event is reported, and what the code did instead:", () => {
  it.each([
    [
      "another activity",
      historyOf("callsSecond", activityScheduled("first")),
      { id: 5, type: "ACTIVITY_TASK_SCHEDULED", name: "first" },
      { type: "ACTIVITY_TASK_SCHEDULED", name: "second" },
      "await second();",
    ],
    [
      "a timer for an activity",
      historyOf("sleeps", activityScheduled("first")),
      { id: 5, type: "ACTIVITY_TASK_SCHEDULED", name: "first" },
      { type: "TIMER_STARTED" },
      'await sleep("1 minute");',
    ],
    [
      "an end instead of more",
      historyOf("returns", activityScheduled("first")),
      { id: 5, type: "ACTIVITY_TASK_SCHEDULED", name: "first" },
      { type: "WORKFLOW_EXECUTION_COMPLETED" },
      undefined,
    ],
    [
      "more than there was",
      historyOf("callsTwoAtOnce", activityScheduled("first"), completed),
      { id: 6, type: "WORKFLOW_EXECUTION_COMPLETED" },
      { type: "ACTIVITY_TASK_SCHEDULED", name: "second" },
      "await Promise.all([first(), second()]);",
    ],
    [
      "a patch that is gone",
      historyOf("callsFirst", ...patchRecorded("one-more"), activityScheduled("second")),
      { id: 5, type: "MARKER_RECORDED", name: "one-more" },
      { type: "ACTIVITY_TASK_SCHEDULED", name: "first" },
      "await first();",
    ],
    [
      "a timer that was taken back, and another activity",
      historyOf("takesTimerBack", activityScheduled("second", "2")),
      { id: 5, type: "ACTIVITY_TASK_SCHEDULED", name: "second" },
      { type: "ACTIVITY_TASK_SCHEDULED", name: "first" },
      "await first();",
    ],
  ])("%s", async (_, history, event, command, source) => {
    const { difference, message } = await differenceOf(history);
    expect(message).toContain("Nondeterminism");
    expect(difference).toMatchObject({ event, command });
    expect(difference.stack[0]?.source).toBe(source);
    for (const { file } of difference.stack) expect(file).toMatch(/test\/support\/workflows\.ts$/);
  });

  it("another child of the same type, which a parent finds by its id", async () => {
    const before = historyOf("startsChild", childInitiated("callsFirst", "run-0/payFirst"));
    const { difference, kind } = await differenceOf(before);
    expect(kind).toBe("nondeterminism");
    const child = { type: "START_CHILD_WORKFLOW_EXECUTION_INITIATED", name: "callsFirst" };
    expect(difference).toMatchObject({
      event: { id: 5, ...child, workflowId: "run-0/payFirst" },
      command: { ...child, workflowId: "run-0/first" },
    });
    expect(difference.stack[0]?.source).toMatch(/^await executeChild\(callsFirst/);
  });

  it("nothing, with where the code waits", async () => {
    const { difference } = await differenceOf(historyOf("waits", timerStarted()));
    expect(difference.event).toEqual({ id: 5, type: "TIMER_STARTED" });
    expect(difference.command).toBeUndefined();
    expect(difference.stack[0]?.source).toBe("await condition(() => false);");
  });

  it("an error that the code throws, with where it throws it", async () => {
    const { difference, message } = await differenceOf(historyOf("throwsAtOnce", timerStarted()));
    expect(message).toBe("no such field");
    expect(difference.stack[0]?.source).toBe('throw new TypeError("no such field");');
  });

  it("a workflow that the code does not have", async () => {
    const { kind, message } = await differenceOf(historyOf("unknownHere", timerStarted()));
    expect(message).toContain("unknownHere");
    expect(kind).toBe("unknownWorkflow");
  });
});

it("what a codec has written is unreadable, and no difference", async () => {
  const history = historyOf("returnsInput", completed);
  const encoded = {
    metadata: { encoding: Buffer.from("binary/encrypted") },
    data: new Uint8Array(),
  };
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  started.input = { payloads: [encoded] };
  const { kind, message } = await differenceOf(history);
  expect(kind).toBe("unreadable");
  expect(message).toBe("Unknown encoding: binary/encrypted");
});

describe("workflows that cannot be bundled are reported with what is wrong in them, and no more:", () => {
  it.each([
    ["is-no-code.ts", "export const (", /^\S+is-no-code\.ts:1:\d+: \S.*[^;]$/],
    [
      "lacks.ts",
      'import "no-such-package";',
      /^\S+lacks\.ts 1:0-25: Can't resolve 'no-such-package' in '[^']*'$/,
    ],
    ["is-not-there.ts", undefined, /no such file or directory/],
  ])("%s", async (name, source, fault) => {
    // Where the SDK's modules are found.
    const folder = mkdtempSync(fileURLToPath(new URL("./support/bundled-", import.meta.url)));
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const file = join(folder, name);
      if (source !== undefined) writeFileSync(file, source);
      const refusal: unknown = await bundleForReplay(file).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(CannotBundle);
      expect(refusal).toMatchObject({ message: expect.stringMatching(fault) as unknown });
      expect(refusal).toHaveProperty("cause");
      expect(String(refusal)).not.toMatch(
        /asset workflow-bundle|looking for modules|compiled with/,
      );
      expect(printed).not.toHaveBeenCalled();
    } finally {
      printed.mockRestore();
      rmSync(folder, { recursive: true });
    }
  });
});

describe("what is sent as another payment is reported, though for Temporal it is the same:", () => {
  it("a step that was renamed", async () => {
    const { difference, kind, message } = await differenceOf(
      historyOf("paysAsPayFirst", sent("pay")),
    );
    expect(kind).toBe("otherStep");
    expect(message).toMatch(
      /sent a request as the step pay, but the code sends it as the step payFirst\. .*paid a second time/,
    );
    const activity = { type: "ACTIVITY_TASK_SCHEDULED", name: "send" };
    expect(difference).toMatchObject({
      event: { id: 5, ...activity, step: "pay" },
      command: { ...activity, step: "payFirst" },
    });
    expect(difference.stack.at(-1)?.source).toBe('await sendAs("payFirst");');
  });

  it("not what a codec has made unreadable", async () => {
    const history = historyOf("paysAsPayFirst", sent("pay"));
    for (const { activityTaskScheduledEventAttributes: scheduled } of history.events ?? []) {
      for (const payload of scheduled?.input?.payloads ?? []) {
        payload.metadata = { encoding: Buffer.from("binary/encrypted") };
      }
    }
    expect(await replayed(history)).toMatchObject([{ deterministic: true }]);
  });
});

describe("ids of children are derived from the workflow id, so that a run is replayed under its own:", () => {
  const history = historyOf("startsChild", childInitiated("callsFirst", "paid/first"));
  const json = (of: History): unknown => JSON.parse(historyToJSON(of));

  it("read from the history", async () => {
    const run = readRun(json(ofWorkflowId("paid", history)));
    expect(run.workflowId).toBe("paid");
    for await (const replay of replayHistories(bundle, [run])) {
      expect(replay).toMatchObject({ workflowId: "paid", deterministic: true });
    }
  });

  it("given for a history that does not say it", async () => {
    expect(thrownBy(() => readRun(json(history))).message).toContain("pass the workflow id");
    for await (const replay of replayHistories(bundle, [readRun(json(history), "paid")])) {
      expect(replay).toMatchObject({ workflowId: "paid", deterministic: true });
    }
  });

  it("not under another one", async () => {
    const named = ofWorkflowId("paid", history);
    expect(thrownBy(() => readRun(json(named), "run")).message).toBe(
      "it is the history of the workflow id paid, not of run",
    );
    const replays = replayHistories(bundle, [{ workflowId: "run", history: named }]);
    await expect(replays.next()).rejects.toThrow(
      "it is the history of the workflow id paid, not of run",
    );
  });
});

it("histories are replayed one after the other, whatever becomes of each", async () => {
  const good = historyOf("callsFirst", activityScheduled("first"));
  const bad = historyOf("callsFirst", activityScheduled("second"));
  const replays = await replayed(bad, good, bad, good);
  expect(replays.map(({ deterministic, workflowId }) => [workflowId, deterministic])).toEqual([
    ["run-0", false],
    ["run-1", true],
    ["run-2", false],
    ["run-3", true],
  ]);
});

const STARTED = { eventId: "1", workflowExecutionStartedEventAttributes: {} };

it.each([
  [null, "it is not a JSON object with the events of a run"],
  [{}, "it is not a JSON object with the events of a run"],
  [[], "it is not a JSON object with the events of a run"],
  ["text", "it is not a JSON object with the events of a run"],
  [{ events: 1 }, "its `events` are not a list"],
  [{ events: [] }, "it does not begin with the event WORKFLOW_EXECUTION_STARTED"],
  [{ events: [{ eventId: "1" }] }, "it does not begin with the event WORKFLOW_EXECUTION_STARTED"],
  [
    { events: [STARTED, { eventId: "3" }] },
    "its event 2 is missing: only a complete history can be replayed",
  ],
  [{ events: [7_654_321] }, "HistoryEvent: expected object"],
  [{ events: [{ eventId: "7654321a" }] }, "HistoryEvent.eventId: invalid integer"],
  [{ events: [{ eventTime: "7:654321" }] }, "Timestamp: invalid timestamp"],
])("%j is no history, and that is reported without repeating it", (json, reason) => {
  const refusal = thrownBy(() => readHistory(json));
  expect(refusal).toBeInstanceOf(InvalidHistory);
  expect(refusal.message).toContain(reason);
  expect(inspect(refusal, { depth: 9 })).not.toContain("654321");
});

it("why events cannot be parsed stands in the cause", () => {
  const { cause } = thrownBy(() => readHistory({ events: [{ eventId: "x" }] }));
  expect(cause).toBeInstanceOf(Error);
  expect(String(cause)).toContain("eventId: invalid integer");
});

it("a test of one's own asks whether a run goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "replay-test-"));
  const file = join(folder, "run.json");
  const workflows = new URL("./support/workflows.ts", import.meta.url);
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    const called = (name: string) =>
      historyToJSON(ofWorkflowId("run", historyOf("callsFirst", activityScheduled(name))));
    writeFileSync(file, called("first"));
    expect(await goesOn(workflows, file)).toBe(true);
    writeFileSync(file, called("second"));
    expect(await goesOn(workflows, file)).toBe(false);
    expect(logged).toHaveBeenCalledOnce();
  } finally {
    logged.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
