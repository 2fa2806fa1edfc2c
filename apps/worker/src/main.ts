#!/usr/bin/env node
import module from "node:module";
import { requireNode } from "@durable-payments/api-core/node-version";

requireNode("worker");
// From the second start on, Node takes what it has compiled; the threads that run workflows take it, too.
module.enableCompileCache();
process.env["NODE_COMPILE_CACHE"] ??= module.getCompileCacheDir();
await import("./cli.ts");
