#!/usr/bin/env -S node --
const { enableCompileCache, requireNode } = await import("@durable-payments/protocol/start-up");
requireNode("durable-payments");
// Deprecated calls of a library are not the user's fault (gRPC, with TLS to an address without a name).
process.noDeprecation = true;
// Before anything else is loaded: it halves the start-up time from the second call on.
enableCompileCache();
const { start } = await import("./start.ts");
await start(process.argv.slice(2));
