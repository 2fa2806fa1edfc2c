import { shellQuoted } from "@durable-payments/protocol";
import { basename, dirname, join } from "node:path";

/** The executable of the published package. */
export const INSTALLED = "durable-payments";

/** Returns whether this is the published package, and not a checkout. */
export const isInstalled = (): boolean => {
  const path = process.argv[1] ?? "";
  return basename(path) === INSTALLED || path.includes(join("node_modules", INSTALLED));
};

/**
 * Returns the name by which the command line was called: what `DURABLE_PAYMENTS_COMMAND` says (`./durable-payments` in a
 * checkout), npx for an installed package, or its own name if it is installed globally.
 */
export const commandName = (): string => {
  const given = process.env["DURABLE_PAYMENTS_COMMAND"];
  // A path may have blanks.
  if (given) return shellQuoted(given);
  if (!isInstalled()) return INSTALLED;
  // A local package, or one of npx, is only on npm's own PATH.
  const isOfNpm = dirname(process.argv[1] ?? "").endsWith(join("node_modules", ".bin"));
  return isOfNpm ? `npx ${INSTALLED}` : INSTALLED;
};

/** Returns a command as the user would type it. */
export const plainCommand = (...args: ReadonlyArray<string>): string =>
  [commandName(), ...args.map(shellQuoted)].join(" ");
