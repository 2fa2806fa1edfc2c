import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProcess } from "@durable-payments/tools/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkout } from "../src/processes/apps.ts";

// Within the checkout, where Vitest is found.
let folder: string;
beforeAll(() => {
  mkdirSync(join(checkout, ".local"), { recursive: true });
  folder = mkdtempSync(join(checkout, ".local", "npm-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const environments = JSON.stringify(fileOf("../src/testing/environments.ts"));
const files: Readonly<Record<string, string>> = {
  "green/green.test.ts": `
    import { expect, it } from "vitest";
    import { createLocalEnvironment } from ${environments};
    it("passes", async () => {
      console.log("printed by a test that passes");
      await (await createLocalEnvironment()).teardown();
    });
    it.skip("is skipped", () => {});`,
  "red/red.test.ts": `
    import { expect, it } from "vitest";
    import { createLocalEnvironment } from ${environments};
    it("fails", async () => {
      console.log("printed by a test that fails");
      const log = { level: "info", format: "pretty" };
      await (await createLocalEnvironment({ server: { log } })).teardown();
      expect(1).toBe(2);
    });
    it("passes too", () => {});`,
  "red/broken.test.ts": `import "./no-such-module.ts";`,
};

const runVitest = (...projects: ReadonlyArray<string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `export default {
      test: {
        silent: "passed-only",
        projects: ${JSON.stringify(projects)}.map((name) => ({
          root: name,
          ssr: { resolve: { conditions: ["@durable-payments/source", "node"] } },
          test: { name, setupFiles: [${JSON.stringify(fileOf("../src/testing/setup-file.ts"))}] },
        })),
      },
    };`,
  );
  const vitest = join(checkout, "node_modules/vitest/vitest.mjs");
  const reporter = `--reporter=${fileOf("../src/testing/counts-reporter.ts")}`;
  const args = [vitest, "run", "--root", folder, reporter];
  return runProcess(process.execPath, args, { NO_COLOR: "1", VITEST: undefined });
};

it("prints nothing of a test that passes, nor of its server", async () => {
  const { exitCode, stdout, stderr } = await runVitest("green");
  expect(stdout).toMatch(/\n·\n[^]*\n1 passed, 0 failed, 1 skipped\n$/);
  expect(stderr).toBe("");
  expect(stdout).not.toContain("printed by a test that passes");
  expect(stdout).not.toContain("Server:");
  expect(exitCode).toBe(0);
});

it("shows of a test that fails its error, its output and its server's log, and counts what has no tests", async () => {
  mkdirSync(join(folder, "empty"), { recursive: true });
  const { exitCode, stdout, stderr } = await runVitest("green", "red", "empty");
  expect(stdout).toMatch(/\n2 passed, 3 failed, 1 skipped\n$/);
  expect(stdout).toContain("empty: it has no tests");
  const output = stdout + stderr;
  expect(output).toContain("expected 1 to be 2");
  expect(output).toContain("no-such-module.ts");
  expect(output).toContain("printed by a test that fails");
  expect(output).toMatch(/The Temporal servers of this file:\n.*(INFO|level=)/);
  expect(output).not.toContain("printed by a test that passes");
  expect(exitCode).toBe(1);
});
