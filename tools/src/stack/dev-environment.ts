import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { checkout } from "../processes/apps.ts";

/** tools/bootstrap.mjs reads this file for `./starter`. */
const devEnvironmentFile = join(checkout, ".local", "dev.env");
const processVariable = "DURABLE_PAYMENTS_DEV_PROCESS";

/**
 * Lets `./starter` of this checkout find the running stack.
 *
 * @returns a function that takes it back; undefined when another stack of this checkout is running,
 *   which the starter keeps talking to
 */
export const announceDevStack = async (
  variables: Readonly<Record<string, string>>,
  file: string = devEnvironmentFile,
): Promise<(() => Promise<void>) | undefined> => {
  if (isAnnounced(file)) return undefined;
  const lines = Object.entries({ ...variables, [processVariable]: `${process.pid}` }).map(
    ([name, value]) => `${name}=${value}\n`,
  );
  await writeFile(file, lines.join(""), { mode: 0o600 });
  return async () => await rm(file, { force: true });
};

const isAnnounced = (file: string): boolean => {
  if (!existsSync(file)) return false;
  const owner = Number(parseEnv(readFileSync(file, "utf8"))[processVariable]);
  try {
    process.kill(owner, 0);
    return true;
  } catch {
    // It did not end in an orderly way, and left the file behind.
    return false;
  }
};
