/**
 * Encrypts what Temporal stores.
 *
 * @module durable-payments/codec
 */
export {
  type DataKey,
  encryptedDataConverter,
  type EncryptionSettings,
  failureConverterPath,
  type KeyProvider,
  KeysUnavailable,
  MissingKey,
  openKeyring,
} from "@durable-payments/codec";
