/**
 * The keys cannot be read: a folder is missing, a file is not a key, or a service does not respond.
 * Temporal retries the task that needs them; no run fails by it.
 */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** A payload was encrypted under a missing key. Once the key is restored, it can be read. */
export class MissingKey extends Error {
  override readonly name = "MissingKey";
  /** Id of the key that is missing. */
  readonly keyId: string;

  constructor(keyId: string, where: string) {
    super(
      `The key ${keyId} is missing in ${where}: restore it. A key may be removed only when no stored data is encrypted with it`,
    );
    this.keyId = keyId;
  }
}

/**
 * A payload cannot be decrypted with the key that it names: it was changed, cut, written for another namespace, or
 * under another key of the same id.
 */
export class UndecryptablePayload extends Error {
  override readonly name = "UndecryptablePayload";
}

/** The settings of the encoding of payloads are wrong. */
export class InvalidDataConverter extends Error {
  override readonly name = "InvalidDataConverter";
}

/** A key that encrypts payloads, and the same key as it is stored with them. */
export interface DataKey {
  /** Id of the key that wraps it, as the metadata of payloads show it: no secret. */
  readonly keyId: string;
  /** The 32 bytes that encrypt. They stay in memory. */
  readonly key: Uint8Array;
  /** The same, encrypted by the wrapping key: at most 1 KiB. */
  readonly wrapped: Uint8Array;
}

/**
 * Wraps data keys: a keyring in a folder, see {@link openKeyring}, or a key management service (KMS) such as
 * AWS KMS with `GenerateDataKey` and `Decrypt`.
 *
 * A rejection of any method ends the task that needs the key, and Temporal retries it. Reject with
 * {@link MissingKey} for a missing key, and with {@link KeysUnavailable} otherwise.
 */
export interface KeyProvider {
  /**
   * Names the key that wraps new data keys. It is called before each batch of payloads, so return from memory.
   *
   * @returns its id, at most 64 letters, digits, points, underscores and hyphens.
   */
  currentKeyId(): Promise<string>;

  /**
   * Makes a data key.
   *
   * @param keyId that {@link currentKeyId} has named.
   */
  makeDataKey(keyId: string): Promise<DataKey>;

  /**
   * Decrypts a data key.
   *
   * @param keyId of the key that wraps it.
   * @param wrapped as {@link makeDataKey} returned it. It may have been replaced by any bytes.
   * @returns its 32 bytes.
   */
  unwrap(keyId: string, wrapped: Uint8Array): Promise<Uint8Array>;
}
