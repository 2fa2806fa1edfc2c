export {
  checkDataConverter,
  encryptedDataConverter,
  type EncodingSettings,
  failureConverterPath,
  readDataConverter,
} from "./data-converter.ts";
export { type DecodeSettings, decodeMessage } from "./decode-message.ts";
export { type EncryptionSettings, makeEncryptionCodec } from "./encryption-codec.ts";
export {
  type DataKey,
  InvalidDataConverter,
  type KeyProvider,
  KeysUnavailable,
  MissingKey,
  UndecryptablePayload,
} from "./key-provider.ts";
export { openKeyring } from "./keyring.ts";
export { openTextSeal, type TextSeal } from "./text-seal.ts";
