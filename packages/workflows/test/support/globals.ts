// Run by Vitest before each test file. A worker puts this into a workflow's globals, and the SDK takes it from
// there as it is loaded: the explorer runs workflows without a worker, in a process that has run other files.
import { AsyncLocalStorage } from "node:async_hooks";

Object.assign(globalThis, { AsyncLocalStorage });
