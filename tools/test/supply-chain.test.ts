import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkout } from "../src/processes.ts";

const checkActions = (...files: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(checkout, "tools/check-actions.mjs"), ...files], {
    cwd: checkout,
    encoding: "utf8",
  });

describe("the actions of workflows", () => {
  it("are all pinned", () => {
    expect(checkActions()).toMatchObject({ status: 0, stderr: "" });
  });

  it.each([
    "actions/checkout@v7",
    "actions/checkout@main",
    "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
    "docker://alpine:3",
  ])("%s is refused", (action) => {
    const folder = mkdtempSync(join(tmpdir(), "actions-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "ci.yml");
    writeFileSync(file, `jobs:\n  check:\n    steps:\n      - uses: ${action}\n`);
    const { status, stderr } = checkActions(file);
    expect(status).toBe(1);
    expect(stderr).toContain(`ci.yml:4: ${action} is not pinned`);
  });
});

describe("the lock file", () => {
  const check = (packages: object) => {
    const folder = mkdtempSync(join(tmpdir(), "lock-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "package-lock.json");
    writeFileSync(file, JSON.stringify({ packages }));
    return spawnSync(process.execPath, [join(checkout, "tools/check-lockfile.mjs"), file], {
      encoding: "utf8",
    });
  };

  const sound = { integrity: `sha512-${"A".repeat(86)}==`, license: "MIT" };

  it.each(["MIT", "(MIT OR GPL-3.0-only)", "MIT or MPL-2.0", "Apache-2.0 AND MIT"])(
    "may have packages with the licence %s",
    (license) => expect(check({ "node_modules/one": { ...sound, license } }).status).toBe(0),
  );

  it.each(["GPL-3.0-only", "MIT AND GPL-3.0-only", "SEE LICENSE IN LICENSE.md", "MPL-2.0", ""])(
    "may have none with the licence %o",
    (license) => {
      const { status, stderr } = check({ "node_modules/one": { ...sound, license } });
      expect(status).toBe(1);
      expect(stderr).toContain("node_modules/one has the licence");
    },
  );

  it("has a SHA-512 of every package", () => {
    expect(check({ "": {}, "node_modules/one": sound })).toMatchObject({ status: 0, stderr: "" });
    for (const weak of [{ license: "MIT" }, { ...sound, integrity: "sha1-AAAA" }]) {
      const { status, stderr } = check({ "node_modules/one": weak });
      expect(status).toBe(1);
      expect(stderr).toContain("node_modules/one has no SHA-512");
    }
  });
});

it("npm patches nothing when it installs", () => {
  const manifests = globSync("{,{packages,apps}/*/,{tools,bench,chaos,site}/}package.json", {
    cwd: checkout,
  });
  expect(manifests.length).toBeGreaterThan(10);
  for (const manifest of manifests) {
    const { scripts = {} } = JSON.parse(readFileSync(join(checkout, manifest), "utf8")) as {
      scripts?: Record<string, string>;
    };
    expect(
      Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name)),
    ).toEqual([]);
  }
});
