import { readFile, readdir } from "node:fs/promises";
import { type History, historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { describe, expect, it } from "vitest";
import { readRun } from "../../src/history/read-run.ts";
import { resetPoint } from "../../src/history/reset-point.ts";

type Event = NonNullable<History["events"]>[number];

const completed = { workflowTaskCompletedEventAttributes: { scheduledEventId: 1 } };
const scheduled = { workflowTaskScheduledEventAttributes: {} };
const started = { workflowTaskStartedEventAttributes: {} };
const local = {
  markerRecordedEventAttributes: {
    markerName: "core_local_activity",
    workflowTaskCompletedEventId: 1,
  },
};
const upsert = {
  upsertWorkflowSearchAttributesEventAttributes: { workflowTaskCompletedEventId: 1 },
};
const sent = { activityTaskScheduledEventAttributes: { workflowTaskCompletedEventId: 1 } };
const approved = { workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId: "1" } };
const signalled = { workflowExecutionSignaledEventAttributes: { signalName: "ended" } };

/** A run of these events, reset to its last workflow task, which wrote some: the event that it is reset to. */
const pointOf = (events: ReadonlyArray<object>, wrote: ReadonlyArray<object> = []) => {
  const all = [...events, scheduled, started, completed, ...wrote, scheduled].map(
    (event, index) => ({ ...event, eventId: index + 1 }) as unknown as Event,
  );
  const end = all[events.length + 2]?.eventId;
  return end ? Number(resetPoint(all, end)) : undefined;
};

const first = [{ workflowExecutionStartedEventAttributes: {} }, scheduled, started, completed];

describe("a reset", () => {
  it.each<[string, ReadonlyArray<object>, number]>([
    ["goes to the workflow task itself", [...first, sent], 8],
    ["goes to the one that ended with a local activity", [...first, local], 4],
    ["goes past what was only written", [...first, upsert, local], 4],
    ["keeps an approval", [...first, approved, upsert, local], 10],
    ["goes to the workflow task, where that began by a signal", [...first, local, signalled], 9],
    ["goes past several", [...first, local, scheduled, started, completed, local], 4],
    ["does not repeat what was sent", [...first, sent, local], 9],
    [
      "goes to the workflow task, where more followed on a local activity",
      [...first, local, upsert],
      9,
    ],
  ])("%s", (_, events, point) => {
    expect(pointOf(events)).toBe(point);
  });

  it("goes to the workflow task, where what it took is what the step began by", () => {
    expect(pointOf([...first, local], [approved, upsert])).toBe(8);
  });
});

it("no recorded step is reset to a task after one that ended with a local activity", async () => {
  const folder = new URL("../../../workflows/test/histories/", import.meta.url);
  const moved: Array<string> = [];
  for (const file of await readdir(folder)) {
    if (!file.endsWith(".json")) continue;
    const history = historyFromJSON(JSON.parse(await readFile(new URL(file, folder), "utf8")));
    for (const { name, task, taskEnd } of readRun(history).steps) {
      if (Number(taskEnd) !== task) moved.push(`${file} ${name}`);
    }
  }
  expect(moved).toContain("payout-approved-as-its-worker-wants.json awaitApproval");
});
