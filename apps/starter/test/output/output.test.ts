import { connectionFailed, InvalidInput } from "@durable-payments/control/errors";
import type { Replay } from "@durable-payments/replay";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { badUsage, EXIT_CODES } from "../../src/exit-codes.ts";
import { retryNext } from "../../src/input/retrying.ts";
import { reportError } from "../../src/output/error-report.ts";
import { commandOf } from "../../src/output/next.ts";
import { processOutput } from "../../src/output/output.ts";
import { replayText } from "../../src/output/replay-text.ts";
import { money, table, wrap } from "../../src/output/text.ts";

const captured = (stream: NodeJS.WriteStream): Array<string> => {
  const written: Array<string> = [];
  vi.spyOn(stream, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  return written;
};

beforeEach(() => {
  vi.stubEnv("PAYMENTS_PERSON", undefined);
  return () => vi.unstubAllEnvs();
});
afterEach(() => vi.restoreAllMocks());

it("shows what comes from outside in visible characters, on one line", () => {
  const written = captured(process.stdout);
  const data = { reason: "ok\n✓ paid\u001b[2K\u202E" };
  processOutput(false).answer(data, ({ reason }) => reason);
  expect(written).toEqual(["ok\\u{a}✓ paid\\u{1b}[2K\\u{202e}\n"]);
});

it("keeps lines and styles of its own", () => {
  const written = captured(process.stdout);
  processOutput(false).answer({}, () => "\u001b[31mred\u001b[39m\nnext");
  expect(written).toEqual(["\u001b[31mred\u001b[39m\nnext\n"]);
});

it("prints one JSON object for programs", () => {
  const written = captured(process.stdout);
  processOutput(true).answer({ a: "\u001b" }, () => "text");
  expect(JSON.parse(written.join(""))).toEqual({ a: "\u001b" });
  expect(written.join("")).not.toContain("\u001b");
});

it.each([
  [badUsage("--limit must be 1 or more."), EXIT_CODES.badInput, "BadInput"],
  [new InvalidInput({ message: "wrong" }), EXIT_CODES.badInput, "InvalidInput"],
  [new Error("oops"), EXIT_CODES.unexpected, "Unexpected"],
])("reports an error as JSON, and by its exit code", (error, code, type) => {
  const written = captured(process.stdout);
  expect(reportError(processOutput(true), error)).toBe(code);
  expect(JSON.parse(written.join(""))).toMatchObject({ error: { type } });
});

it("reports an error on standard error, with the command that helps on a line of its own", () => {
  const written = captured(process.stderr);
  const error = new InvalidInput({ message: "m".repeat(90), next: { action: "inbox" } });
  reportError(processOutput(false), error);
  expect(written.join("").split("\n").at(-2)).toBe(
    "  See what is waiting for a person: durable-payments inbox",
  );
});

it("makes further lines harmless first, and then wraps them", () => {
  const written = captured(process.stderr);
  const lines = ["invoice-17, createPayout", `Why: ${"word ".repeat(30)}`, "a\u001b[2K\nb"];
  reportError(processOutput(false), badUsage("Say your answer.", lines));
  const text = written.join("");
  expect(text.split("\n")).toContain("  invoice-17, createPayout");
  expect(text.split("\n").every((line) => line.length <= 80)).toBe(true);
  expect(text).not.toMatch(/word\\u\{/);
  expect(text).toContain("  a\\u{1b}[2K\\u{a}b\n");
});

it("names a fault once, which a message may name as well", () => {
  const written = captured(process.stderr);
  const message = "The filter is invalid: until must be a time. Nothing was read.";
  const faults = [
    { field: "until", problem: "must be a time" },
    { field: "since", problem: "is unknown" },
  ];
  reportError(processOutput(false), new InvalidInput({ message, faults }));
  expect(written.join("").split("\n")).toEqual([`error ${message}`, "  since is unknown", ""]);
});

it.each([
  [{ action: "pay" }, "durable-payments pay FILE --not-a-duplicate WHY --by NAME"],
  [
    { action: "pay", id: "invoice-17" },
    "durable-payments pay FILE --not-a-duplicate WHY --id invoice-17 --by NAME",
  ],
  [
    { action: "onboard", id: "card-1" },
    "durable-payments onboard FILE --not-a-duplicate WHY --id card-1 --by NAME",
  ],
  [
    retryNext(
      { workflowId: "invoice-17", runId: "run-1" },
      { isOverruling: true, isAmended: true, isRestarted: true },
    ),
    "durable-payments retry invoice-17 --if-run run-1 --override --amend FILE --restart --reason WHY --by NAME",
  ],
  [
    retryNext(
      { workflowId: "invoice-17", runId: "run-1", from: "price" },
      { isOverruling: false, isAmended: false, isRestarted: false },
    ),
    "durable-payments retry invoice-17 --if-run run-1 --from price --by NAME",
  ],
] as const)("keeps what was given in the command that is offered: %j", (next, command) => {
  expect(commandOf(next)).toBe(command);
});

it.each(["durable-payments/dist/apps/starter/dist/app/main.mjs", ".bin/durable-payments"])(
  "knows the published package: %s",
  (path) => {
    vi.spyOn(process, "argv", "get").mockReturnValue(["node", `/p/node_modules/${path}`]);
    expect(commandOf({ action: "startServer" })).toBe("temporal server start-dev");
  },
);

it("advises no server on this machine for the Temporal of an installation", () => {
  const written = captured(process.stderr);
  const next = { action: "startServer" } as const;
  const error = connectionFailed("cannotConnect", "m", next);
  vi.stubEnv("TEMPORAL_ADDRESS", undefined);
  reportError(processOutput(false), error);
  expect(written.join("")).toContain("npm run dev");
  vi.stubEnv("TEMPORAL_ADDRESS", "localhost:7233");
  reportError(processOutput(false), error);
  vi.unstubAllEnvs();
  expect(written.join("").split("\n").at(-2)).toBe("  Find the fault: durable-payments doctor");
});

it("prints how to replay a workflow that this package does not have", () => {
  const replay: Replay = {
    workflowId: "order-17",
    type: "payOrder",
    events: 3,
    deterministic: false,
    kind: "unknownWorkflow",
    message: "no such function is exported by the workflow bundle",
    lines: [],
  };
  expect(
    replayText({ runs: [replay], skipped: [] }, () => ["Temporal: no such function"]),
  ).toContain("--workflows PATH");
  const skipped = [{ reason: "not on the task queue payments", runs: 3 }];
  expect(replayText({ runs: [], skipped }, () => [])).toContain(
    "Skipped 3 run(s): not on the task queue payments.",
  );
});

it("quotes what a shell would not take for one argument", () => {
  expect(commandOf({ action: "cancel", workflowId: "it's 1" })).toBe(
    String.raw`durable-payments cancel 'it'\''s 1' --reason WHY --by NAME`,
  );
});

it("prints columns as wide as they have to be, and wraps the last one", () => {
  const text = table([
    ["a", "", "one"],
    ["bbb", "", "two ".repeat(30).trim()],
  ]);
  expect(text.split("\n")[0]).toBe("a    one");
  expect(text.split("\n").every((line) => line.length <= 80)).toBe(true);
  const id = "0198c1f2-7b1c-7000-8000-0123456789ab";
  // An id that is broken cannot be copied.
  expect(table([["a".repeat(46), `cardholder ${id}, verified`]], { indent: "  " })).toContain(id);
  expect(wrap(`x ${id}`, "", 20)).toContain(id);
  expect(money({ amount: null, currency: "EUR" })).toBe("");
});

const onScreen = (rows: number): (() => void) => {
  const before = { isTTY: process.stdout.isTTY, rows: process.stdout.rows, columns: 0 };
  before.columns = process.stdout.columns;
  Object.assign(process.stdout, { isTTY: true, rows, columns: 40 });
  return () => Object.assign(process.stdout, before);
};

it.each([
  ["a longer text", { lines: 30, rows: 10, pager: "cat >", isPaged: true }],
  [
    "a text with lines wider than the screen",
    { lines: 6, rows: 10, pager: "cat >", isPaged: true },
  ],
  ["a text that fits", { lines: 3, rows: 10, pager: "cat >", isPaged: false }],
  ["a long text, if PAGER is cat", { lines: 30, rows: 10, pager: "cat", isPaged: false }],
  [
    "a long text, if there is no such pager",
    { lines: 30, rows: 10, pager: "no-such-pager", isPaged: false },
  ],
])("pages at a terminal: %s", (_, { isPaged, lines, pager, rows }) => {
  const folder = mkdtempSync(join(tmpdir(), "pager-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "paged");
  vi.stubEnv("PAGER", pager.endsWith(">") ? `${pager} '${file}'` : pager);
  const written = captured(process.stdout);
  onTestFinished(onScreen(rows));
  const text = `${"x".repeat(70)}\n`.repeat(lines).trimEnd();
  const output = processOutput(false);
  output.isPaged = true;
  output.answer({}, () => text);
  expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(isPaged ? `${text}\n` : "");
  expect(written.join("")).toBe(isPaged ? "" : `${text}\n`);
});

it("pages nothing in a pipe, and nothing for a program", () => {
  vi.stubEnv("PAGER", "exit 3");
  const written = captured(process.stdout);
  const piped = processOutput(false);
  piped.isPaged = true;
  piped.answer({}, () => "long\n".repeat(500).trimEnd());
  onTestFinished(onScreen(2));
  const program = processOutput(true);
  program.isPaged = true;
  program.answer({ a: "b\n".repeat(50) }, () => "text");
  expect(written.join("").split("\n").length).toBeGreaterThan(500);
  expect(JSON.parse(written.at(-1) ?? "")).toEqual({ a: "b\n".repeat(50) });
});

it("fills the terminal, or as many columns as COLUMNS says", () => {
  const widths = (text: string) => Math.max(...text.split("\n").map((line) => line.length));
  const long = "word ".repeat(100).trim();
  expect(widths(wrap(long))).toBeLessThanOrEqual(80);
  vi.stubEnv("COLUMNS", "130");
  expect(widths(wrap(long))).toBe(129);
  expect(widths(table([["a", long]]))).toBeGreaterThan(120);
  onTestFinished(onScreen(10));
  expect(widths(wrap(long))).toBeLessThanOrEqual(40);
});
