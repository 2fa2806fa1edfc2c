import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { historyFromJSON, historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { DefaultLogger, Runtime, type WorkflowBundle } from "@temporalio/worker";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  bundleForReplay,
  type History,
  InvalidHistory,
  readHistory,
  type Replay,
  replayHistories,
  writeHistory,
} from "../src/index.ts";
import { goesOn } from "./examples/goes-on.ts";
import {
  activityScheduled,
  completed,
  historyOf,
  localActivityRecorded,
  patchRecorded,
  timerStarted,
} from "./support/histories.ts";

let bundle: WorkflowBundle;
beforeAll(async () => {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  });
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
      "another local activity",
      historyOf("callsLocally", localActivityRecorded("second"), completed),
      { id: 5, type: "MARKER_RECORDED", name: "second" },
      { type: "MARKER_RECORDED", name: "first" },
      "await local.first();",
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

  it("nothing, with where the code waits", async () => {
    const { difference } = await differenceOf(historyOf("waits", timerStarted()));
    expect(difference.event).toEqual({ id: 5, type: "TIMER_STARTED" });
    expect(difference.command).toBeUndefined();
    expect(difference.stack).toEqual([]);
    expect(difference.waitsAt[0]?.source).toBe("await condition(() => false);");
  });

  it("an error that the code throws, with where it throws it", async () => {
    const { difference, message } = await differenceOf(historyOf("throwsAtOnce", timerStarted()));
    expect(message).toBe("no such field");
    expect(difference.stack[0]?.source).toBe('throw new TypeError("no such field");');
  });

  it("a workflow that the code does not have", async () => {
    const { message } = await differenceOf(historyOf("unknownHere", timerStarted()));
    expect(message).toContain("unknownHere");
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

it.each([
  [null, "it is no JSON object with the events of a run"],
  [{}, "it is no JSON object with the events of a run"],
  [[], "it is no JSON object with the events of a run"],
  ["text", "it is no JSON object with the events of a run"],
  [{ events: 1 }, "its `events` are no list"],
  [{ events: [] }, "it does not begin with the event WORKFLOW_EXECUTION_STARTED"],
  [{ events: [{ eventId: "1" }] }, "it does not begin with the event WORKFLOW_EXECUTION_STARTED"],
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

it("a history of an older tool is read, whose enums have no prefixes", () => {
  const json = {
    events: [
      {
        eventId: "1",
        eventType: "WorkflowExecutionStarted",
        workflowExecutionStartedEventAttributes: {
          taskQueue: { name: "payments", kind: "Normal" },
          initiator: "CronSchedule",
        },
      },
      {
        eventId: "2",
        eventType: "ChildWorkflowExecutionFailed",
        childWorkflowExecutionFailedEventAttributes: { retryState: "RetryPolicyNotSet" },
      },
    ],
  };
  expect(readHistory(json)).toEqual(historyFromJSON(json));
});

it("a history is written as the SDK writes it", () => {
  const history = historyOf("callsLocally", localActivityRecorded("first"), completed);
  expect(writeHistory(history)).toBe(historyToJSON(history));
});

it("a test of one's own asks whether a run goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "replay-test-"));
  const file = join(folder, "run.json");
  const workflows = new URL("./support/workflows.ts", import.meta.url);
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    writeFileSync(file, historyToJSON(historyOf("callsFirst", activityScheduled("first"))));
    expect(await goesOn(workflows, file)).toBe(true);
    writeFileSync(file, historyToJSON(historyOf("callsFirst", activityScheduled("second"))));
    expect(await goesOn(workflows, file)).toBe(false);
    expect(logged).toHaveBeenCalledOnce();
  } finally {
    logged.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
