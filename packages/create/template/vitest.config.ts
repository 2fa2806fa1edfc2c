import { defineConfig } from "vitest/config";

// A test starts a Temporal server and a worker: on a busy machine that takes its time.
export default defineConfig({ test: { testTimeout: 60_000, hookTimeout: 60_000 } });
