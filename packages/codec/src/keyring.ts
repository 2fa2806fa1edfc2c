import { randomBytes } from "node:crypto";
import { KEY_BYTES, open, seal } from "./aes-gcm.ts";
import { openKeyFolder } from "./key-folder.ts";
import { type KeyProvider, UndecryptablePayload } from "./key-provider.ts";

/** A data key is bound to its use and to the key that wraps it. */
const boundTo = (keyId: string): string => `durable-payments data key\0${keyId}`;

/**
 * Opens a keyring: a folder with a file `<id>.key` for each key, 32 bytes in Base64. A file `current` has the id of the key
 * that encrypts from now on; each key decrypts the values that were encrypted with it. The folder is read again when it
 * is used, at most once a second, so keys are added, made current and removed without a restart. A Kubernetes secret
 * can be mounted as it is.
 *
 * @param folder its path.
 * @returns the keyring; nothing was read from the folder yet.
 * @example
 * ```ts
 * const converter = encryptedDataConverter({ namespace: "payments", keys: openKeyring("/etc/payments/keys") });
 * ```
 */
export const openKeyring = (folder: string): KeyProvider => {
  const { currentKeyId, keyOf } = openKeyFolder(folder);
  return {
    currentKeyId: async () => currentKeyId(),
    makeDataKey: async (keyId) => {
      const key = randomBytes(KEY_BYTES);
      return { keyId, key, wrapped: seal(keyOf(keyId), key, boundTo(keyId)) };
    },
    unwrap: async (keyId, wrapped) => {
      const wrapping = keyOf(keyId);
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
