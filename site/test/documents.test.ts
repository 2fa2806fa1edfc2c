import { checkout } from "@durable-payments/tools/processes";
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, it } from "vitest";
import { anchorOf } from "../src/links.ts";

const DOCUMENTS = [
  "*.md",
  "docs/**/*.md",
  "site/*.md",
  "{packages,apps}/*/README.md",
  "{bench,chaos,deploy}/README.md",
];
const GENERATED = new Set(["docs/commands.md", "docs/contributors/ledger-states.md"]);

const documents = globSync(DOCUMENTS, { cwd: checkout })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(posix.join(checkout, file), "utf8") }));
const written = documents.filter(({ file }) => !GENERATED.has(file));

/** What is read as sentences: without code, front matter, and the addresses of links. */
const proseOf = (text: string): string =>
  text
    .replaceAll(/^---\n[^]*?^---$/gm, "")
    .replaceAll(/```[^]*?```/g, "")
    .replaceAll(/<!--[^]*?-->/g, "")
    .replaceAll(/\]\([^)]*\)/g, "]");

const sentencesOf = (text: string, ends: RegExp): ReadonlyArray<string> =>
  proseOf(text)
    // A paragraph, an item of a list, or a cell of a table.
    .split(/\n\s*\n|\n(?=\s*(?:[-|#]|\d+\. ))|\|/)
    .flatMap((part) => part.replaceAll(/\s+/g, " ").trim().split(ends));

it.each([
  ["clause", 25, /(?<=[.!?:;]) /],
  ["sentence", 30, /(?<=[.!?]) /],
])("has no %s of more than %i words", (_, most, ends) => {
  const long = written.flatMap(({ file, text }) =>
    sentencesOf(text, ends)
      .filter((sentence) => sentence.split(" ").length > most)
      .map((sentence) => `${file}: ${sentence}`),
  );
  expect(long).toEqual([]);
});

it("opens each page with its reader", () => {
  const pages = written.filter(({ file }) => file.startsWith("docs/"));
  expect(pages.length).toBeGreaterThan(10);
  expect(
    pages.filter(({ text }) => !/^# .+\n\nThis page is for /.test(text)).map(({ file }) => file),
  ).toEqual([]);
});

it("links to headings that exist", () => {
  const anchors = new Map(
    documents.map(({ file, text }) => [
      file,
      new Set(
        [...text.matchAll(/^#+ (?<heading>.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)),
      ),
    ]),
  );
  const dead = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!\w+:)(?<path>[^)#\s]*)#(?<anchor>[^)\s]+)\)/g)].flatMap(
      ([link, path = "", anchor = ""]) => {
        const target = path === "" ? file : posix.join(posix.dirname(file), path);
        const known = anchors.get(target);
        return known === undefined || known.has(anchor) ? [] : [`${file}: ${link}`];
      },
    ),
  );
  expect(dead).toEqual([]);
});

it("shows pictures that exist, and has none that no page shows", () => {
  const pictures = globSync("docs/pictures/*", { cwd: checkout });
  const shown = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/!\[[^\]]+\]\((?<path>[^)]+)\)/g)].map(([, path = ""]) =>
      posix.join(file === "site/home.md" ? "docs" : posix.dirname(file), path),
    ),
  );
  expect(shown.filter((picture) => !existsSync(posix.join(checkout, picture)))).toEqual([]);
  expect(pictures.filter((picture) => !shown.includes(picture))).toEqual([]);
});

it("names files of each module in the architecture that exist", () => {
  const { text = "" } = documents.find(({ file }) => file.endsWith("/architecture.md")) ?? {};
  const named = [...text.matchAll(/^\|(?<modules>[^|]+)\|[^|]+\|(?<begin>[^|]+)\|$/gm)].flatMap(
    ([, modules = "", begin = ""]) => {
      const folders = [...modules.matchAll(/`(?<name>[\w./-]+)`/g)].map(([, name = ""]) =>
        name.includes("/") ? name : `packages/${name}`,
      );
      return [...begin.matchAll(/`(?<path>src\/[\w./-]+)`/g)].map(([, path = ""]) => ({
        path,
        isThere: folders.some((folder) => existsSync(posix.join(checkout, folder, path))),
      }));
    },
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ isThere }) => !isThere)).toEqual([]);
});

it("names files of the repository that exist", () => {
  const missing = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/`(?<path>(?:packages|apps|docs|site|tools)\/[\w./-]+)`/g)]
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(posix.join(checkout, path)))
      .map((path) => `${file}: ${path}`),
  );
  expect(missing).toEqual([]);
});

it("quotes in the runbook what the software says", () => {
  const { text = "" } = documents.find(({ file }) => file === "docs/runbook.md") ?? {};
  const section = /^## The worker restarts again and again\n[^]*?(?=^## )/m.exec(text)?.[0] ?? "";
  // The first column of its table: parts of messages, with `…` for what differs.
  const quoted = [...section.matchAll(/^\| (?<cell>[^|]+)\|/gm)]
    .flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(?<said>[^`]+)`/g)].map(([, said = ""]) => said),
    )
    .flatMap((said) => said.split("…").map((part) => part.replaceAll(/^\W+|\W+$/g, "")))
    .filter((part) => part.includes(" "));
  expect(quoted.length).toBeGreaterThan(5);
  const sources = globSync("{packages,apps}/*/src/**/*.ts", { cwd: checkout })
    .map((file) => readFileSync(posix.join(checkout, file), "utf8"))
    .join("\n");
  expect(quoted.filter((part) => !sources.includes(part))).toEqual([]);
});
