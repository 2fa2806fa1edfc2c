import { shellQuoted } from "@durable-payments/protocol";
import { basename, dirname, join } from "node:path";

/** The executable of the published package. */
const INSTALLED = "durable-payments";

/** Returns whether this is the published package, and not a checkout. */
export const isInstalled = (): boolean => basename(process.argv[1] ?? "") === INSTALLED;

/** Returns the executable that a shell completes. */
export const executableName = (): string => (isInstalled() ? INSTALLED : "starter");

/** How a script of a project begins that calls the starter, as `npm create durable-payments` makes one. */
const NPM_SCRIPT = "npm run ";

/**
 * Returns the name by which the starter was called: the file `starter` of a checkout passes its own on, the `.env` of a
 * project names its script; an installed one is called through npx, or by its name where it is installed globally.
 */
export const starterName = (): string => {
  const given = process.env["STARTER_COMMAND"];
  // Anything else is a path, which may have blanks.
  if (given) return given.startsWith(NPM_SCRIPT) ? given : shellQuoted(given);
  if (!isInstalled()) return "starter";
  // What npm installed for a project, or npx for this call, is on the PATH of npm alone.
  const isOfNpm = dirname(process.argv[1] ?? "").endsWith(join("node_modules", ".bin"));
  return isOfNpm ? "npx @durable-payments/cli" : INSTALLED;
};

/** Returns a command of the starter as the user would type it. */
export const plainCommand = (...args: ReadonlyArray<string>): string =>
  [starterName(), ...args.map(shellQuoted)].join(" ");
