import { readdirSync, readFileSync } from "node:fs";
import { DeterminismViolationError } from "@temporalio/workflow";
import { Worker, type WorkflowBundle } from "@temporalio/worker";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleWorkflows } from "./support/bundle.ts";
import { endings } from "./support/endings.ts";
import { quietRuntime } from "./support/quiet.ts";

/** Histories that `npm run histories:record` recorded: the file's name is the workflow's id. */
const folder = new URL("./histories/", import.meta.url);
const recorded = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replace(/\.json$/, ""));
const textOf = (name: string): string => readFileSync(new URL(`${name}.json`, folder), "utf8");

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  quietRuntime();
  workflowBundle = await bundleWorkflows();
});

const replay = (name: string, text: string): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle }, JSON.parse(text), name);

describe("a run that began under earlier code goes on under today's:", () => {
  it.each(recorded)("%s", async (name) => {
    await expect(replay(name, textOf(name))).resolves.toBeUndefined();
  });
});

it("there is a history of every main ending, and of no other", () => {
  expect(recorded.toSorted()).toEqual(endings.map(({ name }) => name).toSorted());
});

it("a history that today's code would have written otherwise is told", async () => {
  const name = "payout-completed";
  const other = textOf(name).replaceAll('"createPayout"', '"createPayment"');
  await expect(replay(name, other)).rejects.toBeInstanceOf(DeterminismViolationError);
});

it.each(recorded)("%s tells nothing of the machine that recorded it, and no secret", (name) => {
  const decoded = textOf(name).replaceAll(/"data": "([\w+/=]+)"/g, (_, data: string) =>
    Buffer.from(data, "base64").toString(),
  );
  for (const trace of ["node_modules", "file://", "/packages/", "Bearer", "api-key", "apiKey"]) {
    expect(decoded).not.toContain(trace);
  }
});
