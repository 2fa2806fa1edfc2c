import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { testedProjects } from "../src/tests/projects.ts";
import { countsLine, summarise } from "../src/tests/summary.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "summary-"));
});
afterEach(async () => await rm(root, { recursive: true, force: true }));

interface File {
  readonly name: string;
  readonly status?: "passed" | "failed";
  readonly message?: string;
  readonly tests?: Readonly<Record<string, "passed" | "failed" | "pending" | "skipped" | "todo">>;
}

const report = async (folder: string, success: boolean, files: readonly File[]): Promise<void> => {
  await mkdir(join(root, folder, ".test-results"), { recursive: true });
  const testResults = files.map(({ name, status, message = "", tests = {} }) => ({
    name: join(root, folder, "test", name),
    status: status ?? (Object.values(tests).includes("failed") ? "failed" : "passed"),
    message,
    assertionResults: Object.entries(tests).map(([fullName, one]) => ({ fullName, status: one })),
  }));
  await writeFile(
    join(root, folder, ".test-results", "results.json"),
    JSON.stringify({ success, testResults }),
  );
};

it("adds the projects up and names what failed", async () => {
  await report("a", true, [{ name: "a.test.ts", tests: { one: "passed", two: "passed" } }]);
  await report("b", false, [
    { name: "b.test.ts", tests: { "pays twice": "failed", later: "todo", not: "skipped" } },
  ]);
  const summary = await summarise(
    [
      { name: "@x/a", folder: "a" },
      { name: "@x/b", folder: "b" },
    ],
    root,
  );
  expect(summary).toEqual({
    passed: 2,
    skipped: 2,
    failures: [`@x/b: ${join("b", "test", "b.test.ts")}: pays twice`],
  });
  expect(countsLine(summary)).toBe("2 passed, 1 failed, 2 skipped");
});

it("leaves out the skipped when there are none", () => {
  expect(countsLine({ passed: 3, skipped: 0, failures: [] })).toBe("3 passed, 0 failed");
});

it("counts a project without a report as a failure", async () => {
  await mkdir(join(root, "c", ".test-results"), { recursive: true });
  await writeFile(join(root, "c", ".test-results", "results.json"), '{"success": tru');
  const projects = ["c", "gone"].map((folder) => ({ name: `@x/${folder}`, folder }));
  expect((await summarise(projects, root)).failures).toEqual([
    "@x/c: it has no test report",
    "@x/gone: it has no test report",
  ]);
});

it("counts a file that fails outside of its tests, and a run that does", async () => {
  await report("d", false, [
    { name: "d.test.ts", status: "failed", message: "Cannot find module x\n  at y" },
  ]);
  await report("e", false, [{ name: "e.test.ts", tests: { one: "passed" } }]);
  const projects = ["d", "e"].map((folder) => ({ name: `@x/${folder}`, folder }));
  expect(await summarise(projects, root)).toEqual({
    passed: 1,
    skipped: 0,
    failures: [
      `@x/d: ${join("d", "test", "d.test.ts")}: Cannot find module x`,
      "@x/e: vitest failed outside of the tests (its output is above)",
    ],
  });
});

it("counts a project without tests as a failure", async () => {
  await report("f", true, []);
  expect((await summarise([{ name: "@x/f", folder: "f" }], root)).failures).toEqual([
    "@x/f: it has no tests",
  ]);
});

it("finds the projects of this workspace that have tests", async () => {
  const names = (await testedProjects()).map(({ folder }) => folder);
  expect(names).toEqual(expect.arrayContaining(["packages/api-core", "apps/worker", "tools"]));
});
