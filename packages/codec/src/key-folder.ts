import { messageOf } from "@durable-payments/client/values";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { KEY_BYTES } from "./aes-gcm.ts";
import { KeysUnavailable, MissingKey } from "./key-provider.ts";

/*
 * The only reader of a keyring's folder. Payloads and the ledger's texts are encrypted with the same keys, so both get the
 * same checks: a key that others can write, an invalid key, or a `current` that names none is refused by name.
 * It reads synchronously, because the ledger encrypts within its transactions; the files are few and small.
 */

interface Keys {
  readonly current: string;
  readonly byId: ReadonlyMap<string, Uint8Array>;
}

/** The folder is read again after this time. */
const REREAD_AFTER_MS = 1000;
const SUFFIX = ".key";
const KEY_ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const WRITABLE_BY_OTHERS = 0o022;

const readKey = (folder: string, file: string): readonly [string, Uint8Array] => {
  const path = join(folder, file);
  const keyId = file.slice(0, -SUFFIX.length);
  if (!KEY_ID.test(keyId)) {
    throw new Error(
      `${path}: the id of a key must have at most 64 letters, digits, dots, underscores and hyphens`,
    );
  }
  if ((statSync(path).mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new Error(`${path} can be written by others: chmod go-w ${path}`);
  }
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  if (key.length === KEY_BYTES) return [keyId, key];
  throw new Error(
    `${path} is not a key: write ${KEY_BYTES} random bytes in Base64 (openssl rand -base64 ${KEY_BYTES})`,
  );
};

const readKeys = (folder: string): Keys => {
  // In a mounted Kubernetes secret, files that begin with a point are its versions.
  const files = readdirSync(folder).filter(
    (file) => file.endsWith(SUFFIX) && !file.startsWith("."),
  );
  const byId = new Map(files.map((file) => readKey(folder, file)));
  const current = readFileSync(join(folder, "current"), "utf8").trim();
  if (byId.has(current)) return { current, byId };
  throw new Error(
    `${join(folder, "current")} must contain the id of a key in the folder${byId.size === 0 ? ", which has none" : `: one of ${[...byId.keys()].toSorted().join(", ")}`}`,
  );
};

/** Opens a folder of keys, which is read when it is first used. */
export const openKeyFolder = (folder: string) => {
  let last: { readonly at: number; readonly keys: Keys } | undefined;
  const read = (): Keys => {
    const now = performance.now();
    try {
      if (last === undefined || now - last.at >= REREAD_AFTER_MS)
        last = { at: now, keys: readKeys(folder) };
    } catch (error) {
      throw new KeysUnavailable(`The keys cannot be read: ${messageOf(error)}`, { cause: error });
    }
    return last.keys;
  };
  return {
    /** @throws KeysUnavailable */
    currentKeyId: () => read().current,
    /** @throws MissingKey, KeysUnavailable */
    keyOf: (keyId: string): Uint8Array => {
      const known = read().byId.get(keyId);
      if (known !== undefined) return known;
      // Another process may encrypt under a key that was added since the folder was read.
      last = undefined;
      const key = read().byId.get(keyId);
      if (key === undefined) throw new MissingKey(keyId, folder);
      return key;
    },
  };
};
