import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { makeStarter } from "./support/starter.ts";

const folder = await mkdtemp(join(tmpdir(), "hostile-files-"));
afterAll(() => rm(folder, { recursive: true }));
const { starter } = await makeStarter();

const LEVELS = 100_000;
const nested = `${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}`;
const lists = `{"beneficiary_id":${"[".repeat(LEVELS)}${"]".repeat(LEVELS)}}`;

it.each([
  ["payout", "--file"],
  ["onboard", "--file"],
  ["runs", "replay", "--file"],
  ["runs", "retry", "some-run", "--by", "Ada", "--amend"],
])("a file that is nested very deep is refused in one line: %s %s", async (...command) => {
  for (const content of [nested, lists]) {
    const file = join(folder, "deep.json");
    await writeFile(file, content);
    const { exitCode, stdout } = await starter([...command, file, "--json"]);
    expect(exitCode).toBe(2);
    expect(stdout).toContain("is nested more than 500 levels deep");
    expect(stdout.length).toBeLessThan(300);
  }
});

it("a file that is larger than any input is refused in one line", async () => {
  const file = join(folder, "huge.json");
  await writeFile(file, "{");
  // Larger than the longest text of Node.
  await truncate(file, 600 * 1024 * 1024);
  const { exitCode, stdout } = await starter(["payout", "--file", file, "--json"]);
  expect(exitCode).toBe(2);
  expect(stdout).toContain("is larger than 128 MB");
});
