import { lstatSync, mkdirSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

// It imports nothing but Node's own modules: a Node that is too old to load the rest still runs it.

/** The oldest Node with what undici, the HTTP client, uses. `engines` of every package.json says the same. */
export const OLDEST_NODE = "22.19";

/**
 * Checks whether a version of Node is supported.
 *
 * @param version as `process.versions.node` gives it, such as `"22.12.0"`
 */
export const isSupportedNode = (version: string): boolean =>
  version.localeCompare(OLDEST_NODE, "en", { numeric: true }) >= 0;

/**
 * Ends this process with exit code 1, and one line on standard error, if its Node is too old.
 *
 * @param command the name of the command, which starts the line
 */
export const requireNode = (command: string, version: string = process.versions.node): void => {
  if (isSupportedNode(version)) return;
  process.stderr.write(
    `${command}: Node ${OLDEST_NODE} or later is required, but this is ${version}. Install Node 24 from https://nodejs.org.\n`,
  );
  process.exit(1);
};

const WRITABLE_BY_OTHERS = 0o022;

/** A folder of this user in the temporary one; undefined if another user has it, or could change it. */
const ownFolder = (user: number): string | undefined => {
  const folder = join(tmpdir(), `durable-payments-${user}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    const isOwn = stat.isDirectory() && stat.uid === user && (stat.mode & WRITABLE_BY_OTHERS) === 0;
    return isOwn ? folder : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Makes Node keep its compiled code for the next start, which then takes half the time. By default Node keeps it in the
 * temporary folder, in a folder that any user of the machine may have made first. Node runs the code that it finds there,
 * so here only this user can write the folder. `NODE_COMPILE_CACHE` names another one.
 */
export const enableCompileCache = (): void => {
  // Windows has a temporary folder for each user.
  if (process.env["NODE_COMPILE_CACHE"] || process.getuid === undefined) {
    module.enableCompileCache();
    return;
  }
  const folder = ownFolder(process.getuid());
  if (folder !== undefined) module.enableCompileCache(folder);
};
