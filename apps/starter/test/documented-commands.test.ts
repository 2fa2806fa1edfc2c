import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commands, helpOf } from "./support/help.ts";

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

const documents = [
  "README.md",
  "CONTRIBUTING.md",
  ...globSync("{docs/*,{packages,apps}/*/README,{bench,chaos,outside,site}/README}.md", {
    cwd: checkout,
  }).toSorted(),
];

/** The lines of shell that a document shows, comments taken away, continued lines joined. */
const shellOf = (document: string): ReadonlyArray<string> =>
  [...readFileSync(join(checkout, document), "utf8").matchAll(/```sh\n([^]*?)```/g)].flatMap(
    ([, block = ""]) =>
      block
        .replaceAll("\\\n", " ")
        .split("\n")
        .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
        .filter((line) => line !== ""),
  );

/** Calls in shell, and in the code of a sentence or a table. */
const starterCalls = (document: string): ReadonlyArray<string> => {
  const text = readFileSync(join(checkout, document), "utf8");
  const inline = [
    ...text.matchAll(
      /`(?:(?:\.\/)?starter|npx (?:@durable-payments\/cli|durable-payments)) ([^`]*)`/g,
    ),
  ];
  const inShell = shellOf(document).flatMap((line) => [
    ...line.matchAll(
      /(?:^|[\s;&|])(?:(?:\.\/)?starter (?:-- )?|npx (?:@durable-payments\/cli|durable-payments) |npm run payments -- )([^|;&>]*)/g,
    ),
  ]);
  return [...inline, ...inShell].map(([, words = ""]) => words.replaceAll(/[[\],…]/g, " ").trim());
};

/** The command that the words of a call begin with; undefined for the name of a group alone. */
const commandOf = (words: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const fits = (name: ReadonlyArray<string>) => name.every((part, index) => words[index] === part);
  const longest = commands.findLast(fits);
  const isGroup = commands.some((name) => name.length > 1 && name[0] === longest?.join(" "));
  return isGroup && words.length > 1 ? undefined : longest;
};

/** What a call has that the starter does not: its command, or a flag. */
const unknownOf = async (call: string): Promise<ReadonlyArray<string>> => {
  const words = call.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0 || words[0]?.startsWith("-") === true) return [];
  const command = commandOf(words);
  if (command === undefined) return [words.join(" ")];
  const help = await helpOf(command);
  return words
    .flatMap((word) => /^--[a-z][\w-]*/.exec(word) ?? [])
    .filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(help));
};

describe.each(documents.map((document) => ({ document })))("$document", ({ document }) => {
  it("shows commands and flags that the starter has", async () => {
    const unknown = await Promise.all(
      starterCalls(document).map(async (call) => ({ call, unknown: await unknownOf(call) })),
    );
    expect(unknown.filter((found) => found.unknown.length > 0)).toEqual([]);
  });

  it("calls scripts of npm that package.json has", () => {
    // The first workflow is one of a project that is made of the template.
    const folder = document.endsWith("first-workflow.md") ? "packages/create/template" : ".";
    const file = join(checkout, folder, "package.json");
    const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
    const called = shellOf(document).flatMap((line) =>
      [...line.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = ""]) => name),
    );
    for (const script of called) expect(manifest).toHaveProperty(["scripts", script]);
  });
});

it("finds what is not there", async () => {
  expect(starterCalls("docs/commands.md").length).toBeGreaterThan(10);
  expect(await unknownOf("runs vanish x")).toEqual(["runs vanish x"]);
  expect(await unknownOf("runs list --faild")).toEqual(["--faild"]);
});
