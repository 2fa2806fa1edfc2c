import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));

/** A file without its comments, which may show how a tool calls it. */
const codeOf = (file: string): string =>
  readFileSync(`${src}${file}`, "utf8")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "");

const FORBIDDEN = [
  // Settings are parameters, and what is to be said is returned: the tool owns process and terminal.
  { what: "process", pattern: /\bprocess\s*[.[]|node:process/ },
  { what: "console", pattern: /\bconsole\s*\./ },
  { what: "a terminal", pattern: /node:(tty|readline)|styleText|\\u001b/ },
  {
    what: "settings of the environment",
    pattern: /WithEnvironment|FromEnvironment\(/,
  },
  { what: "an app", pattern: /from "[^"]*apps\/|@durable-payments\/(cli|worker)"/ },
  // A library speaks to a library's user: the command line adds its flags and variables by itself.
  { what: "a flag", pattern: /(?<=[\s`"'(])--[a-z]/ },
  { what: "a variable of the environment", pattern: /\b(?:PAYMENTS|TEMPORAL)_/ },
] as const;

/** It reads the settings of the process if it is given none, as a worker does. */
const OF_PROCESS = "payments/open-payments.ts";

it.each(globSync("**/*.ts", { cwd: src }))(
  "%s knows no terminal, no process and no app",
  (file) => {
    const code = codeOf(file);
    const used = FORBIDDEN.filter(
      ({ pattern, what }) => pattern.test(code) && !(what === "process" && file === OF_PROCESS),
    ).map(({ what }) => what);
    expect(used).toEqual([]);
  },
);
