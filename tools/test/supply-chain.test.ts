import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkout } from "../src/processes.ts";
import { licenceFaults } from "../src/release/licences.ts";
import { type LockedPackage, readLockFile, shippedPackages } from "../src/release/lock-file.ts";
import { billOfMaterials } from "../src/release/sbom.ts";

describe("the bill of materials", () => {
  const bill = billOfMaterials();
  const refs = new Set(bill.components.map((component) => component["bom-ref"]));
  const names = new Set(bill.components.map(({ name }) => name));

  it("has what the package is made of and installed with, and nothing of development", () => {
    for (const name of [
      "effect",
      "undici",
      "pg",
      "@temporalio/worker",
      "@temporalio/core-bridge",
      "@durable-payments/worker",
    ]) {
      expect(names).toContain(name);
    }
    for (const name of ["vitest", "nx", "oxlint", "@durable-payments/tools", "playwright-core"]) {
      expect(names).not.toContain(name);
    }
  });

  it("has version, hash and licence of each, and leads from each to what it uses", () => {
    const external = bill.components.filter((part) => part["bom-ref"].includes("node_modules/"));
    expect(external.length).toBeGreaterThan(100);
    for (const { hashes, name, purl, version } of external) {
      expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
      expect(hashes?.map(({ content }) => content)).toEqual([
        expect.stringMatching(/^[0-9a-f]{128}$/),
      ]);
    }
    // Which states none, and is read by hand.
    const without = external.filter(({ licenses }) => licenses === undefined);
    expect(without.map(({ name }) => name)).toEqual(["unionfs"]);
    const dangling = bill.dependencies.flatMap(({ dependsOn }) =>
      dependsOn.filter((ref) => !refs.has(ref)),
    );
    expect(dangling).toEqual([]);
    expect(bill.dependencies).toHaveLength(bill.components.length + 1);
  });

  it("is the same each time", () => {
    expect(billOfMaterials()).toEqual(bill);
  });
});

const locked = (changes: Partial<LockedPackage>): ReadonlyMap<string, LockedPackage> =>
  new Map([
    [
      "node_modules/one",
      {
        path: "node_modules/one",
        name: "one",
        version: "1.0.0",
        integrity: undefined,
        licence: "MIT",
        uses: [],
        ...changes,
      },
    ],
  ]);

describe("licences", () => {
  it("of this lock file are all allowed", () => {
    const all = readLockFile();
    const shipped = new Set(shippedPackages(all).map(({ path }) => path));
    expect(shipped.size).toBeGreaterThan(100);
    expect(licenceFaults(all, shipped)).toEqual([]);
  });

  it.each(["MIT", "(MIT OR GPL-3.0-only)", "MIT or MPL-2.0", "Apache-2.0 AND MIT"])(
    "%s is allowed",
    (licence) => {
      expect(licenceFaults(locked({ licence }), new Set(["node_modules/one"]))).toEqual([]);
    },
  );

  it.each([
    ["GPL-3.0-only"],
    ["MIT AND GPL-3.0-only"],
    ["SEE LICENSE IN LICENSE.md"],
    ["CC-BY-4.0"],
    [""],
    [undefined],
  ])("%s is not", (licence) => {
    expect(licenceFaults(locked({ licence }), new Set())).toEqual([
      expect.stringContaining("node_modules/one@1.0.0"),
    ]);
  });

  it("of the weakest copyleft are for development only", () => {
    const mpl = locked({ licence: "MPL-2.0" });
    expect(licenceFaults(mpl, new Set())).toEqual([]);
    expect(licenceFaults(mpl, new Set(["node_modules/one"]))).toHaveLength(1);
  });
});

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

  it("has a SHA-512 of every package", () => {
    const sound = { integrity: `sha512-${"A".repeat(86)}==` };
    expect(check({ "": {}, "node_modules/one": sound })).toMatchObject({ status: 0, stderr: "" });
    for (const weak of [{}, { integrity: "sha1-AAAA" }]) {
      const { status, stderr } = check({ "node_modules/one": weak });
      expect(status).toBe(1);
      expect(stderr).toContain("node_modules/one has no SHA-512");
    }
  });
});

it("npm patches nothing when it installs", () => {
  const manifests = [...readLockFile().keys()].filter((path) => !path.includes("node_modules/"));
  for (const path of ["", ...manifests]) {
    const { scripts = {} } = JSON.parse(
      readFileSync(join(checkout, path, "package.json"), "utf8"),
    ) as { scripts?: Record<string, string> };
    expect(
      Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name)),
    ).toEqual([]);
  }
});
