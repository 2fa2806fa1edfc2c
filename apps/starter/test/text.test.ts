import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { utc } from "@durable-payments/protocol";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { commandLine, commandLines } from "../src/output/command-line.ts";
import { doctorText } from "../src/output/doctor-text.ts";
import { failureRows } from "../src/output/failure-text.ts";
import { inDoubtText } from "../src/output/human-task-text.ts";
import { terminalTextFor } from "../src/output/styled.ts";
import { timelineText } from "../src/output/timeline-text.ts";
import { visible } from "../src/output/visible.ts";
import type { Timeline } from "@durable-payments/operations/timeline";
import {
  columns,
  columnsOf,
  cut,
  duration,
  fieldRows,
  pad,
  roughDuration,
  wrap,
  wrapDeeper,
} from "../src/output/text.ts";

afterEach(() => vi.unstubAllEnvs());

/** A text as it is written where there are no colours. */
const printed = (text: string): string => {
  vi.stubEnv("NO_COLOR", "1");
  return terminalTextFor(process.stdout)(text);
};

it("names a run in doubt that cannot be read, and no command that would settle it unseen", () => {
  const run = {
    workflowId: "inv-1",
    runId: "run-1",
    type: "payout",
    state: "failed",
    closedAt: null,
  } as const;
  const unread = "There is no run with the id inv-1.";
  const text = printed(inDoubtText([{ ...run, startedAt: "2026-11-22", inDoubt: [], unread }]));
  expect(text).toContain("inv-1 (payout), ended in doubt");
  expect(text.replaceAll(/\s+/g, " ")).toContain(
    `! It cannot be read, so check what it paid with the service: ${unread}`,
  );
  expect(text).not.toContain("settle");
});

it("names of an earlier run in doubt the commands by which it is seen and settled, and no retry", () => {
  const run = {
    workflowId: "rent-1",
    runId: "run-1",
    type: "payRent",
    state: "continuedAsNew",
    startedAt: "2026-11-22",
    closedAt: null,
    inDoubt: [{ step: "createPayout", operation: "createPayout" }],
    isEarlier: true,
  } as const;
  const text = printed(inDoubtText([run])).replaceAll(/[\s\\]+/g, " ");
  expect(text).toContain("Another run of this id has begun since");
  expect(text).toContain("runs show rent-1 --run-id run-1");
  expect(text).toContain("settle rent-1 --run-id run-1");
  expect(text).not.toContain("runs retry");
});

it.each([
  [-5, "0ms"],
  [340, "340ms"],
  [1_500, "1.5s"],
  [9_949, "9.9s"],
  [59_999, "59s"],
  [60_000, "1m"],
  [62_500, "1m 2s"],
  [3_600_000 + 61_000, "1h 1m"],
  [3 * 86_400_000 + 4 * 3_600_000 + 60_000, "3d 4h"],
  [400 * 86_400_000, "400d"],
])("writes %i ms as %s", (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});

it("writes a duration in one unit where there is little room", () => {
  expect([62_500, 400 * 86_400_000].map(roughDuration)).toEqual(["1m", "400d"]);
});

it.each([
  ["Müller", "Mül…"],
  ["支付款项", "支…"],
  ["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧…"],
  ["e\u0301e\u0301", "e\u0301e\u0301"],
])("cuts %s to the columns that a terminal has", (text, shown) => {
  expect(cut(text, 4)).toBe(shown);
  expect(columnsOf(pad(cut(text, 4), 6))).toBe(6);
});

it("wraps wide letters and colours by the columns that they take", () => {
  expect(wrap("支付款项 支付款项", "  ", 12)).toBe("  支付款项\n  支付款项");
  expect(wrap("\u001b[31mred\u001b[39m text", "", 8)).toBe("\u001b[31mred\u001b[39m text");
});

it("leaves the letters of an id as they are", () => {
  expect(wrap("cafe\u0301")).toBe("cafe\u0301");
});

it("writes times in UTC", () => {
  expect(utc("2026-11-21T05:42:04.900+02:00")).toBe("2026-11-21 03:42:04 UTC");
});

it("breaks lines at 80 columns, and within a word that is longer", () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
  const lines = wrap(words, "    ").split("\n");
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    expect(line).toMatch(/^ {4}word/);
    expect(line.length).toBeLessThanOrEqual(80);
  }
  expect(lines.map((line) => line.trim()).join(" ")).toBe(words);
  expect(wrap(`a ${"x".repeat(100)} b`, "  ")).toBe(
    `  a\n  ${"x".repeat(78)}\n  ${"x".repeat(22)}\n  b`,
  );
  expect(wrap("é".repeat(20), "", 8).split("\n").map(columnsOf)).toEqual([8, 8, 4]);
  expect(wrap("ab\\u{301}c", "", 8)).toBe("ab\n\\u{301}c");
});

it.each([40, 60, 200])(
  "breaks lines at the width of a terminal of %i columns, at most 80",
  (width) => {
    const { columns: before } = process.stdout;
    onTestFinished(() => {
      process.stdout.columns = before;
    });
    process.stdout.columns = width;
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
    const texts = [
      wrap(words, "    "),
      columns([["a_name", words]]),
      columns([["a_name_that_takes_most_of_the_line", words]]),
    ];
    for (const text of texts) {
      const widths = text.split("\n").map(columnsOf);
      expect(Math.max(...widths)).toBeLessThanOrEqual(Math.min(80, width));
      expect(Math.max(...widths)).toBeGreaterThan(Math.min(80, width) - 12);
      expect(
        text
          .replace(/^ *a_name\w* /, "")
          .trim()
          .split(/\s+/)
          .slice(-60)
          .join(" "),
      ).toBe(words);
    }
    const command = ["settle", "an-id", "--by", "NAME", "--step", "createPayout"];
    expect(commandLines("  ", ...command).includes("\n")).toBe(width === 40);
  },
);

it.each([40, 80])("does not break a path over lines of %i columns", (width) => {
  const { columns: before } = process.stdout;
  onTestFinished(() => {
    process.stdout.columns = before;
  });
  process.stdout.columns = width;
  const path = `/home/ada/.local/state/durable-payments/${"0123456789abcdef".repeat(2)}.sqlite`;
  const text = printed(
    doctorText({
      checks: [
        {
          name: "eu: journal of sends",
          status: "warning",
          detail: `the file ${path}, and is lost with it`,
          remedy: `Keep a copy of ${path} off this host.`,
        },
        { name: "server", status: "ok", detail: "default at localhost:7233" },
      ],
      views: [],
    }),
  );
  expect(text.split(path)).toHaveLength(3);
  const others = text.split("\n").filter((line) => !line.includes(path));
  expect(Math.max(...others.map(columnsOf))).toBeLessThanOrEqual(width);
  expect(text.replaceAll(/\s+/g, " ")).toContain(`the file ${path}, and is lost with it`);
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

it("says of a send that was not repeated what was sent before, and not that it failed", () => {
  const at = "2026-11-22T10:00:00.000Z";
  const message =
    "createPayout was not sent again: a send of it began at 2026-11-22 09:59:00 UTC, and its answer was lost.";
  const timeline: Timeline = {
    workflowId: "a",
    runId: "r",
    type: "payout",
    summary: null,
    state: "running",
    firstStartedAt: at,
    startedAt: at,
    startedBy: null,
    askedToEnd: null,
    undoes: false,
    closedAt: null,
    currency: null,
    paymentIds: [],
    namedIds: [],
    resetFrom: null,
    laterRun: null,
    noRetry: null,
    steps: [
      {
        name: "createPayout",
        state: "running",
        since: at,
        until: null,
        tookMs: null,
        events: [
          {
            kind: "activity",
            activity: "createPayout",
            summary: "Create the payout",
            since: at,
            until: at,
            tookMs: 12,
            outcome: "failed",
            attempts: 1,
            failure: { type: "AlreadySent", message },
            nextAttemptAt: null,
          },
        ],
      },
    ],
    result: undefined,
    failure: null,
    settled: [],
    inDoubt: [],
    batch: null,
    workerFault: null,
    next: [],
    webUi: null,
  };
  const shown = timelineText(timeline).replaceAll(/\s+/g, " ");
  expect(shown).toContain(`Create the payout: ${message}`);
});

it("says of a failure what happened and what it means for the money, each once", () => {
  const message = "createPayout was refused: Insufficient balance";
  const details = {
    operation: "createPayout",
    carriedOut: "no",
    message,
    code: 400,
    reason: "Insufficient balance",
  };
  const failure = { type: "Refused", message, details };
  const rows = [
    ["message", message],
    ["meaning", "nothing was carried out by createPayout"],
    ["code", "400"],
    ["type", "Refused"],
  ];
  expect(failureRows(failure)).toEqual(rows);
  const more = `${message}. The payout P-1 of 2.00 EUR had been made.`;
  expect(failureRows({ ...failure, message: more })).toEqual([["message", more], ...rows.slice(1)]);
  vi.stubEnv("STARTER_COMMAND", "./starter");
  const hint = { type: "T", message: "Settle it (starter settle a). The starter settles nothing." };
  expect(failureRows(visible(hint))[0]?.[1]).toBe(
    "Settle it (./starter settle a). The starter settles nothing.",
  );
  const published = "Settle it (npx @durable-payments/cli settle a).";
  expect(failureRows(visible({ ...hint, message: published }))[0]?.[1]).toBe(
    "Settle it (./starter settle a).",
  );
  const cause = { ...failure, details: { ...details, carriedOut: "unknown" } };
  const left = { leftOver: ["remove the cardholder"] };
  expect(failureRows({ type: "Wrapped", message: "Not all undone", details: left, cause })).toEqual(
    [
      ["message", "Not all undone"],
      ["leftOver", '["remove the cardholder"]'],
      ["type", "Wrapped"],
      ["cause: message", message],
      ["cause: meaning", "nobody knows whether createPayout was carried out"],
      ["cause: code", "400"],
      ["cause: type", "Refused"],
    ],
  );
  expect(failureRows({ type: "Wrapped", message: `Ended: ${message}`, cause: failure })).toEqual([
    ["message", `Ended: ${message}`],
    ["type", "Wrapped"],
    ["cause: meaning", "nothing was carried out by createPayout"],
    ["cause: code", "400"],
    ["cause: type", "Refused"],
  ]);
});

it("writes commands that can be copied, as the starter was called", () => {
  expect(printed(commandLine("status", "it's 1"))).toBe("starter status 'it'\\''s 1'");
  vi.stubEnv("STARTER_COMMAND", "./starter");
  const args = ["approve", "x".repeat(30), "--by", "NAME", "--hash", "y".repeat(36)];
  expect(commandLines("  ", ...args)).toBe(
    [
      `  ./starter approve ${"x".repeat(30)} \\`,
      "    --by NAME \\",
      `    --hash ${"y".repeat(36)}`,
    ].join("\n"),
  );
  expect(commandLines("  ", "status", "a")).toBe("  ./starter status a");
});

it("keeps a command on one line, however long it is", () => {
  const command = ["status", "x".repeat(80)] as const;
  const text = wrap(`It goes on. See it: ${commandLine(...command)}`);
  expect(printed(text).split("\n").at(-1)).toBe(`starter status ${"x".repeat(80)}`);
  expect(printed(columns([["see it", commandLine(...command)]]))).toBe(
    `  see it  starter status ${"x".repeat(80)}`,
  );
});

it("writes commands that bash reads as what they name, whatever characters that has", () => {
  const anyId = fc.string({ unit: "grapheme", minLength: 1 }).map((id) => `${id}\u202e\n\\u{41}'`);
  const ids = fc.sample(anyId, { numRuns: 50, seed: 1 }).map((id) => id.replaceAll("\0", ""));
  const script = ids
    .map((id) => `${printed(commandLine(visible(id)))}\n`)
    .join("")
    .replaceAll(/^starter /gm, "printf '%s\\0' ");
  const read = execFileSync("bash", ["--norc", "-c", script], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { LC_ALL: "C.UTF-8" },
  });
  expect(read.split("\0").slice(0, -1)).toEqual(ids);
});

it.each([
  ["Invoice 4711", "Invoice 4711"],
  [`Invoice${" ".repeat(30)}amount 40.00`, "Invoice \\u{20}×30 amount 40.00"],
  ["a\u00a0b", "a\\u{a0}b"],
  ["a\u00a0 \u3000b", "a\\u{a0} \\u{3000}b"],
  ["\\u{20}×30", "\\u{5c}u{20}×30"],
])("shows a row of blanks by its length: %j", (text, shown) => {
  expect(visible({ text })).toEqual({ text: shown });
});

it("no part of a reference stands where a field of its payout does", () => {
  const reference = `Invoice${" ".repeat(75)}amount  40.00`;
  const lines = columns(fieldRows(visible({ amount: "9000.00", reference })), "    ").split("\n");
  expect(lines.filter((line) => line.includes("40.00"))).toEqual([
    expect.stringContaining("\\u{20}×75 amount \\u{20}×2 40.00"),
  ]);
});

it("begins no line of a terminal with what a reference says of the run", () => {
  const payout_reference = `${"x".repeat(57)}This\u00a0run\u00a0was\u00a0approved\u00a0by\u00a0Bob`;
  const lines = columns(fieldRows(visible({ amount: "9.00", payout_reference })), "    ").split(
    "\n",
  );
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines.slice(2)) expect(line).toMatch(/^ {22}\S/);
  expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(80);
  expect(lines.join("")).not.toMatch(/This\srun/);
});

it("keeps an id in one piece, below its name where there is no room beside it", () => {
  const { columns: before } = process.stdout;
  onTestFinished(() => {
    process.stdout.columns = before;
  });
  process.stdout.columns = 44;
  const id = "0198f3a2-7c1b-7d3e-9f00-5a6b7c8d9e0f";
  expect(columns([["beneficiary_id", id]])).toBe(`  beneficiary_id\n    ${id}`);
});

it("wraps to a deeper indent", () => {
  expect(wrapDeeper("one two", "    ", 11)).toBe("    one two");
  expect(wrapDeeper("one two three", "  ", 11)).toBe("  one two\n    three");
});
