import { skippedBecause } from "../src/testing/skip.ts";
import { expect, it } from "vitest";
import {
  createTimeSkippingEnvironment,
  startProcess,
  whyNoTimeSkipping,
} from "@durable-payments/tools/testing";

it("skips thirty days in no time", skippedBecause(whyNoTimeSkipping()), async () => {
  const environment = await createTimeSkippingEnvironment();
  try {
    const before = await environment.currentTimeMs();
    await environment.sleep("30 days");
    expect((await environment.currentTimeMs()) - before).toBeGreaterThan(29 * 24 * 3_600_000);
  } finally {
    await environment.teardown();
  }
});

it("starts a process, reads its first JSON line, ends it", async () => {
  const script = `console.log("hello"); console.log(JSON.stringify({ answer: process.env.ANSWER })); setInterval(() => {}, 1000)`;
  const started = await startProcess(process.execPath, ["--eval", script], { ANSWER: "42" });
  expect(started.ready).toEqual({ answer: "42" });
  expect(started.stdout()).toContain("hello");
  expect(await started.kill()).toEqual({ code: undefined, signal: "SIGTERM" });
});

it("names the reason why a process did not become ready", async () => {
  const script = `console.error("port 1 is taken"); process.exit(3)`;
  await expect(startProcess(process.execPath, ["--eval", script])).rejects.toThrow(
    /ended with exit code 3[\s\S]*port 1 is taken/,
  );
  await expect(startProcess("no-such-command-here", [])).rejects.toThrow(/no-such-command-here/);
});
