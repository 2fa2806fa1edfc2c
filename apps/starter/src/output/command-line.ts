import { columnsOf, WIDTH } from "./text.ts";

const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;

const starter = (): string =>
  process.env["npm_lifecycle_event"] === "starter" ? "npm run starter --" : "starter";

/** A command of the starter as the user would type it: through npm, if that is how it was called. */
export const commandLine = (...args: ReadonlyArray<string>): string =>
  [starter(), ...args.map(quoted)].join(" ");

/** The same in lines of at most 80 columns: where it is longer, each flag stands on its own line. */
export const commandLines = (indent: string, ...args: ReadonlyArray<string>): string => {
  const line = `${indent}${commandLine(...args)}`;
  if (columnsOf(line) <= WIDTH) return line;
  const broken = args.map((arg) =>
    arg.startsWith("--") ? `\\\n${indent}  ${quoted(arg)}` : quoted(arg),
  );
  return `${indent}${[starter(), ...broken].join(" ")}`;
};
