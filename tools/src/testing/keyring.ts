import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes a folder with one key, which is current: the keyring of an installation. @returns the folder */
export const makeKeyring = (parent: string): string => {
  const folder = join(parent, "keyring");
  mkdirSync(folder);
  const key = `${randomBytes(32).toString("base64")}\n`;
  writeFileSync(join(folder, "k1.key"), key, { mode: 0o600 });
  writeFileSync(join(folder, "current"), "k1\n");
  return folder;
};
