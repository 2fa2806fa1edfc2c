import { randomBytes } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { delay } from "../delay.ts";

/** The share of the work after which the next key is made current, and the old one is missing for a while. */
const ROTATE_AT = 0.3;
const REMOVE_AT = 0.5;
const MISSING_MS = 5_000;

const OLD = "k1";
const NEXT = "k2";

const addKey = (folder: string, id: string): Promise<void> =>
  writeFile(join(folder, `${id}.key`), randomBytes(32).toString("base64"), { mode: 0o600 });

/** Make the folder of keys that workers and starter encrypt by. */
export const makeKeyring = async (folder: string): Promise<void> => {
  await mkdir(folder);
  await addKey(folder, OLD);
  await writeFile(join(folder, "current"), OLD);
};

/**
 * Make another key current while runs are under way, and take the old one away for some seconds: what needs it meanwhile
 * must wait, and fail no run.
 */
export const injectKeyringFaults = async (
  folder: string,
  { signal, workDone }: { readonly signal: AbortSignal; readonly workDone: () => number },
): Promise<void> => {
  const after = async (share: number): Promise<void> => {
    while (workDone() < share && !signal.aborted) await delay(200, signal);
  };
  await after(ROTATE_AT);
  await addKey(folder, NEXT);
  await writeFile(join(folder, "next"), NEXT);
  // In one step: nobody reads half a name.
  await rename(join(folder, "next"), join(folder, "current"));
  await after(REMOVE_AT);
  const key = join(folder, `${OLD}.key`);
  await rename(key, `${key}.removed`);
  await delay(MISSING_MS, signal);
  await rename(`${key}.removed`, key);
};
