import { LRUCache } from "lru-cache";
import { type DataKey, type KeyProvider, UndecryptablePayload } from "./key-provider.ts";

/** The data keys of a process. */
export type DataKeys = ReturnType<typeof keepDataKeys>;

/**
 * How long a data key is used and remembered. A removed key may still decrypt for
 * this time in a process that has used it.
 */
const LIFETIME_MS = 300_000;
/** Maximum number of decrypted data keys in memory. */
const MOST_KEYS = 1000;
/** NIST SP 800-38D, 8.3: at most 2^32 random nonces under one key. A batch of payloads counts as one use here. */
const MOST_USES = 2 ** 20;

/**
 * Keeps data keys, so that the key management service, which may be slow, is not called for each payload.
 *
 * @param provider of the wrapping keys.
 */
export const keepDataKeys = (provider: KeyProvider) => {
  let made:
    | { readonly keyId: string; readonly at: number; uses: number; readonly key: Promise<DataKey> }
    | undefined;
  const isUsable = (): boolean =>
    made !== undefined && made.uses < MOST_USES && performance.now() - made.at < LIFETIME_MS;
  // A response of the service that cannot be encoded is lost. So a data key is used for its whole time.
  const currentKeyId = async (): Promise<string> => {
    try {
      return await provider.currentKeyId();
    } catch (error) {
      if (made === undefined || !isUsable()) throw error;
      return made.keyId;
    }
  };
  // Concurrent tasks that need the same key share one request; a rejected request is repeated.
  const unwrapped = new LRUCache<
    string,
    Uint8Array,
    { readonly keyId: string; readonly wrapped: Uint8Array }
  >({
    max: MOST_KEYS,
    ttl: LIFETIME_MS,
    fetchMethod: (_id, _stale, { context }) => provider.unwrap(context.keyId, context.wrapped),
  });
  return {
    /** The data key that encrypts now. */
    current: async (): Promise<DataKey> => {
      const keyId = await currentKeyId();
      if (made === undefined || made.keyId !== keyId || !isUsable()) {
        const making = { keyId, at: performance.now(), uses: 0, key: provider.makeDataKey(keyId) };
        made = making;
        making.key.catch(() => {
          if (made === making) made = undefined;
        });
      }
      made.uses += 1;
      return made.key;
    },
    /** Decrypts a data key, unless it is remembered. */
    unwrap: async (keyId: string, wrapped: Uint8Array): Promise<Uint8Array> => {
      const id = `${keyId}\0${Buffer.from(wrapped).toString("base64")}`;
      const key = await unwrapped.fetch(id, { context: { keyId, wrapped } });
      if (key === undefined) throw new UndecryptablePayload(`A data key of ${keyId} was not kept`);
      return key;
    },
  };
};
