export type { DataKeySettings } from "./data-keys.ts";
export { encryptedDataConverter } from "./data-converter.ts";
export { type EncryptionSettings, makeEncryptionCodec } from "./encryption-codec.ts";
export { KeysUnavailable, MissingKey, UndecryptablePayload } from "./errors.ts";
export type { DataKey, KeyProvider } from "./key-provider.ts";
export { type KeyringSettings, openKeyring } from "./keyring.ts";
