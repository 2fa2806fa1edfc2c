import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasTerminals, openTerminal } from "./support/terminal.ts";

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "checkout-command-"));
  symlinkSync(join(checkout, "starter"), join(folder, "absolute"));
  symlinkSync("absolute", join(folder, "relative"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash prints of a line, with what goes to standard error. */
const bash = (line: string, cwd: string, path = "/usr/bin:/bin"): string =>
  execFileSync("bash", ["-c", `{ ${line}; } 2>&1`], {
    cwd,
    encoding: "utf8",
    env: { PATH: path, TEMPORAL_ADDRESS: "127.0.0.1:1", HOME: folder },
  });

it.each([
  { called: "in the checkout", line: "./starter", cwd: () => checkout, name: "./starter" },
  { called: "from elsewhere", line: `'${checkout}starter'`, cwd: () => folder, name: undefined },
  {
    called: "by a symbolic link to a link",
    line: "./relative",
    cwd: () => folder,
    name: undefined,
  },
])("is called $called, and names itself so", ({ cwd, line, name = line.replaceAll("'", "") }) => {
  expect(bash(`${line} payot || true`, cwd())).toMatch(`(see ${name} --help)`);
  expect(bash(`${line} status --help`, cwd())).toContain(`  ${name} status invoice-2026-001`);
});

it("is called by the PATH, and names itself so", () => {
  const path = `${checkout}:/usr/bin:/bin`;
  expect(bash("starter payot || true", folder, path)).toContain("(see starter --help)");
});

describe("installed", () => {
  const installed = (at: string) => {
    mkdirSync(join(folder, at), { recursive: true });
    const link = join(folder, at, "durable-payments");
    symlinkSync(join(checkout, "apps/starter/src/main.ts"), link);
    return `'${process.execPath}' --conditions=@durable-payments/source ${link}`;
  };

  it("for all projects, names itself, and other programs, as they are published", () => {
    const line = installed("bin");
    expect(bash(`${line} payot || true`, folder)).toContain("(see durable-payments --help)");
    expect(bash(`${line} runs show invoice || true`, folder)).toContain(
      "temporal server start-dev",
    );
    expect(bash(`${line} --completions bash`, folder)).toContain(" durable-payments\n");
  });

  it("for a project with a script for it, names that script, and its worker's", () => {
    const line = `STARTER_COMMAND='npm run payments --' ${installed("script/node_modules/.bin")}`;
    expect(bash(`${line} status --help`, folder)).toContain(
      "  npm run payments -- status invoice-2026-001",
    );
    expect(bash(`${line} payot || true`, folder)).toContain("(see npm run payments -- --help)");
  });

  it("for one project, names itself so that npm finds it", () => {
    const line = installed("node_modules/.bin");
    expect(bash(`${line} status --help`, folder)).toContain(
      "  npx @durable-payments/cli status invoice-2026-001",
    );
  });
});

it("finds files where its user is", () => {
  const printed = bash("./relative payout --file nowhere.json || true", folder);
  expect(printed).toContain("nowhere.json: there is no such file");
});

it("ends with the exit code of the command", () => {
  expect(bash("./relative payot --json; echo $?", folder)).toMatch(/\}\n2\n$/);
});

it("prints JSON alone, for a program behind a pipe", () => {
  const parse = `'${process.execPath}' -e 'process.stdin.toArray().then((all) => console.log(JSON.parse(all.join("")).error.type))'`;
  expect(bash(`./starter payot --json | ${parse}`, checkout)).toBe("BadInput\n");
});

it.each([
  ["bash", "retry"],
  ["zsh", ":file:_files"],
  ["fish", " -r -F"],
])("prints completions for %s", (shell, expected) => {
  const script = bash(`./starter --completions ${shell}`, checkout);
  expect(script).toContain(expected);
  expect(script).not.toContain("no-json");
});

describe("completes, in bash,", () => {
  let script: string;
  beforeAll(() => {
    script = bash("./starter --completions bash", checkout);
  });

  const complete = (...words: ReadonlyArray<string>) =>
    bash(
      `${script}
       COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
       COMP_CWORD=${words.length - 1} COMP_LINE="\${COMP_WORDS[*]}" COMP_POINT=\${#COMP_LINE}
       "$(complete -p starter | sed 's/.*-F \\([^ ]*\\).*/\\1/')" starter '${words.at(-1)}' '${words.at(-2)}'
       printf '%s\\n' "\${COMPREPLY[@]}"`,
      checkout,
    )
      .trim()
      .split("\n");

  it("the command that was begun", () => {
    expect(complete("./starter", "runs", "r")).toEqual(["retry", "replay"]);
    expect(complete("./starter", "runs", "ret")).toEqual(["retry"]);
    expect(complete("./starter", "att")).toEqual(["attention"]);
  });

  it("flags that a command has, and no other way to say no", () => {
    expect(complete("./starter", "payout", "--w")).toEqual(["--wait"]);
    expect(script).not.toContain("--no-");
  });

  it.each([
    ["onboard", "--file"],
    ["payout", "--file"],
    ["payouts", "import"],
    ["payouts", "import", "examples/payouts.csv", "--result"],
    ["payouts", "status", "payouts/1", "--result"],
    ["resolve", "a", "--amend"],
    ["runs", "retry", "a", "--amend"],
    ["runs", "export", "a", "--file"],
    ["runs", "replay", "--file"],
    ["runs", "replay", "--workflows"],
  ])("the names of files: %s %s %s %s", (...words) => {
    expect(complete("./starter", ...words, "exam")).toEqual(["examples/"]);
    expect(complete("./starter", ...words, "examples/onboard.")).toEqual(["examples/onboard.json"]);
  });

  it.runIf(hasTerminals)("a file in a folder, as it is typed", async () => {
    const path = `${checkout}:/usr/bin:/bin`;
    const terminal = openTerminal(["bash", "--norc", "--noprofile", "-i"], {
      env: { PATH: path, HOME: folder },
    });
    terminal.type(`cd '${checkout}' && source <(starter --completions bash) && PS1='nex''t> '\r`);
    // Keys that come before the prompt are not readline's.
    await terminal.seen("next> ");
    // The line is cut out, and shown by echo.
    terminal.type("starter payout --file exam\tonboard.\t--wait\u0015echo \u0019\rexit\r");
    const { shown } = await terminal.ended;
    expect(shown).toMatch(/\rstarter payout --file examples\/onboard\.json --wait\r/);
  });
});
