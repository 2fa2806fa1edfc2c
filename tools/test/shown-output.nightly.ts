import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { appArguments, checkout, awaitReadyLine } from "../src/processes.ts";
import { type Stack, startStack } from "../src/stack.ts";
import { type Exchange, exchangesOf, isAsShown } from "./support/transcript.ts";

const TEST_TIMEOUT_MS = 600_000;
vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** Writes what was printed into the documents, for a person to read and commit. */
const isUpdate = process.env["UPDATE_SHOWN_OUTPUT"] === "1";

const WITHIN_MS = 60_000;
/** How long what is read may take to show it; what is written anew is read after the usual lag. */
const SHOWN_WITHIN_MS = isUpdate ? 3_000 : WITHIN_MS;
const READING = /^\.\/durable-payments(?:$| (?:list|show|inbox|failed|duplicates|doctor)\b)/;
const documentedUrl = "http://127.0.0.1:4010";

const silent = { line: () => {}, during: async <A>(_text: string, work: Promise<A>) => await work };

/** Exit codes of a command that its document should not have: usage, not found, refused, internal error. */
const UNDONE: ReadonlySet<number | undefined> = new Set([2, 3, 5, 6, 70]);

/** Runs a line of a document as its reader would, and returns what a terminal would show. */
const runLine = async (stack: Stack, line: string, isShown = true): Promise<string> => {
  // The stack runs; an answer is asked for at a terminal only, and what waits for it is followed for ever.
  if (/^git clone |npm run dev$|^\.\/durable-payments answer (?!.* --for )|--follow$/.test(line))
    return "";
  if (line === "npm run worker") {
    const worker = stack.spawn("worker", appArguments("worker", ["--json"]));
    await awaitReadyLine(worker);
    return "";
  }
  const ended = /^kill -9 PROCESS$/.test(line) ? stack.parts.worker : undefined;
  if (ended !== undefined) {
    process.kill(ended.pid);
    return "";
  }
  const service = stack.variables.PAYMENTS_BASE_URL;
  const script = `exec 2>&1\n${line.replaceAll(documentedUrl, service)}`;
  const { exitCode, stdout } = await execa("bash", ["-c", script], {
    cwd: checkout,
    reject: false,
    stdin: "ignore",
    env: { ...stack.variables, NO_COLOR: "1" },
  });
  if (!isShown && UNDONE.has(exitCode))
    throw new Error(`${line} exits with ${exitCode}: ${stdout}`);
  return stdout.replaceAll(service, documentedUrl);
};

const REPAIR = /repairs\/[\da-f]{16}/g;

/** Puts the hash, question and the like that were printed last where a document has `--hash HASH`, or the id of a repair. */
const withPrinted = (line: string, printed: string): string =>
  line
    .replaceAll(REPAIR, (shown) => printed.match(REPAIR)?.at(-1) ?? shown)
    .replaceAll(/(--\w+) [A-Z]+\b/g, (shown, flag: string) => {
      const values = [...printed.matchAll(new RegExp(`${flag} (\\S+)`, "g"))].map(
        ([, value]) => value,
      );
      return `${flag} ${values.at(-1) ?? shown}`;
    });

/** Reads again until what is shown is printed: Temporal lists a new state after about a second. */
const readUntil = async (stack: Stack, line: string, output: string): Promise<string> => {
  const until = Date.now() + SHOWN_WITHIN_MS;
  for (;;) {
    const text = await runLine(stack, line);
    if (isAsShown(output, text) || Date.now() > until) return text;
    await sleep(500);
  }
};

/** Runs the commands of a block one after the other. */
const printedBy = async (
  stack: Stack,
  { commands, output }: Exchange,
  before: string,
): Promise<string> => {
  const [first = ""] = commands;
  if (commands.length === 1 && output !== undefined && READING.test(first)) {
    return await readUntil(stack, withPrinted(first, before), output);
  }
  const texts: Array<string> = [];
  for (const line of commands)
    texts.push(await runLine(stack, withPrinted(line, before), output !== undefined));
  return texts.filter((text) => text.trim() !== "").join("\n");
};

describe.each([
  { document: "docs/first-payment.md", sections: /./ },
  { document: "docs/first-card.md", sections: /./ },
  { document: "docs/onboard-from-a-file.md", sections: /./ },
  { document: "docs/repair-failed-runs.md", sections: /./ },
  { document: "docs/track-payouts.md", sections: /./ },
  {
    document: "docs/when-money-comes-back.md",
    sections: /^What /,
    workerSettings: { PAYMENTS_WATCH_COMPLETED_FOR: "10 minutes" },
  },
  { document: "README.md", sections: /^Try it$/ },
])("$document", ({ document, sections, workerSettings = {} }) => {
  it("shows what its commands print", async () => {
    const path = join(checkout, document);
    let text = await readFile(path, "utf8");
    const stack = await startStack({ name: "shown", workerSettings }, silent);
    onTestFinished(stack.end);
    const differing: Array<{ readonly heading: string; shown: string; printed: string }> = [];
    let before = "";
    for (const exchange of exchangesOf(text)) {
      if (!sections.test(exchange.heading)) continue;
      const printed = await printedBy(stack, exchange, before);
      before += printed;
      if (exchange.output === undefined || isAsShown(exchange.output, printed)) continue;
      differing.push({ heading: exchange.heading, shown: exchange.output, printed });
    }
    if (isUpdate) {
      for (const { printed, shown } of differing) {
        text = text.replace(`\`\`\`text\n${shown}`, () => `\`\`\`text\n${printed.trimEnd()}\n`);
      }
      await writeFile(path, text);
      return;
    }
    expect(differing).toEqual([]);
  });
});

describe("what is shown", () => {
  const shown = "The run has completed\n  id  invoice-1\n  …\n  outcome  completed\n";

  it("may leave lines out, and differ in times, ids and widths", () => {
    expect(
      isAsShown(
        shown,
        "The run has completed\n  id   invoice-1\n  amount   1.00\n  outcome   completed\n",
      ),
    ).toBe(true);
    expect(
      isAsShown("took 3.2s at 2026-11-22 10:15:24 UTC", "took 12ms at 2026-12-01 09:00:00 UTC"),
    ).toBe(true);
  });

  it("may leave out what was in progress, and no other line", () => {
    const progress = "… createPayout no answer\n✓ createPayout 2.1s";
    expect(isAsShown(progress, `… createPayout creating the payout\n${progress}`)).toBe(true);
    expect(isAsShown(progress, "✓ createPayout 2.1s")).toBe(false);
    expect(isAsShown(progress, `✓ createBeneficiary 1ms\n${progress}`)).toBe(false);
  });

  it("is no other text", () => {
    expect(isAsShown(shown, "The run has completed\n  id  invoice-1\n  outcome  unknown\n")).toBe(
      false,
    );
    expect(isAsShown("amount 250.00", "amount 350.00")).toBe(false);
    expect(isAsShown("a\nb", "a\nb\nc")).toBe(false);
  });
});
