import { checkout } from "@durable-payments/tools/processes";
import { temporalServerVariables } from "@durable-payments/tools/testing";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  type Block,
  docstringExamples,
  documentBlocks,
  isJson,
  linesOf,
  readJson,
  runRegions,
  withoutLayout,
} from "./support/blocks.ts";

/** What nothing runs, and why not. */
const NOT_RUN: ReadonlyArray<{
  readonly of: string;
  readonly has: string;
  readonly why: string;
}> = [
  { of: "docs/debugging.md", has: '"program":', why: "a file of VS Code, which reads it" },
  {
    of: "docs/composing.md",
    has: "await bundleWorkflowCode(",
    why: "takes long; packages/plugin/test/support/bundle.ts and packages/workflows/test/bundler-plugin.test.ts bundle so",
  },
];

const RUN_WHOLE = ["README.md", "docs/runbook.md"];

/** Lines of shell that are run elsewhere, or are not to be run by a test. */
const SHELL: ReadonlyArray<{ readonly line: RegExp; readonly why: string }> = [
  { line: /^(export )?(PAYMENTS_\w+=\S+ ?)+$/, why: "settings: their names are looked up below" },
  { line: /^(mkdir|cd) /, why: "makes or enters the folder of the reader's project" },
  { line: /^npm (init -y|pkg set type=module)$/, why: "makes the reader's package.json" },
  { line: /^npm install( |$)/, why: "installs: npm run test:outside does it, of packed packages" },
  {
    line: /^npm create durable-payments /,
    why: "npm run test:outside makes, installs and tests such a project",
  },
  { line: /^npm test$/, why: "npm run test:outside runs it in such a project" },
  {
    line: /^npx (payments-simulator|@durable-payments\/simulator) /,
    why: "packages/simulator/test/main.test.ts",
  },
  { line: /^npx @durable-payments\/worker$/, why: "npm run test:outside starts it" },
  { line: /^node (worker|pay)\.ts$/, why: "packages/plugin/test/example.test.ts" },
  {
    line: /^(source <\()?\.\/starter --completions /,
    why: "apps/starter/test/checkout-command.test.ts",
  },
  { line: /^node_modules\/\.bin\/node --inspect-brk /, why: "waits for a debugger" },
  { line: /^node --conditions=\S+ chaos\/src\/mutations\/main.ts/, why: "takes minutes" },
  { line: /^openssl rand /, why: "makes a key; packages/codec/test/support/keyring-folder.ts" },
  {
    line: /^chmod 600 signing-secrets$/,
    why: "packages/activities/test/signing-secrets.test.ts reads such a file",
  },
  { line: /^(chmod|echo) \S+ .*keys\//, why: "apps/starter/test/encrypted.test.ts keeps keys so" },
  { line: /^pg_basebackup /, why: "tools/test/cluster.test.ts takes and puts back such a backup" },
  { line: /^curl -s http:\S+\/(readyz|metrics)$/, why: "apps/worker/test/health.test.ts asks it" },
  { line: /^git push --follow-tags$/, why: "publishes a release" },
];

/** apps/starter/test/documented-commands.test.ts looks up these, with their flags, or their scripts. */
const LOOKED_UP =
  /^(PAYMENTS_\w+=\S+ )*(\.\/starter|starter|npx (@durable-payments\/cli|durable-payments)|npm run) /;

const ofLanguage = (language: string): ReadonlyArray<Block> =>
  documentBlocks.filter((block) => block.language === language);

const places = (blocks: ReadonlyArray<Block>) =>
  blocks.map(({ code, place }) => `${place}\n${code}`);

const isListed = ({ code, document }: Block): boolean =>
  NOT_RUN.some(({ has, of }) => of === document && code.includes(has));

const tests = globSync(
  ["{packages,apps}/*/test/**/*.ts", "packages/create/template/test/*.ts", "site/test/**/*.ts"],
  {
    cwd: checkout,
    exclude: ["**/node_modules/**"],
  },
).map((file) => ({ file, text: readFileSync(join(checkout, file), "utf8") }));

const packageOf = (file: string): string => file.replace(/\/(?:test|template\/src)\/.*$/, "/");

/** Whether Vitest runs a file, or a test of the same package loads or starts it. */
const isRun = (file: string): boolean => {
  if (file.endsWith(".test.ts")) return true;
  const named = new RegExp(`["'/\`]${basename(file, ".ts")}(\\.ts)?["'\`]`);
  return tests.some(
    (test) =>
      test.file !== file &&
      [packageOf(file), "site/"].some((folder) => test.file.startsWith(folder)) &&
      named.test(test.text),
  );
};

describe("what the documents show", () => {
  it("is in languages that are known here", () => {
    expect([...new Set(documentBlocks.map(({ language }) => language))].toSorted()).toEqual([
      "",
      "json",
      "jsonl",
      "sh",
      "text",
      "ts",
      "yaml",
    ]);
    expect(documentBlocks.length).toBeGreaterThan(100);
    expect(docstringExamples.length).toBeGreaterThan(60);
  });

  it("of TypeScript is run: whole files, or parts of tests", () => {
    const regions = new Set(runRegions.map(withoutLayout));
    const unrun = [...ofLanguage("ts"), ...docstringExamples].filter(
      (block) =>
        !isListed(block) &&
        !(block.file === undefined ? regions.has(withoutLayout(block.code)) : isRun(block.file)),
    );
    expect(places(unrun)).toEqual([]);
  });

  it("is all that the tests mark as shown", () => {
    const shown = new Set(
      [...ofLanguage("ts"), ...docstringExamples].map(({ code }) => withoutLayout(code)),
    );
    expect(runRegions.filter((region) => !shown.has(withoutLayout(region)))).toEqual([]);
  });

  it("of JSON is read by what reads such files", () => {
    const unread = documentBlocks.filter(
      (block) =>
        isJson(block) && !isListed(block) && !readJson.some(({ place }) => place === block.place),
    );
    expect(places(unread)).toEqual([]);
  });
});

describe("shell that the documents show", () => {
  const lines = ofLanguage("sh")
    .filter(({ document }) => !RUN_WHOLE.includes(document))
    .flatMap((block) => linesOf(block).map((line) => ({ line, place: block.place })));
  const single = lines.flatMap(({ line, place }) =>
    line.split(" && ").map((part) => ({ line: part, place })),
  );

  it("is run, looked up, or known not to be", () => {
    const unknown = single.filter(
      ({ line }) =>
        !LOOKED_UP.test(line) &&
        !line.startsWith("temporal ") &&
        !SHELL.some((known) => known.line.test(line)),
    );
    expect(unknown).toEqual([]);
  });

  it("has all that is known not to be", () => {
    expect(SHELL.filter((known) => !single.some(({ line }) => known.line.test(line)))).toEqual([]);
    expect(
      NOT_RUN.filter(
        ({ has, of }) =>
          !documentBlocks.some(({ code, document }) => of === document && code.includes(has)),
      ),
    ).toEqual([]);
  });

  it("sets variables that there are", () => {
    const known = readFileSync(join(checkout, ".env.example"), "utf8");
    const set = single.flatMap(({ line }) => [...line.matchAll(/\b(PAYMENTS_\w+)=/g)]);
    expect(set.length).toBeGreaterThan(5);
    expect(set.flatMap(([, name = ""]) => (known.includes(`${name}=`) ? [] : [name]))).toEqual([]);
  });

  it("installs packages that there are", () => {
    const names = globSync("{packages,apps}/*/package.json", { cwd: checkout }).map(
      (file) => (JSON.parse(readFileSync(join(checkout, file), "utf8")) as { name: string }).name,
    );
    const installed = single.flatMap(
      ({ line }) => line.match(/(?<= )@durable-payments\/[\w-]+/g) ?? [],
    );
    expect(installed.filter((name) => !names.includes(name))).toEqual([]);
  });

  it("names files of this repository that there are", () => {
    const named = single.flatMap(({ line }) => line.match(/\b(apps|chaos|examples)\/\S+/g) ?? []);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((file) => !existsSync(join(checkout, file)))).toEqual([]);
  });

  it("calls commands of Temporal's with flags that they have", async () => {
    const { TEMPORAL_CLI_PATH = "temporal" } = temporalServerVariables();
    const calls = new Set(
      single.flatMap(({ line }) => (line.startsWith("temporal ") ? [line] : [])),
    );
    expect(calls.size).toBeGreaterThan(3);
    const wrong = [...calls].map(async (call) => {
      const [, words = "", flags = ""] = /^temporal ([a-z -]*?)(?= --|$)(.*)$/.exec(call) ?? [];
      const { stdout } = await promisify(execFile)(TEMPORAL_CLI_PATH, [
        ...words.split(" "),
        "--help",
      ]);
      const isCommand = stdout.includes(`temporal ${words} [flags]`);
      const unknown =
        flags.match(/--[\w-]+/g)?.filter((flag) => !stdout.includes(`${flag} `)) ?? [];
      return isCommand && unknown.length === 0 ? [] : [{ call, unknown }];
    });
    expect((await Promise.all(wrong)).flat()).toEqual([]);
  });
});
