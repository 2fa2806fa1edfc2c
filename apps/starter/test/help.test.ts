import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

const starter = async (...args: ReadonlyArray<string>) => {
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: "/nowhere",
    TEMPORAL_ADDRESS: "127.0.0.1:9",
  };
  const options = { env: environment };
  const flags = ["--conditions=@durable-payments/source", main, ...args];
  try {
    const { stderr, stdout } = await run(process.execPath, flags, options);
    return { code: 0, stderr, stdout };
  } catch (error) {
    const { code, stderr, stdout } = error as { code: number; stderr: string; stdout: string };
    return { code, stderr, stdout };
  }
};

it.each([[], ["list"], ["show"], ["inbox"], ["doctor"], ["replay"]])(
  "has a help of at most 80 columns: %s",
  async (...command) => {
    const { code, stdout } = await starter(...command, "--help");
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain("--json");
  },
);

it("reports what cannot be reached, and exits with 3", async () => {
  const { code, stderr, stdout } = await starter("inbox");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain("The ledger cannot be used");
});

it("reports a command line that it cannot read, and exits with 2", async () => {
  const { code, stdout } = await starter("list", "--nope", "--json");
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { type: "BadInput" } });
});

it.each([
  [["recover", "--since", "tomorrow"], "since"],
  [["ledger", "prune", "--before", "2999-01-01", "--reason", "old"], "before"],
  [["list", "--status", "doubtful"], "There is no status"],
  [["list", "--limit", "0"], "limit"],
  [["retry", "i-1", "--override"], "reason is required"],
  [["pause"], "reason is required"],
  [["resume", "--by", " "], "name"],
] as const)("refuses bad input before anything connects: %s", async (line, what) => {
  const { code, stderr } = await starter(...line);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(what) });
});
