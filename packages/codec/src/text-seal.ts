import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KEY_BYTES, open, seal } from "./aes-gcm.ts";
import { KeysUnavailable, MissingKey, UndecryptablePayload } from "./key-provider.ts";

/** Encrypts and decrypts the texts of the ledger, synchronously, within its transactions. */
export interface TextSeal {
  readonly seal: (text: string) => string;
  /** @throws MissingKey, KeysUnavailable or UndecryptablePayload. */
  readonly open: (text: string) => string;
}

const MARK = "sealed:1:";
const SEALED = /^sealed:1:(?<keyId>[\w.-]{1,64}):(?<data>[A-Za-z0-9+/]+=*)$/;

/** A text is bound to its use and to the key. */
const boundTo = (keyId: string): string => `durable-payments text\0${keyId}`;

/**
 * Opens the keys by which texts are sealed. A key is read once, which key is current each time.
 *
 * @param folder of the keyring.
 */
export const openTextSeal = (folder: string): TextSeal => {
  const known = new Map<string, Uint8Array>();
  const keyOf = (keyId: string): Uint8Array => {
    const before = known.get(keyId);
    if (before !== undefined) return before;
    let key: Uint8Array;
    try {
      key = Buffer.from(readFileSync(join(folder, `${keyId}.key`), "utf8").trim(), "base64");
    } catch (error) {
      throw Object.assign(new MissingKey(keyId, folder), { cause: error });
    }
    if (key.length !== KEY_BYTES) {
      throw new KeysUnavailable(`The key ${keyId} of ${folder} does not have ${KEY_BYTES} bytes`);
    }
    known.set(keyId, key);
    return key;
  };
  const current = (): string => {
    try {
      return readFileSync(join(folder, "current"), "utf8").trim();
    } catch (error) {
      throw new KeysUnavailable(`The keys of ${folder} cannot be read`, { cause: error });
    }
  };
  return {
    seal: (text) => {
      const keyId = current();
      const sealed = seal(keyOf(keyId), Buffer.from(text), boundTo(keyId));
      return `${MARK}${keyId}:${Buffer.from(sealed).toString("base64")}`;
    },
    open: (text) => {
      const { data, keyId } = SEALED.exec(text)?.groups ?? {};
      // It was written before there was a keyring.
      if (keyId === undefined || data === undefined) return text;
      try {
        return Buffer.from(
          open(keyOf(keyId), Buffer.from(data, "base64"), boundTo(keyId)),
        ).toString();
      } catch (error) {
        if (error instanceof MissingKey || error instanceof KeysUnavailable) throw error;
        throw new UndecryptablePayload(`A text cannot be decrypted with the key ${keyId}`, {
          cause: error,
        });
      }
    },
  };
};
