export * from "./apps.ts";
export { sharedBundle } from "./bundles.ts";
export { makeKeyring } from "./keyring.ts";
export * from "./servers.ts";
