import type { StartedProcess } from "@durable-payments/tools/processes";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { bundleAhead } from "./support/bundle.ts";
import { makeRig } from "./support/rig.ts";

// Each test is a process: a busy machine takes its time.

const WAITING = { timeout: 120_000, interval: 100 };

const { folder, pay, start } = await makeRig({ settleAfter: 0 });

const WORKFLOW_BUNDLE = join(folder, "bundle.js");
writeFileSync(WORKFLOW_BUNDLE, (await bundleAhead()).code);

const untilReady = (program: StartedProcess) =>
  vi.waitFor(() => expect(program.stdout()).toContain("ready\n"), WAITING);

it("leaves signals to a program that handles them, and drains when its worker is shut down", async () => {
  const program = start("own-signals-worker.ts", { WORKFLOW_BUNDLE });
  await untilReady(program);
  program.send("SIGTERM");
  await vi.waitFor(() => expect(program.stdout()).toContain("not yet"), WAITING);
  // It works as before.
  await (await pay("after-the-signal")).result();
  expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  expect(program.stdout()).toBe("ready\nnot yet\nnow\ndrained\n");
});

it("that cannot start says why in one line, without a stack, and ends with exit code 1", async () => {
  const program = start("../examples/worker.ts", { PAYMENTS_JOURNAL: "sqlite:/dev/null/journal" });
  expect(await program.exited).toEqual({ code: 1, signal: undefined });
  const said = program.stderr();
  expect(said).toMatch(/^\[CannotStart: The journal of sends cannot be used: .*\]$/m);
  expect(said).not.toMatch(/^\s+at /m);
  // Node's own words for what nobody catches, and its version.
  expect(said.trim().split("\n").length).toBeLessThan(10);
});

it("ends by itself, with the error, where a worker beside the user's fails", async () => {
  const program = start("failing-worker.ts", { WORKFLOW_BUNDLE });
  expect(await program.exited).toEqual({ code: 1, signal: undefined });
  expect(program.stderr()).toContain("Error: a fatal error");
});
