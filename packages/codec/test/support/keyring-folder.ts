import { randomBytes } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of keys, as an operator keeps it. */
export interface KeyringFolder {
  readonly folder: string;
  readonly addKey: (keyId: string) => Promise<void>;
  readonly makeCurrent: (keyId: string) => Promise<void>;
  readonly removeKey: (keyId: string) => Promise<void>;
  readonly putBack: (keyId: string) => Promise<void>;
}

/** Makes a folder with the key k1, which is current; it is removed with the test. */
export const makeKeyringFolder = async (): Promise<KeyringFolder> => {
  const folder = await mkdtemp(join(tmpdir(), "keyring-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const addKey = (keyId: string) =>
    writeFile(join(folder, `${keyId}.key`), `${randomBytes(32).toString("base64")}\n`, {
      mode: 0o600,
    });
  const makeCurrent = (keyId: string) => writeFile(join(folder, "current"), `${keyId}\n`);
  await addKey("k1");
  await makeCurrent("k1");
  const keyFile = (keyId: string) => join(folder, `${keyId}.key`);
  return {
    folder,
    addKey,
    makeCurrent,
    removeKey: (keyId) => rename(keyFile(keyId), `${keyFile(keyId)}.removed`),
    putBack: (keyId) => rename(`${keyFile(keyId)}.removed`, keyFile(keyId)),
  };
};
