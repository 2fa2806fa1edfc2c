import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, it, vi } from "vitest";
import { SERVERS } from "../src/servers.ts";
import { runCli } from "./support/run-cli.ts";

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

const COMMANDS = [
  "pay",
  "onboard",
  "answer",
  "approve",
  "reject",
  "retry",
  "cancel",
  "pause",
  "resume",
  "limits show",
  "limits set",
  "word",
  "recover",
  "ledger backup",
  "ledger migrate",
  "ledger prune",
  "list",
  "report",
  "show",
  "failed",
  "duplicates",
  "inbox",
  "events redeliver",
  "events",
  "doctor",
  "config",
  "replay",
  "completion",
  ...Object.keys(SERVERS),
];

/** The help of a server, which prints it by itself. */
const printedBy = async (name: string): Promise<string> => {
  const text: Array<unknown> = [];
  const writers = [vi.spyOn(process.stdout, "write"), vi.spyOn(console, "log")] as const;
  writers[0].mockImplementation((part) => text.push(part) > 0);
  writers[1].mockImplementation((part) => void text.push(part));
  const { run } = (await SERVERS[name]?.load()) ?? {};
  await run?.(["--help"], `durable-payments ${name}`);
  for (const writer of writers) writer.mockRestore();
  return text.join("");
};

const helpOf = async (command: string): Promise<string> => {
  if (command in SERVERS) return (await printedBy(command)).trim();
  const { stdout } = await runCli(...command.split(" ").filter(Boolean), "--help");
  return stripVTControlCharacters(stdout)
    .replace(/\nGLOBAL FLAGS\n(?: .*\n)+/, "")
    .replaceAll(/[ \t]+$/gm, "")
    .trim();
};

const helps = new Map<string, string>();

beforeAll(async () => {
  for (const command of ["", ...COMMANDS]) helps.set(command, await helpOf(command));
});

it("docs/commands.md has the help of every command", async () => {
  const parts = [...helps].map(
    ([command, help]) =>
      `## ${`durable-payments ${command}`.trim()}\n\n\`\`\`text\n${help}\n\`\`\`\n`,
  );
  const page = `# Commands\n\nThis page is for people who operate payments. It lists the help of every command, as \`durable-payments COMMAND --help\` prints it. In a clone, the command is \`./durable-payments\`; in a project, it is \`npx durable-payments\`. \`--env-file\` chooses another file than \`.env\`. \`--profile staging\` chooses the profile of that name in Temporal's configuration, and the file \`.env.staging\`.\n\nWith \`--json\`, a command prints one JSON object. [json-output.schema.json](json-output.schema.json) has a definition for the answer of each command, such as \`#/definitions/list\` and \`#/definitions/limits-show\`. The error of a failed command is \`#/definitions/error\`. With \`--jsonl\`, a list is one JSON object a line: \`#/definitions/list-line\`, \`events-line\`, \`inbox-line\`, \`report-line\` and \`show-line\`. \`list --jsonl\` prints everything that matches, page by page. The npm package has the schema as \`durable-payments/json-output.schema.json\`. Times are milliseconds since 1970, and amounts are decimal strings.\n\n## Exit codes\n\nThe help of [durable-payments](#durable-payments) lists them. A command whose exit codes say more has them in its own help.\n\nThis page is generated: \`npx vitest run --project=@durable-payments/cli test/documented-commands.test.ts -u\`.\n\n${parts.join("\n")}`;
  await expect(page).toMatchFileSnapshot(join(checkout, "docs/commands.md"));
});

const FENCED = /^```sh\n([^]*?)^```$/gm;
const INLINE = /`(durable-payments [^`\n]+)`/g;
const CALL =
  /^(?:\.\/durable-payments|durable-payments|npx (?:@durable-payments\/cli|durable-payments))(?: |$)/;

const documented = globSync(
  ["*.md", "docs/*.md", "apps/*/README.md", "packages/*/README.md", "deploy/*.md"],
  {
    cwd: checkout,
  },
)
  .filter((document) => document !== "docs/commands.md" && document !== "CHANGELOG.md")
  .flatMap((document) => {
    const text = readFileSync(join(checkout, document), "utf8");
    const lines = [...text.matchAll(FENCED)].flatMap(([, code = ""]) => code.split("\n"));
    const inline = [...text.matchAll(INLINE)].map(([, line = ""]) => line);
    return [...lines, ...inline]
      .filter((line) => CALL.test(line))
      .map((line) => ({
        document,
        isWhole: lines.includes(line),
        line: line.replace(/ #.*$/, ""),
      }));
  });

const DECIDES =
  /^(?:pay|onboard|answer|approve|reject|retry|cancel|pause|resume|recover|ledger prune|limits set)\b/;

it("the documents name the person in each command that decides", () => {
  const nameless = documented.filter(
    ({ isWhole, line }) =>
      isWhole &&
      DECIDES.test(line.replace(CALL, "").trim()) &&
      !/ --(?:by|help|against)\b/.test(line),
  );
  expect(nameless).toEqual([]);
});

it("the documents name only commands and flags that exist", () => {
  expect(documented.length).toBeGreaterThan(50);
  const wrong = documented.filter(({ line }) => {
    const rest = line.replace(CALL, "").trim();
    if (rest === "" || rest.startsWith("--help") || rest === "COMMAND --help") return false;
    const command = COMMANDS.find((known) => rest === known || rest.startsWith(`${known} `));
    const help = helps.get(command ?? "none");
    if (help === undefined) return true;
    // What is quoted is a value.
    const flags = rest.replaceAll(/'[^']*'/g, "").match(/--[\w-]+/g) ?? [];
    return flags.some((flag) => !new RegExp(`${flag}[ ,\\n]`).test(help));
  });
  expect(wrong).toEqual([]);
});
