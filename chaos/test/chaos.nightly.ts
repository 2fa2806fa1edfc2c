import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

const chaos = (args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: unknown; readonly output: string }>((resolve) => {
    execFile(
      process.execPath,
      ["--conditions=@durable-payments/source", main, "--quiet", ...args],
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, output: `${stdout}${stderr}` }),
    );
  });

it.each([
  ["nothing restored", ["--seed=7"]],
  ["the ledger restored", ["--seed=8", "--restore=ledger"]],
  ["Temporal restored", ["--seed=10", "--restore=temporal"]],
  ["both restored by the procedure of docs/restore.md", ["--seed=11", "--restore=both"]],
  ["a ledger in PostgreSQL that breaks and fails over", ["--seed=12", "--ledger=postgres"]],
  ["the independent service", ["--seed=9", "--service=independent"]],
])("moves money exactly once: %s", { timeout: 900_000 }, async (_, args) => {
  const { code, output } = await chaos(["--runs=24", "--minutes=8", ...args]);
  expect({ code, output }).toEqual({
    code: 0,
    output: expect.stringContaining("green") as unknown,
  });
});
