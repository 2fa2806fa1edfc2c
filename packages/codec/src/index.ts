export type { DataKeySettings } from "./data-keys.ts";
export { encryptedDataConverter } from "./data-converter.ts";
export { decodeHistory } from "./decode-history.ts";
export { type EncryptionSettings, makeEncryptionCodec } from "./encryption-codec.ts";
export {
  InvalidDataConverter,
  KeysUnavailable,
  MissingKey,
  UndecryptablePayload,
} from "./errors.ts";
export type { DataKey, KeyProvider } from "./key-provider.ts";
export { type KeyringSettings, openKeyring } from "./keyring.ts";
export { readDataConverter } from "./read-data-converter.ts";
