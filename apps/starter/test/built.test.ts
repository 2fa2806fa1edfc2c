import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { buildCli } from "../src/built/build-cli.ts";
import { builtCli, type Manifest, manifestIn } from "../src/built/fingerprint.mjs";
import { holding } from "./support/expected.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// Within the checkout: what is not built in is found there.
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
let folder: URL;
beforeAll(async () => {
  mkdirSync(dist, { recursive: true });
  folder = pathToFileURL(`${mkdtempSync(`${dist}built-test-`)}/`);
  await buildCli(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = promisify(execFile);

it("runs as the sources do", async () => {
  const cli = builtCli(folder);
  const { stdout } = await run(process.execPath, [
    fileURLToPath(cli ?? ""),
    "runs",
    "list",
    "--help",
  ]);
  expect(stdout).toContain("starter runs list [flags]");
  const file = fileURLToPath(new URL("manifest.json", folder));
  const failed: unknown = await run(process.execPath, [
    fileURLToPath(cli ?? ""),
    "payout",
    "--file",
    file,
    "--json",
  ]).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 2, stdout: holding("BadInput") });
});

it("leaves out what only the doctor needs until it is asked", () => {
  const chunk = readFileSync(new URL("cli.mjs", folder), "utf8");
  expect(chunk).not.toContain("node_modules/undici");
  expect(chunk).not.toContain("node_modules/@temporalio");
});

it("is used only where it was built of what is there", () => {
  expect(builtCli(folder)?.href).toBe(new URL("cli.mjs", folder).href);
  const written = readFileSync(manifestIn(folder), "utf8");
  // Written by the build.
  const manifest = JSON.parse(written) as Manifest;
  expect(manifest.inputs).toContain("apps/starter/src/cli.ts");
  expect(manifest.inputs).toContain("packages/api-core/src/contract/payments-api.ts");
  const changed = [
    JSON.stringify({ ...manifest, hash: "of other sources" }),
    JSON.stringify({ ...manifest, inputs: [...manifest.inputs, "apps/starter/src/gone.ts"] }),
    "no JSON",
  ];
  for (const text of changed) {
    writeFileSync(manifestIn(folder), text);
    expect(builtCli(folder)).toBeUndefined();
  }
  rmSync(manifestIn(folder));
  expect(builtCli(folder)).toBeUndefined();
  writeFileSync(manifestIn(folder), written);
});
