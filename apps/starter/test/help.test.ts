import { beforeEach, expect, it, vi } from "vitest";
import { runCli } from "./support/run-cli.ts";

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("HOME", "/nowhere");
  vi.stubEnv("XDG_STATE_HOME", undefined);
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:9");
  return () => vi.unstubAllEnvs();
});

it.each([[], ["list"], ["show"], ["inbox"], ["doctor"], ["replay"], ["ledger", "migrate"]])(
  "has a help of at most 80 columns: %s",
  async (...command) => {
    const { code, stdout } = await runCli(...command, "--help");
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain("--json");
  },
);

it("has the commands in groups, each in one, and the servers among them", async () => {
  const { stdout } = await runCli("--help");
  const [, listed = ""] = stdout.split(/^(?=Start:)/m);
  const headings = listed.split("\n").filter((line) => /^\S/.test(line));
  expect(headings).toEqual(["Start:", "Watch:", "Decide:", "Stop and repair:", "Operate:", "Run:"]);
  const names = [...listed.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(["pay", "worker", "simulator", "codec-server"]));
});

it("reports what cannot be reached, and exits with 3", async () => {
  const { code, stderr, stdout } = await runCli("inbox");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain("The ledger cannot be used");
});

it("reports a command line that it cannot read, and exits with 2", async () => {
  const { code, stdout } = await runCli("list", "--nope", "--json");
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { type: "BadInput" } });
  const { stderr } = await runCli("aprove");
  expect(stderr.replaceAll(/\s+/g, " ")).toContain("; did you mean approve? (see ");
});

it.each([
  [["recover", "--since", "tomorrow"], "since"],
  // There is no such day: the next one would leave out payments, and nobody would see it.
  [["report", "--since", "2026-02-30"], "since"],
  [["report", "--since", "2026-02-28 (EST)"], "since"],
  [["limits", "set", "--max", "EUR=1,EUR=9", "--by", "ada", "--reason", "x"], "each currency once"],
  [["limits", "set", "--max", "EUR=1=9", "--by", "ada", "--reason", "x"], "each currency once"],
  // Not 30 milliseconds.
  [["report", "--since", "30"], "since"],
  [["pay", "x.json", "--wait", "--timeout", "30", "--by", "ada"], "timeout"],
  // Node's timers are shorter: it would end at once.
  [["pay", "x.json", "--wait", "--timeout", "30d", "--by", "ada"], "at most 24 days"],
  [["ledger", "prune", "--before", "2999-01-01", "--reason", "old"], "before"],
  [["list", "--status", "doubtful"], "There is no status"],
  [["list", "--limit", "0"], "a whole number from 1"],
  [["retry", "--all-failed", "--rate", "abc", "--by", "ada"], "a whole number from 1"],
  [["retry", "i-1", "--override", "--by", "ada"], "reason is required"],
  [["ledger", "prune", "--before", "400d", "--by", "ada"], "reason is required"],
  [["pause", "--by", "ada"], "reason is required"],
  // Nobody is the user of a machine that others use as well.
  [["pause", "--reason", "audit"], "--by NAME"],
  [["pay", "x.json"], "--by NAME"],
  [["approve", "i-1"], "--by NAME"],
  [["resume", "--by", " "], "name"],
] as const)("refuses bad input before anything connects: %s", async (line, what) => {
  const { code, stderr } = await runCli(...line);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(what) });
});
