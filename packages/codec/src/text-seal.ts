import { open, seal } from "./aes-gcm.ts";
import { openKeyFolder } from "./key-folder.ts";
import { UndecryptablePayload } from "./key-provider.ts";

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
 * Opens the keys that encrypt texts; see {@link openKeyring} for the folder.
 *
 * @param folder of the keyring.
 */
export const openTextSeal = (folder: string): TextSeal => {
  const { currentKeyId, keyOf } = openKeyFolder(folder);
  return {
    seal: (text) => {
      const keyId = currentKeyId();
      const sealed = seal(keyOf(keyId), Buffer.from(text), boundTo(keyId));
      return `${MARK}${keyId}:${Buffer.from(sealed).toString("base64")}`;
    },
    open: (text) => {
      const { data, keyId } = SEALED.exec(text)?.groups ?? {};
      // It was written without a keyring.
      if (keyId === undefined || data === undefined) return text;
      const key = keyOf(keyId);
      try {
        return Buffer.from(open(key, Buffer.from(data, "base64"), boundTo(keyId))).toString();
      } catch (error) {
        throw new UndecryptablePayload(`A text cannot be decrypted with the key ${keyId}`, {
          cause: error,
        });
      }
    },
  };
};
