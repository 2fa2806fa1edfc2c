#!/usr/bin/env node
import module from "node:module";
import { enableCompileCache } from "@durable-payments/api-core/compile-cache";
import { requireNode } from "@durable-payments/api-core/node-version";

requireNode("worker");
// From the second start on, Node and the workflow threads use the cached compilation.
enableCompileCache();
const compiled = module.getCompileCacheDir();
if (compiled !== undefined) process.env["NODE_COMPILE_CACHE"] ??= compiled;
await import("./cli.ts");
