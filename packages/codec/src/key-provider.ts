/** A key that encrypts payloads, and the same key as it is stored beside them. */
export interface DataKey {
  /** Id of the key that wraps it, as the metadata of payloads show it: no secret. */
  readonly keyId: string;
  /** The 32 bytes that encrypt. They stay in memory. */
  readonly key: Uint8Array;
  /** The same, encrypted by the wrapping key: at most 1 KiB. */
  readonly wrapped: Uint8Array;
}

/**
 * What wraps data keys: a keyring in a folder, see {@link openKeyring}, or a key management service (KMS) such as
 * AWS KMS with `GenerateDataKey` and `Decrypt`.
 *
 * A rejection of any method ends the task that needs the key, which Temporal tries again: reject with
 * {@link MissingKey} for a key that is not there, and with {@link KeysUnavailable} otherwise.
 */
export interface KeyProvider {
  /**
   * Name the key that wraps new data keys. It is asked before each batch of payloads: answer from memory.
   *
   * @returns its id, at most 64 letters, digits, points, underscores and hyphens.
   */
  currentKeyId(): Promise<string>;

  /**
   * Make a data key.
   *
   * @param keyId that {@link currentKeyId} has named.
   */
  makeDataKey(keyId: string): Promise<DataKey>;

  /**
   * Decrypt a data key.
   *
   * @param keyId of the key that wraps it.
   * @param wrapped as {@link makeDataKey} gave it, or whatever somebody has put in its place.
   * @returns its 32 bytes.
   */
  unwrap(keyId: string, wrapped: Uint8Array): Promise<Uint8Array>;
}
