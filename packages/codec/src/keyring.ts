import { messageOf } from "@durable-payments/api-core/values";
import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { KEY_BYTES, open, seal } from "./aes-gcm.ts";

import {
  type KeyProvider,
  KeysUnavailable,
  MissingKey,
  UndecryptablePayload,
} from "./key-provider.ts";

/** Settings of {@link openKeyring}. */
export interface KeyringSettings {
  /** How long the folder is taken to be as it was last read, in milliseconds; 1,000 if left out. */
  readonly rereadAfterMs?: number;
}

interface Keys {
  readonly current: string;
  readonly byId: ReadonlyMap<string, Uint8Array>;
}

const DEFAULT_REREAD_MS = 1000;
const SUFFIX = ".key";
const KEY_ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const WRITABLE_BY_OTHERS = 0o022;

/** A data key is bound to its use and to the key that wraps it. */
const boundTo = (keyId: string): string => `durable-payments data key\0${keyId}`;

const readKey = async (folder: string, file: string): Promise<Uint8Array> => {
  const path = join(folder, file);
  const { mode } = await stat(path);
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new Error(`${path} can be written by others: chmod go-w ${path}`);
  }
  const key = Buffer.from((await readFile(path, "utf8")).trim(), "base64");
  if (key.length === KEY_BYTES) return key;
  throw new Error(
    `${path} is not a key: write ${KEY_BYTES} random bytes in Base64 (openssl rand -base64 ${KEY_BYTES})`,
  );
};

const readKeys = async (folder: string): Promise<Keys> => {
  // Those of a mounted Kubernetes secret that begin with a point are its versions.
  const files = (await readdir(folder)).filter(
    (file) => file.endsWith(SUFFIX) && !file.startsWith("."),
  );
  const entries = await Promise.all(
    files.map(async (file) => {
      const keyId = file.slice(0, -SUFFIX.length);
      if (!KEY_ID.test(keyId)) {
        throw new Error(
          `${join(folder, file)}: the id of a key must have at most 64 letters, digits, dots, underscores and hyphens`,
        );
      }
      return [keyId, await readKey(folder, file)] as const;
    }),
  );
  const byId = new Map(entries);
  const current = (await readFile(join(folder, "current"), "utf8")).trim();
  if (!byId.has(current)) {
    throw new Error(
      `${join(folder, "current")} must contain the id of a key in the folder${byId.size === 0 ? ", which has none" : `: one of ${[...byId.keys()].toSorted().join(", ")}`}`,
    );
  }
  return { current, byId };
};

/**
 * Opens a keyring: a folder with a file `<id>.key` for each key, 32 bytes in Base64, and a file `current` with the id of
 * the key that encrypts from now on; the others decrypt what was written under them. The folder is read again when it
 * is used, at most once a second, so keys are added, made current and removed without a restart. A Kubernetes secret
 * can be mounted as it is.
 *
 * @param folder its path.
 * @param settings how often it is read.
 * @returns the keyring, which nothing has been read from yet.
 * @example
 * ```ts
 * const converter = encryptedDataConverter({ namespace: "payments", keys: openKeyring("/etc/payments/keys") });
 * ```
 */
export const openKeyring = (
  folder: string,
  { rereadAfterMs = DEFAULT_REREAD_MS }: KeyringSettings = {},
): KeyProvider => {
  let last: { readonly at: number; readonly keys: Promise<Keys> } | undefined;
  const read = async (): Promise<Keys> => {
    const now = performance.now();
    if (last === undefined || now - last.at >= rereadAfterMs) {
      last = { at: now, keys: readKeys(folder) };
    }
    try {
      return await last.keys;
    } catch (error) {
      throw new KeysUnavailable(`The keys cannot be read: ${messageOf(error)}`, { cause: error });
    }
  };
  const keyOf = async (keyId: string): Promise<Uint8Array> => {
    const known = (await read()).byId.get(keyId);
    if (known !== undefined) return known;
    // Another process may encrypt under a key that was added since the folder was read.
    last = undefined;
    const key = (await read()).byId.get(keyId);
    if (key === undefined) throw new MissingKey(keyId, folder);
    return key;
  };
  return {
    currentKeyId: async () => (await read()).current,
    makeDataKey: async (keyId) => {
      const key = randomBytes(KEY_BYTES);
      return { keyId, key, wrapped: seal(await keyOf(keyId), key, boundTo(keyId)) };
    },
    unwrap: async (keyId, wrapped) => {
      const wrapping = await keyOf(keyId);
      try {
        return open(wrapping, wrapped, boundTo(keyId));
      } catch (error) {
        throw new UndecryptablePayload(
          `A data key cannot be decrypted with the key ${keyId} in ${folder}: the data key was changed, or ${keyId} was replaced`,
          { cause: error },
        );
      }
    },
  };
};
