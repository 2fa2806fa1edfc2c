import { afterEach, expect, it, vi } from "vitest";
import { commandLine, commandLines } from "../src/output/command-line.ts";
import { columns, duration, fieldRows, time, wrap } from "../src/output/text.ts";

afterEach(() => vi.unstubAllEnvs());

it.each([
  [-5, "0.0 s"],
  [340, "0.3 s"],
  [9_949, "9.9 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [62_500, "1 min 2 s"],
  [3_600_000 + 61_000, "1 h 1 min"],
  [3 * 86_400_000 + 4 * 3_600_000 + 60_000, "3 d 4 h"],
])("writes %i ms as %s", (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});

it("writes times in UTC", () => {
  expect(time("2026-11-21T05:42:04.900+02:00")).toBe("2026-11-21 03:42:04 UTC");
});

it("breaks lines at 80 columns, and leaves long words whole", () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
  const lines = wrap(words, "    ").split("\n");
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    expect(line).toMatch(/^ {4}word/);
    expect(line.length).toBeLessThanOrEqual(80);
  }
  expect(lines.map((line) => line.trim()).join(" ")).toBe(words);
  const long = "x".repeat(100);
  expect(wrap(`a ${long} b`)).toBe(`a\n${long}\nb`);
});

it("lays fields out in two columns", () => {
  const value = { id: "p-1", complete_time: null, details: { code: 400, list: [1, 2] } };
  expect(columns(fieldRows(value))).toBe(
    [
      "  id             p-1",
      "  complete_time  –",
      "  details.code   400",
      "  details.list   [1,2]",
    ].join("\n"),
  );
});

it("writes commands that can be copied, as the starter was called", () => {
  expect(commandLine("status", "it's 1")).toBe("starter status 'it'\\''s 1'");
  vi.stubEnv("npm_lifecycle_event", "starter");
  const args = ["approve", "x".repeat(30), "--by", "NAME", "--hash", "y".repeat(36)];
  expect(commandLines("  ", ...args)).toBe(
    [
      `  npm run starter -- approve ${"x".repeat(30)} \\`,
      "    --by NAME \\",
      `    --hash ${"y".repeat(36)}`,
    ].join("\n"),
  );
  expect(commandLines("  ", "status", "a")).toBe("  npm run starter -- status a");
});
