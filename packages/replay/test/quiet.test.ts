import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("./support/replay-twice.ts", import.meta.url));

/** What a process prints that replays, by itself and by the SDK, which writes to it in two languages. */
const printedBy = (...args: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, [program, ...args]);

it("the SDK logs nothing of a replay, and what runs after it in the process logs as before", async () => {
  const { stderr, stdout } = await printedBy();
  expect(stdout).toBe("1: false\n2: false\nINFO\n");
  expect(stderr).toBe("");
});

it("a process that has installed a Runtime sees what the SDK logs, each time", async () => {
  const { stdout } = await printedBy("--install");
  // RUNNING, STOPPING, DRAINING, DRAINED and STOPPED, of each of the two. The lines of the SDK's native part do not
  // count: it loses those of the last 10 ms when the Runtime of an ended worker is closed.
  expect(stdout.match(/own logger: Worker state changed/g)).toHaveLength(10);
});
