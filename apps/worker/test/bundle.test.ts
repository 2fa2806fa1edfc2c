import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { currentFingerprint } from "../src/bundle/fingerprint.ts";
import {
  type BundleFiles,
  StaleBundle,
  workflowBundle,
  writeBundle,
} from "../src/bundle/prebuilt-bundle.ts";

let folder: string;
let files: BundleFiles;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "workflow-bundle-"));
  files = {
    code: join(folder, "built", "bundle.js"),
    manifest: join(folder, "built", "bundle.json"),
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

const codeOf = async (): Promise<string> => (await workflowBundle(files)).code;

const written = (manifest: string) => writeFileSync(files.manifest, manifest);

it("where no bundle was built, one is made of the sources", async () => {
  const code = await codeOf();
  expect(code).toContain("onboardCardholder");
  expect(code).toContain("The identity check of cardholder");
});

describe("a bundle that was built", () => {
  beforeAll(() => writeBundle(files));

  it("is used as it is", async () => {
    const code = readFileSync(files.code, "utf8");
    expect(await codeOf()).toBe(code);
    const marked = `${code}\n// as it was built`;
    writeFileSync(files.code, marked);
    expect(await codeOf()).toBe(marked);
  });

  it("is small, and brings no Effect into the workflows", () => {
    const code = readFileSync(files.code, "utf8");
    expect(code.length).toBeLessThan(1_000_000);
    expect(code).not.toContain("effect/Schema");
  });

  it("says what it was made of", () => {
    expect(JSON.parse(readFileSync(files.manifest, "utf8"))).toEqual(currentFingerprint());
  });

  it.each([
    ["from other sources", { sources: "0".repeat(64) }, "from other workflow sources"],
    ["with another SDK", { sdk: "1.0.0" }, "with SDK 1.0.0, this worker has 1."],
  ])("%s is refused, with what to do", async (_, differing, message) => {
    written(JSON.stringify({ ...currentFingerprint(), ...differing }));
    const error: unknown = await workflowBundle(files).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StaleBundle);
    expect(String(error)).toContain(message);
    expect(String(error)).toContain('Run "npm run build" again');
    expect(String(error)).not.toContain("\n");
  });

  it.each(["", "[]", "null", "{}", "no JSON"])(
    "is refused where what it was made of is given as %j",
    async (manifest) => {
      written(manifest);
      await expect(workflowBundle(files)).rejects.toBeInstanceOf(StaleBundle);
    },
  );

  it("is refused where a build was broken off", async () => {
    rmSync(files.manifest);
    await expect(workflowBundle(files)).rejects.toBeInstanceOf(StaleBundle);
  });
});
