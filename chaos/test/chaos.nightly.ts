import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { spawnProcess } from "@durable-payments/tools/processes";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

const chaos = async (args: readonly string[]) => {
  const started = spawnProcess(process.execPath, [
    "--conditions=@durable-payments/source",
    main,
    ...args,
  ]);
  const { code } = await started.exited;
  return { code, stdout: started.stdout(), stderr: started.stderr() };
};

/** The part of `--json` that is checked here. */
interface Result {
  readonly green: boolean;
  readonly completed: number;
  readonly refused: number;
  readonly ended: number;
  readonly failed: number;
  readonly folder?: string;
  readonly processFaults: Readonly<Record<string, number>>;
  readonly requestFaults: Readonly<Record<string, number>>;
}

// One to four minutes: mostly waiting until what a killed worker may have sent is certain.
it("moves money exactly once, whatever breaks: a short run", { timeout: 600_000 }, async () => {
  const { code, stderr, stdout } = await chaos([
    "--runs=24",
    "--seed=7",
    "--minutes=8",
    "--temperament=documented",
    "--json",
  ]);
  if (stdout === "") throw new Error(stderr);
  const result = JSON.parse(stdout) as Result;
  // What was found is shown by the assertion.
  if (result.folder !== undefined) await rm(result.folder, { recursive: true, force: true });
  expect({ code, ...result }).toMatchObject({
    code: 0,
    green: true,
    duplicates: [],
    lost: [],
    wrong: [],
    stuck: [],
    harness: [],
    processFaults: { simulatorKills: 1, serverRestarts: 1 },
  });
  expect(result.completed + result.refused + result.ended + result.failed).toBe(24);
  expect(result.processFaults["workerKills"]).toBeGreaterThan(0);
  const struck = Object.values(result.requestFaults).reduce((sum, count) => sum + count, 0);
  expect(struck).toBeGreaterThan(20);
});

it.each([
  ["--runs=1", "--runs must be a whole number from 2 to 2000"],
  ["--seed=x", "--seed must be a whole number"],
  ["--minutes=0", "--minutes must be a number above 0"],
  ["--campaigns=0", "--campaigns must be a whole number from 1 to 1000"],
  ["--temperament=odd", "--temperament must be drawn, documented or a JSON object"],
])("refuses %s before anything is started", async (option, words) => {
  const { code, stderr, stdout } = await chaos([option]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(words);
});
