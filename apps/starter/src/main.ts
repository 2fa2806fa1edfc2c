#!/usr/bin/env node
const { requireNode } = await import("@durable-payments/api-core/node-version");
requireNode("starter");
// What a library calls is not for its user to correct (gRPC, by TLS to an address without a name).
process.noDeprecation = true;
// Before anything else is loaded: from the second call on, half of the start-up time is saved.
const { enableCompileCache } = await import("@durable-payments/api-core/compile-cache");
enableCompileCache();
const { runStarter } = await import("./cli.ts");
runStarter();
