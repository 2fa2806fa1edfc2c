import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import ByProject from "./tools/src/testing/by-project.ts";
import { markTestRun } from "./tools/src/testing/run.ts";

/**
 * Tests read the sources of the other packages, so that no build has to come first. Vitest hands
 * these to Node, for `require` too: with "import" among them protobufjs would get an ES module
 * where it looks for Long, and read every 64-bit number as a plain one.
 */
const conditions = ["@durable-payments/source", "node"];

const isNightly = process.env["NIGHTLY"] !== undefined;

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What is made once for the test files of a project. */
const GLOBAL_SETUPS: Readonly<Record<string, string>> = {
  "apps/worker": "apps/worker/test/support/built-apps.ts",
};

/** The name of a project's package, by which Nx runs its tests. */
const nameOf = (root: string): string => {
  const manifest = JSON.parse(readFileSync(fileOf(`${root}/package.json`), "utf8")) as {
    readonly name: string;
  };
  return manifest.name;
};

const project = (root: string) => ({
  extends: true as const,
  root,
  test: {
    name: nameOf(root),
    globalSetup: root in GLOBAL_SETUPS ? [fileOf(GLOBAL_SETUPS[root] ?? "")] : [],
  },
});

markTestRun();

// Vitest hands on by these what each of its processes prints, and Node warns of eleven.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);

export default defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    projects: globSync("{packages/*,apps/*,*}/tsconfig.spec.json")
      .map(dirname)
      .filter((root) => !isNightly || globSync(`${root}/test/**/*.nightly.ts`).length > 0)
      .toSorted()
      .map(project),
    // What takes minutes, or needs servers that few machines have, runs every night: `npm run nightly`.
    include: [isNightly ? "test/**/*.nightly.ts" : "test/**/*.test.ts"],
    setupFiles: [fileOf("tools/src/testing/setup-file.ts")],
    // What a test prints is shown when it fails.
    silent: "passed-only",
    pool: "forks",
    // The files of a project share one load of Effect, the SDK and the sources: half of their CPU. So a file
    // leaves nothing behind, and a module of the tests keeps nothing of the file that loaded it first.
    isolate: false,
    // Most tests wait for a server, a process or a timer most of the time.
    maxWorkers: 4,
    sequence: { sequencer: ByProject },
    // These and the limits of waits within tests end what hangs, and judge no speed: on two busy cores a server
    // or a worker may take half a minute to start.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
