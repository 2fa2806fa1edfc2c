#!/usr/bin/env node
import module from "node:module";
import { enableCompileCache, requireNode } from "@durable-payments/protocol/start-up";

requireNode("worker");
// From the second start on, Node and the workflow threads use the cached compilation.
enableCompileCache();
const compiled = module.getCompileCacheDir();
if (compiled !== undefined) process.env["NODE_COMPILE_CACHE"] ??= compiled;
await import("./cli.ts");
