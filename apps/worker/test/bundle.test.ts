import { Runtime } from "@temporalio/worker";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
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
  // A busy machine takes its time.
  beforeAll(() => writeBundle(files), 120_000);

  it("is used as it is, in a checkout, too", async () => {
    const code = readFileSync(files.code, "utf8");
    expect(await codeOf()).toBe(code);
    expect((await workflowBundle({ ...files, rebuilds: true })).code).toBe(code);
  });

  it.each([true, false])("is refused once it was edited (rebuilds: %s)", async (rebuilds) => {
    const code = readFileSync(files.code, "utf8");
    writeFileSync(files.code, `${code}\n// edited`);
    onTestFinished(() => writeFileSync(files.code, code));
    const error: unknown = await workflowBundle({ ...files, rebuilds }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StaleBundle);
    expect(String(error)).toContain("is not as it was built: its SHA-256 differs");
    expect(String(error)).toContain('run "npm run build" again');
  });

  it("is small, and brings no Effect into the workflows", () => {
    const code = readFileSync(files.code, "utf8");
    expect(code.length).toBeLessThan(1_000_000);
    expect(code).not.toContain("effect/Schema");
  });

  it("says what it was made of", () => {
    expect(JSON.parse(readFileSync(files.manifest, "utf8"))).toEqual({
      ...currentFingerprint(),
      code: createHash("sha256").update(readFileSync(files.code)).digest("hex"),
    });
  });

  it.each([
    ["from other sources", { sources: "0".repeat(64) }, "from other workflow sources"],
    ["with another SDK", { sdk: "1.0.0" }, "with SDK 1.0.0, this worker has 1."],
  ])("%s is refused, with what to do", async (_, differing, message) => {
    written(JSON.stringify({ ...currentFingerprint(), code: "0".repeat(64), ...differing }));
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

  it("is not used in a checkout whose sources have changed: they are bundled, and a line says so", async () => {
    writeFileSync(files.code, "// stale");
    written(
      JSON.stringify({ ...currentFingerprint(), code: "0".repeat(64), sources: "0".repeat(64) }),
    );
    const warn = vi.spyOn(Runtime.instance().logger, "warn");
    onTestFinished(() => warn.mockRestore());
    const { code } = await workflowBundle({ ...files, rebuilds: true });
    expect(code).toContain("onboardCardholder");
    expect(warn.mock.calls.map(([line]) => line)).toEqual([
      `The workflow bundle ${files.code} was built from other workflow sources. The workflows are bundled from their sources now: some seconds at each start, until you run "npm run build".`,
    ]);
    expect(readFileSync(files.code, "utf8")).toBe("// stale");
  });
});
