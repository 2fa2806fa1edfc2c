import { Schema } from "effect";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkout } from "../src/processes/apps.ts";

const Versions = Schema.Record(Schema.String, Schema.String);

const Manifest = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  private: Schema.optional(Schema.Boolean),
  description: Schema.optional(Schema.String),
  keywords: Schema.optional(Schema.Array(Schema.String)),
  license: Schema.optional(Schema.String),
  engines: Schema.Struct({ node: Schema.String }),
  repository: Schema.optional(Schema.Struct({ url: Schema.String, directory: Schema.String })),
  publishConfig: Schema.optional(Schema.Struct({ access: Schema.String })),
  exports: Schema.optional(
    Schema.Record(
      Schema.String,
      Schema.Union([
        Schema.String,
        Schema.Struct({
          types: Schema.optional(Schema.String),
          default: Schema.optional(Schema.String),
        }),
      ]),
    ),
  ),
  dependencies: Schema.optional(Versions),
  devDependencies: Schema.optional(Versions),
  peerDependencies: Schema.optional(Versions),
});

const read = (file: string) => readFileSync(join(checkout, file), "utf8");

const manifestOf = (folder: string) =>
  Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))(read(`${folder}/package.json`));

const root = manifestOf(".");

const published = globSync("{packages,apps}/*/package.json", { cwd: checkout })
  .toSorted()
  .map((file) => ({ folder: dirname(file), manifest: manifestOf(dirname(file)) }))
  .filter(({ manifest }) => manifest.private !== true);

const libraries = published.filter(({ folder }) => folder.startsWith("packages/"));

describe.each(published)("$folder", ({ folder, manifest }) => {
  it("says what a registry shows of it", () => {
    expect(manifest.description).toMatch(/^[A-Z].{20,}[^.]$/);
    expect(manifest.keywords?.length).toBeGreaterThan(2);
    expect(manifest).toMatchObject({
      license: root.license,
      engines: root.engines,
      repository: { directory: folder },
      publishConfig: { access: "public" },
    });
    expect(read(`${folder}/LICENSE`)).toBe(read("LICENSE"));
    expect(read(`${folder}/README.md`)).toMatch(`# ${manifest.name}\n`);
  });

  it("has types for all that can be imported", () => {
    const { "./package.json": _, ...entries } = manifest.exports ?? {};
    for (const entry of Object.values(entries)) {
      expect(entry).toMatchObject({
        types: expect.stringMatching(/^\.\/dist\/.+\.d\.c?ts$/) as string,
        default: expect.stringMatching(/^\.\/dist\/.+\.c?js$/) as string,
      });
    }
  });

  it("goes with the other packages of its own version only", () => {
    const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) =>
      name.startsWith("@durable-payments/"),
    );
    expect(own).toEqual(own.map(([name]) => [name, manifest.version]));
  });
});

/** What runs a user's tests, and shares nothing with the packages: its lowest version is what the outside test installs. */
const TEST_RUNNERS: Readonly<Record<string, string>> = { vitest: ">=3.2.0" };

it.each(libraries)("$folder shares Effect and the Temporal SDK with its user", ({ manifest }) => {
  const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest;
  const ofItsOwn = Object.keys(dependencies).filter((name) =>
    /^(effect$|@effect\/|@temporalio\/)/.test(name),
  );
  expect(ofItsOwn).toEqual([]);
  // The lowest version that is allowed of the others is the one that the tests of the workspace run with.
  expect(peerDependencies).toEqual(
    Object.fromEntries(
      Object.keys(peerDependencies).map((name) => [
        name,
        TEST_RUNNERS[name] ?? `^${devDependencies[name]}`,
      ]),
    ),
  );
});
