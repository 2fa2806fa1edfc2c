import { COMMAND, commandInLines, shellQuoted } from "@durable-payments/protocol";
import { basename, dirname, join } from "node:path";
import { unbroken } from "./styled.ts";
import { columnsOf, textWidth } from "./text.ts";

const SHOWN_CHARACTER = /\\u\{([0-9a-f]+)\}/g;

/** An argument as bash reads it: of data as they are shown, what they are. */
const quoted = (argument: string): string => {
  if (argument.search(SHOWN_CHARACTER) === -1) return shellQuoted(argument);
  const parts = argument.split(SHOWN_CHARACTER);
  const words = parts.map((part, index) =>
    index % 2 === 1 ? `\\U${part.padStart(8, "0")}` : part.replaceAll(/[\\']/g, "\\$&"),
  );
  return `$'${words.join("")}'`;
};

/** The executable of the published package. */
const INSTALLED = "durable-payments";

/** Whether this is the published package, and not a checkout. */
export const isInstalled = (): boolean => basename(process.argv[1] ?? "") === INSTALLED;

/** The executable that a shell completes. */
export const executableName = (): string => (isInstalled() ? INSTALLED : "starter");

/** How a script of a project begins that calls the starter, as `npm create durable-payments` makes one. */
const NPM_SCRIPT = "npm run ";

/** Whether it was called by a script of a project: then the worker is one, too. */
export const isNpmScript = (): boolean => starterName().startsWith(NPM_SCRIPT);

/**
 * The name by which the starter was called: the file `starter` of a checkout passes its own on, the `.env` of a project
 * names its script; an installed one is called through npx, or by its name where it was installed for all projects.
 */
export const starterName = (): string => {
  const given = process.env["STARTER_COMMAND"];
  // Anything else is a path, which may have blanks.
  if (given) return given.startsWith(NPM_SCRIPT) ? given : quoted(given);
  if (!isInstalled()) return "starter";
  // What npm installed for a project, or npx for this call, is on the PATH of npm alone.
  const isOfNpm = dirname(process.argv[1] ?? "").endsWith(join("node_modules", ".bin"));
  return isOfNpm ? "npx @durable-payments/cli" : INSTALLED;
};

/** Our commands in texts that runs keep; runs of before the package was published name the starter. */
const IN_TEXTS = new RegExp(
  `(?<=[(\`])(?:starter|${COMMAND})(?= (?:runs retry|settle|doctor)\\b)`,
  "g",
);

/** A text that a run keeps, with our commands in it by the name by which the starter was called. */
export const asCalled = (text: string): string => text.replaceAll(IN_TEXTS, starterName);

const words = (args: ReadonlyArray<string>): ReadonlyArray<string> => [
  starterName(),
  ...args.map(quoted),
];

/** A command of the starter as the user would type it, as a part of another text. */
export const plainCommand = (...args: ReadonlyArray<string>): string => words(args).join(" ");

/** The same on one line, however long it is. */
export const commandLine = (...args: ReadonlyArray<string>): string =>
  unbroken(plainCommand(...args));

/** The same in lines as wide as the terminal, at most 80 columns: where it is longer, each flag stands on its own line. */
export const commandLines = (indent: string, ...args: ReadonlyArray<string>): string => {
  const line = `${indent}${plainCommand(...args)}`;
  return columnsOf(line) <= textWidth() ? line : commandInLines(words(args), indent);
};
