import { lstatSync, mkdirSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WRITABLE_BY_OTHERS = 0o022;

/** A folder of this user's own in the temporary one; undefined where somebody else has it, or could change it. */
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
 * Have Node keep what it compiles for the next start, which takes half the time then. Node's own place for that is a
 * folder in the temporary one that any user of the machine may have made first, and what it finds there it runs: so it is
 * one that only this user can write. `NODE_COMPILE_CACHE` names another one.
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
