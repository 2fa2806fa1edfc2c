export * from "./data-converter.ts";
export * from "./decode-message.ts";
export * from "./encryption-codec.ts";
export * from "./key-provider.ts";
export { openKeyring } from "./keyring.ts";
export * from "./text-seal.ts";
