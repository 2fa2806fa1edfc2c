import { expect, it } from "vitest";
import { awaitReadyLine, spawnProcess } from "../src/processes.ts";

it("a process that is ending gets the time that a worker needs to drain", async () => {
  const drains = `process.on("SIGTERM", () => setTimeout(() => process.exit(0), 5_500));
    setInterval(() => {}, 1_000);
    console.log("{}");`;
  const started = spawnProcess(process.execPath, ["--eval", drains]);
  await awaitReadyLine(started);
  expect(await started.kill()).toEqual({ code: 0, signal: undefined });
});
