import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

const abandonedAfterMs = 24 * 60 * 60 * 1000;

/** The per-user folder in which downloaded and built servers are kept, for all checkouts together. */
export const cacheFolder = (
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string => {
  const name = "durable-payments";
  if (platform === "darwin") return join(homedir(), "Library", "Caches", name);
  if (platform === "win32") {
    return join(env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local"), name);
  }
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), name);
};

/**
 * Fill a new folder beside `target` and renames it to `target` when it is complete:
 * nobody ever sees half of it, and two processes at once do no harm.
 */
export const fillAtomically = async (
  target: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> => {
  const parent = join(target, "..");
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeAbandoned(parent);
  const folder = await mkdtemp(join(parent, ".partial-"));
  try {
    await fill(folder);
    await rename(folder, target).catch(async (error: unknown) => {
      // The same version may have been finished by another process in the meantime.
      await stat(target).catch(() => {
        throw error;
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** What a killed process left behind. */
const removeAbandoned = async (parent: string): Promise<void> => {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(".partial-")) continue;
    const folder = join(parent, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > abandonedAfterMs) await rm(folder, { recursive: true, force: true });
  }
};
