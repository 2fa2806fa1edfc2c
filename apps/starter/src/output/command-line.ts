import { shellQuoted as quoted } from "@durable-payments/protocol";
import { columnsOf, WIDTH } from "./text.ts";

/** The name by which the starter was called: the file of that name in a checkout passes its own on. */
export const starterName = (): string => quoted(process.env["STARTER_COMMAND"] || "starter");

/** A command of the starter as the user would type it. */
export const commandLine = (...args: ReadonlyArray<string>): string =>
  [starterName(), ...args.map(quoted)].join(" ");

/** The same in lines of at most 80 columns: where it is longer, each flag stands on its own line. */
export const commandLines = (indent: string, ...args: ReadonlyArray<string>): string => {
  const line = `${indent}${commandLine(...args)}`;
  if (columnsOf(line) <= WIDTH) return line;
  const broken = args.map((arg) =>
    arg.startsWith("--") ? `\\\n${indent}  ${quoted(arg)}` : quoted(arg),
  );
  return `${indent}${[starterName(), ...broken].join(" ")}`;
};
