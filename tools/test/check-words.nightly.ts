import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

/** A text, its file, and the rules of .vale that it breaks. */
const TEXTS = [
  ["plain.md", "If the response is lost, the worker reads the list.\n", []],
  ["phrase.md", "A run that ended is no payment.\n", ["Phrases"]],
  ["term.md", "The run is told when the outcome is known.\n", ["Terms"]],
  ["condition.md", "It waits where it has no answer.\n", ["Conditions"]],
  ["subject.md", "What was sent stays.\n", ["Subjects"]],
  ["people.md", "The write was carried out.\n", ["CarriedOut"]],
  ["length.md", `${"One ".repeat(26)}word.\n`, ["SentenceLength"]],
  ["docstring.ts", "/** What is kept of the answer. */\n", ["Beginnings", "Subjects"]],
  ["owner.ts", "/** Whose payouts a list shows. */\n", ["Beginnings", "Subjects"]],
  ["result.ts", "/** What happened how often. */\n", ["Beginnings"]],
  ["wrapped.ts", `/**\n${" * one two three four\n".repeat(7)} */\n`, ["SentenceLength"]],
  ["sentences.ts", `/**\n${" * one two three four.\n".repeat(7)} */\n`, []],
  ["items.ts", `/**\n${" * - one two three four\n".repeat(7)} */\n`, []],
  ["again.ts", "// An open run looks again.\n", ["Terms"]],
  ["comment.ts", "// Nothing is sent where it has ended.\n", ["Conditions"]],
] as const;

it("npm run check finds each kind of phrase that .vale forbids, and no other", ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), "words-"));
  try {
    for (const [file, text] of TEXTS) writeFileSync(join(folder, file), text);
    const files = TEXTS.map(([file]) => join(folder, file));
    const { status, stdout } = spawnSync(process.execPath, ["tools/check-words.mjs", ...files], {
      cwd: checkout,
      encoding: "utf8",
    });
    if (stdout.startsWith("SKIPPED")) skip(stdout.trim());
    const found = TEXTS.map(([file]) => [
      file,
      [...stdout.matchAll(new RegExp(`/${file}:\\d+:\\d+:\\w+\\.(\\w+):`, "g"))].map(
        ([, rule]) => rule,
      ),
    ]);
    expect(found).toEqual(TEXTS.map(([file, , rules]) => [file, rules]));
    expect(status).toBe(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
