import { randomBytes } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { delay, until } from "../delay.ts";

/** The share of the work after which the next key is made current, and the old one is missing for a while. */
const ROTATE_AT = 0.3;
const REMOVE_AT = 0.5;
const MISSING_MS = 5_000;

const OLD = "k1";
const NEXT = "k2";

/** Folders of keys. */
export interface Keyrings {
  /** That of the workers, which lacks the old key for a while. */
  readonly ofWorkers: string;
  /** That of the tools, which always have every key. */
  readonly ofTools: string;
}

const addKey = async ({ ofTools, ofWorkers }: Keyrings, id: string): Promise<void> => {
  const key = randomBytes(32).toString("base64");
  for (const folder of [ofTools, ofWorkers]) {
    await writeFile(join(folder, `${id}.key`), key, { mode: 0o600 });
  }
};

const makeCurrent = async ({ ofTools, ofWorkers }: Keyrings, id: string): Promise<void> => {
  for (const folder of [ofTools, ofWorkers]) {
    await writeFile(join(folder, "next"), id);
    // In one step: nobody reads half a name.
    await rename(join(folder, "next"), join(folder, "current"));
  }
};

/** Make the keys by which what Temporal stores is encrypted. */
export const makeKeyrings = async (folder: string): Promise<Keyrings> => {
  const keyrings = { ofWorkers: join(folder, "worker-keys"), ofTools: join(folder, "tool-keys") };
  await Promise.all(Object.values(keyrings).map((path) => mkdir(path)));
  await addKey(keyrings, OLD);
  await makeCurrent(keyrings, OLD);
  return keyrings;
};

/**
 * Make another key current while runs are under way, and take the old one from the workers for some seconds: what needs
 * it meanwhile must wait, and fail no run.
 */
export const injectKeyringFaults = async (
  keyrings: Keyrings,
  { signal, workDone }: { readonly signal: AbortSignal; readonly workDone: () => number },
): Promise<void> => {
  await until(() => workDone() >= ROTATE_AT, signal);
  await addKey(keyrings, NEXT);
  await makeCurrent(keyrings, NEXT);
  await until(() => workDone() >= REMOVE_AT, signal);
  const key = join(keyrings.ofWorkers, `${OLD}.key`);
  await rename(key, `${key}.removed`);
  await delay(MISSING_MS, signal);
  await rename(`${key}.removed`, key);
};
