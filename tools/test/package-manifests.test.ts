import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkout } from "../src/processes/apps.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const read = (file: string) => readFileSync(join(checkout, file), "utf8");

const published = globSync("{packages,apps}/*/package.json", { cwd: checkout })
  .toSorted()
  .map((file) => {
    const manifest: Manifest = JSON.parse(read(file));
    return { folder: dirname(file), manifest };
  })
  .filter(({ manifest }) => manifest.private !== true);

const { license, engines }: Record<string, unknown> = JSON.parse(read("package.json"));

describe.each(published)("$folder", ({ folder, manifest }) => {
  it("says what a registry shows of it", () => {
    expect(manifest).toMatchObject({
      description: expect.stringMatching(/^[A-Z].{20,}[^.]$/),
      keywords: expect.arrayContaining([expect.any(String)]),
      license,
      repository: { type: "git", directory: folder },
      publishConfig: { access: "public" },
      engines,
      type: "module",
    });
    expect(read(`${folder}/LICENSE`)).toBe(read("LICENSE"));
    expect(read(`${folder}/README.md`)).toMatch(`# ${manifest.name}\n`);
  });

  it("has types for all that can be imported", () => {
    for (const [name, target] of Object.entries(manifest.exports)) {
      if (name === "./package.json") continue;
      expect(target, name).toMatchObject({
        types: expect.stringMatching(/^\.\/dist\/.+\.d\.ts$/),
        default: expect.stringMatching(/^\.\/dist\/.+\.js$/),
      });
    }
  });

  it("shares Effect and the Temporal SDK with its user, if it is a library", () => {
    const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest;
    if (folder.startsWith("packages/")) {
      expect(
        Object.keys(dependencies).filter((name) => /^(effect$|@effect|@temporalio)/.test(name)),
      ).toEqual([]);
      for (const [name, range] of Object.entries(peerDependencies)) {
        const lowest = devDependencies[name] ?? "";
        // What is tested here is the lowest that is allowed; the outside test has the newest.
        expect(range, name).toBe(`^${lowest}`);
      }
    }
    for (const [name, range] of Object.entries(dependencies)) {
      if (name.startsWith("@durable-payments/")) expect(range, name).toBe(manifest.version);
    }
  });
});
