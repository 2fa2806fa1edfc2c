import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WorkflowBundle } from "@temporalio/worker";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  bundleForReplay,
  CannotBundle,
  type History,
  type Replay,
  replayHistories,
} from "../src/index.ts";
import { goesOn } from "./examples/goes-on.ts";
import {
  activityScheduled,
  beginOf,
  childInitiated,
  completed,
  historyOf,
  localActivityRecorded,
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

describe("the differing event is reported, and the lines of the code that led to something else:", () => {
  it.each([
    [
      "another activity",
      historyOf("callsSecond", activityScheduled("first")),
      "event 'first' does not match activity type of activity command 'second'",
      ["await second();"],
    ],
    [
      "a timer for an activity",
      historyOf("sleeps", activityScheduled("first")),
      "HistoryEvent(id: 5, ActivityTaskScheduled)",
      ['await sleep("1 minute");'],
    ],
    [
      "an end instead of more",
      historyOf("returns", activityScheduled("first")),
      "HistoryEvent(id: 5, ActivityTaskScheduled)",
      [],
    ],
    [
      "more than there was",
      historyOf("callsTwoAtOnce", activityScheduled("first"), completed),
      "HistoryEvent(id: 6, WorkflowExecutionCompleted)",
      // Two calls in one line.
      Array(2).fill("await Promise.all([first(), second()]);"),
    ],
    [
      "a patch that is gone",
      historyOf("callsFirst", ...patchRecorded("one-more"), activityScheduled("second")),
      "for change one-more",
      ["await first();"],
    ],
    [
      "another child of the same type, which a parent finds by its id",
      historyOf("startsChild", childInitiated("callsFirst", "run-0/payFirst")),
      "'run-0/payFirst' does not match child workflow id of command 'run-0/first'",
      [expect.stringMatching(/^await executeChild\(callsFirst/)],
    ],
    [
      "nothing, with where the code waits",
      historyOf("waits", timerStarted()),
      "HistoryEvent(id: 5, TimerStarted)",
      ["await condition(() => false);"],
    ],
  ])("%s", async (_, history, event, sources) => {
    const { kind, lines, message } = await differenceOf(history);
    expect(kind).toBe("nondeterminism");
    expect(message).toContain("Nondeterminism");
    expect(message).toContain(event);
    expect(lines.map(({ source }) => source)).toEqual(sources);
    for (const { file } of lines) expect(file).toMatch(/test\/support\/workflows\.ts$/);
  });

  it("an error that the code throws, with where it throws it", async () => {
    const { lines, message } = await differenceOf(historyOf("throwsAtOnce", timerStarted()));
    expect(message).toBe("no such field");
    expect(lines[0]?.source).toBe('throw new TypeError("no such field");');
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
    const { kind, lines, message } = await differenceOf(historyOf("paysAsPayFirst", sent("pay")));
    expect(kind).toBe("otherStep");
    expect(message).toMatch(
      /^In event 5, this run sent a request as the step pay, but the code sends it as the step payFirst\. .*paid a second time/,
    );
    expect(lines.at(-1)?.source).toBe('await sendAs("payFirst");');
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

it("a test of one's own asks whether a run goes on", async () => {
  const workflows = new URL("./support/workflows.ts", import.meta.url);
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    const called = (name: string) => ({
      workflowId: "run",
      history: historyOf("callsFirst", activityScheduled(name)),
    });
    expect(await goesOn(workflows, called("first"))).toBe(true);
    expect(await goesOn(workflows, called("second"))).toBe(false);
    expect(logged).toHaveBeenCalledOnce();
  } finally {
    logged.mockRestore();
  }
});
