import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const pathTo = (file: string) => fileURLToPath(new URL(file, import.meta.url));

const chaos = (args: ReadonlyArray<string>) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      ["--conditions=@durable-payments/source", pathTo("../src/main.ts"), ...args],
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

/** The part of `--json` that is checked here. */
interface Result {
  readonly green: boolean;
  readonly duplicates: ReadonlyArray<{ readonly subject: string; readonly what: string }>;
  readonly folder: string;
}

// It takes its minute and a half: without a tracker its payouts are not seen to end.
it("a worker that sends again blindly turns the chaos run red", { timeout: 600_000 }, async () => {
  const { code, stderr, stdout } = await chaos([
    "--runs=12",
    "--seed=5",
    "--minutes=1.5",
    "--temperament=documented",
    "--json",
    `--worker=${pathTo("blind-worker.ts")}`,
  ]);
  if (stdout === "") throw new Error(stderr);
  const { duplicates, folder, green } = JSON.parse(stdout) as Result;
  await rm(folder, { recursive: true, force: true });
  expect({ code, green }).toEqual({ code: 1, green: false });
  expect(duplicates[0]).toEqual({
    subject: expect.stringMatching(/^chaos-(payout|twice)-/) as unknown,
    what: expect.stringMatching(/^\d+ payouts instead of one$/) as unknown,
  });
});
