import { quietRuntime } from "@durable-payments/protocol/test-server";
import { Worker } from "@temporalio/worker";
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { bundleOf } from "./support/stub-rig.ts";

const folder = new URL("histories/", import.meta.url);

let workflowBundle: Awaited<ReturnType<typeof bundleOf>>;
beforeAll(async () => {
  quietRuntime();
  workflowBundle = await bundleOf("workflows.ts");
}, 60_000);

// Recorded by `RECORD_HISTORIES=1 npx vitest run --project=@durable-payments/workflows test/exactly-once`.
it.each(readdirSync(folder))("the history %s replays", async (name) => {
  const history: unknown = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
  await expect(
    Worker.runReplayHistory({ workflowBundle, replayName: name }, history),
  ).resolves.toBeUndefined();
});
