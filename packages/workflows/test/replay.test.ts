import { quietRuntime } from "@durable-payments/protocol/test-server";
import { bundleForReplay, readRun, type Replay, replayHistories } from "@durable-payments/replay";
import type { WorkflowBundle } from "@temporalio/worker";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { asWorker, definitions } from "./support/bundle.ts";
import { endings } from "./support/endings/endings.ts";

/** Histories that `npm run histories:record` recorded. */
const folder = new URL("./histories/", import.meta.url);
const recorded = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replaceAll("\\", "/").replace(/\.json$/, ""));
/** Those that today's code would not write any more. */
const isEarlier = (name: string): boolean => name.startsWith("earlier/");
const textOf = (name: string): string => readFileSync(new URL(`${name}.json`, folder), "utf8");

let bundle: WorkflowBundle;
const replays = new Map<string, Replay>();
beforeAll(async () => {
  quietRuntime();
  bundle = await bundleForReplay(definitions, [asWorker]);
  const names = recorded.values();
  for await (const replay of replayHistories(bundle, recorded.map(runOf))) {
    // They come in their order.
    replays.set(names.next().value ?? "", replay);
  }
});

const runOf = (name: string) => readRun(JSON.parse(textOf(name)));

describe("a run that began under earlier code goes on under today's:", () => {
  it.each(recorded)("test/histories/%s.json", (name) => {
    expect(replays.get(name)).toEqual({
      workflowId: expect.any(String) as unknown,
      type: expect.any(String) as unknown,
      events: expect.any(Number) as unknown,
      deterministic: true,
    });
  });
});

it("there is a history of every ending, and of no other but of earlier code", () => {
  expect(recorded.filter((name) => !isEarlier(name)).toSorted()).toEqual(
    endings.map(({ name }) => name).toSorted(),
  );
});

// docs/versioning.md: a release notes its histories there.
it("every history that a release has is still among them, here or in earlier/", () => {
  const released = JSON.parse(
    readFileSync(new URL("./released-histories.json", import.meta.url), "utf8"),
  ) as Readonly<Record<string, string>>;
  const kept = new Set(
    recorded.map((name) => createHash("sha256").update(textOf(name)).digest("hex")),
  );
  const missing = Object.entries(released).filter(([hash]) => !kept.has(hash));
  expect(missing.map(([, name]) => name)).toEqual([]);
});

interface RecordedEvent {
  readonly eventType: string;
  readonly markerRecordedEventAttributes?: { readonly markerName: string };
}

// Its marker may get into the task after that of the local activity, and then a replay knows of it too late.
it.each(recorded.filter((name) => !isEarlier(name)))(
  "%s has no patch that follows on a local activity in one workflow task",
  (name) => {
    const { events } = JSON.parse(textOf(name)) as { events: ReadonlyArray<RecordedEvent> };
    const written = events.map(
      ({ eventType, markerRecordedEventAttributes: marker }) => marker?.markerName ?? eventType,
    );
    expect(written.join(" ")).not.toMatch(
      /core_local_activity (?:(?!EVENT_TYPE_WORKFLOW_TASK)\S+ )*core_patch/,
    );
  },
);

it("every workflow has a history", async () => {
  const definitions = Object.keys(await import("../src/definitions/index.ts"));
  // A page only keeps rows: its code never runs.
  expect(
    [...new Set([...replays.values()].map(({ type }) => type)), "payoutBatchChunk"].toSorted(),
  ).toEqual(definitions.toSorted());
});

it("a history that today's code would have written otherwise is reported, with the event", async () => {
  const text = textOf("payout-completed").replaceAll('"createPayout"', '"createPayment"');
  const replays: Array<Replay> = [];
  for await (const replay of replayHistories(bundle, [readRun(JSON.parse(text))])) {
    replays.push(replay);
  }
  expect(replays[0]).toMatchObject({
    deterministic: false,
    kind: "nondeterminism",
    difference: {
      event: { type: "ACTIVITY_TASK_SCHEDULED", name: "createPayment" },
      command: { type: "ACTIVITY_TASK_SCHEDULED", name: "createPayout" },
    },
  });
});

it.each(recorded)("%s shows nothing of the machine that recorded it, and no secret", (name) => {
  const decoded = textOf(name).replaceAll(/"data": "([\w+/=]+)"/g, (_, data: string) =>
    Buffer.from(data, "base64").toString(),
  );
  for (const trace of ["node_modules", "file://", "/packages/", "Bearer", "api-key", "apiKey"]) {
    expect(decoded).not.toContain(trace);
  }
});
