// Encrypts what Temporal stores.
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
