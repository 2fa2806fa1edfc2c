export { type PayloadCount, payloadCounts } from "./counts.ts";
export type { DataKeySettings } from "./data-keys.ts";
export { encryptedDataConverter, failureConverterPath } from "./data-converter.ts";
export { type DecodeSettings, decodeMessage } from "./decode-message.ts";
export { type EncryptionSettings, makeEncryptionCodec } from "./encryption-codec.ts";
export {
  InvalidDataConverter,
  KeysUnavailable,
  MissingKey,
  UndecryptablePayload,
} from "./errors.ts";
export type { DataKey, KeyProvider } from "./key-provider.ts";
export { type KeyringSettings, openKeyring } from "./keyring.ts";
export { checkDataConverter, readDataConverter } from "./read-data-converter.ts";
export { readTextSeal, type TextSeal } from "./text-seal.ts";
