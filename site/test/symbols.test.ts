import { checkout } from "@durable-payments/tools/processes";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";

/** What each entry of the published packages exports, as its API report lists it. */
const exportsOf = new Map(
  globSync(["packages/durable-payments/api/*.api.md", "packages/api-core/api/*.api.md"], {
    cwd: checkout,
  }).map((file) => {
    const name = basename(file, ".api.md");
    const isClient = file.startsWith("packages/api-core/");
    const entry = isClient
      ? name === "index"
        ? "@durable-payments/client"
        : `@durable-payments/client/${name}`
      : `durable-payments/${name}`;
    const report = readFileSync(join(checkout, file), "utf8");
    return [entry, new Set(namesIn(report))] as const;
  }),
);

function namesIn(report: string): ReadonlyArray<string> {
  const declared = report.matchAll(
    /^export (?:abstract |async |declare )*(?:class|const|enum|function\*?|interface|let|namespace|type) (?<name>\w+)/gm,
  );
  const listed = report.matchAll(/^export \{ (?:\w+ as )?(?<name>\w+) \}/gm);
  return [...declared, ...listed].map(({ groups }) => groups?.["name"] ?? "");
}

/** Ways in which a page says that an entry exports a name. */
const importsIn = (text: string): ReadonlyArray<readonly [entry: string, name: string]> => [
  ...[
    ...text.matchAll(/^\s*import (?:type )?\{(?<names>[^}]*)\} from "(?<entry>[^"]+)"/gm),
  ].flatMap(({ groups }) =>
    (groups?.["names"] ?? "")
      .split(",")
      .map((name) => /^(?:type )?(?<own>\w+)/.exec(name.trim())?.groups?.["own"])
      .flatMap((name) => (name === undefined ? [] : [[groups?.["entry"] ?? "", name] as const])),
  ),
  ...[...text.matchAll(/`(?<name>\w+)(?:\(\))?` (?:from|of|in) `(?<entry>[^`\s]+)`/g)].map(
    ({ groups }) => [groups?.["entry"] ?? "", groups?.["name"] ?? ""] as const,
  ),
  // A row of a table about an entry.
  ...[...text.matchAll(/^\| `(?<entry>durable-payments\/\w+)`(?<row>.*)$/gm)].flatMap(
    ({ groups }) =>
      [...(groups?.["row"] ?? "").matchAll(/`(?<name>[a-zA-Z]\w*)`/g)].map(
        (found) => [groups?.["entry"] ?? "", found.groups?.["name"] ?? ""] as const,
      ),
  ),
];

const documents = globSync(["*.md", "docs/*.md", "packages/*/README.md"], { cwd: checkout });

it("knows the exports of each entry", () => {
  expect(exportsOf.get("durable-payments/start")).toContain("openPayments");
  expect(exportsOf.get("@durable-payments/client")).toContain("createClient");
});

it.each(documents)("%s names only exports that exist", (document) => {
  const text = readFileSync(join(checkout, document), "utf8");
  const missing = importsIn(text).filter(
    ([entry, name]) =>
      /^(?:@durable-payments\/client|durable-payments)(?:\/|$)/.test(entry) &&
      exportsOf.get(entry)?.has(name) !== true,
  );
  expect(missing).toEqual([]);
});
