import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isSupportedNode, OLDEST_NODE } from "../src/start-up.ts";

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "compile-cache-"));
});
afterEach(() => rmSync(temporary, { recursive: true }));

const source = new URL("../src/start-up.ts", import.meta.url).href;

/** The folder that a process uses whose temporary one is that of the test. */
const usedFolder = (env: NodeJS.ProcessEnv = {}): string => {
  const { NODE_COMPILE_CACHE: _given, ...others } = process.env;
  const { stdout } = spawnSync(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import module from "node:module";
       import { enableCompileCache } from ${JSON.stringify(source)};
       enableCompileCache();
       process.stdout.write(module.getCompileCacheDir() ?? "none");`,
    ],
    { encoding: "utf8", env: { ...others, TMPDIR: temporary, ...env } },
  );
  return stdout;
};

describe.skipIf(process.platform === "win32")("what Node compiles", () => {
  const own = () => join(temporary, `durable-payments-${process.getuid?.()}`);

  it("is kept where only this user can write", () => {
    expect(usedFolder()).toContain(own());
    expect(statSync(own()).mode & 0o777).toBe(0o700);
    expect(usedFolder()).toContain(own());
    expect(existsSync(join(temporary, "node-compile-cache"))).toBe(false);
  });

  it("is not taken from a folder that others can write", () => {
    mkdirSync(own());
    chmodSync(own(), 0o777);
    expect(usedFolder()).toBe("none");
  });

  it("is not taken from where a link leads", () => {
    const elsewhere = join(temporary, "elsewhere");
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, own());
    expect(usedFolder()).toBe("none");
  });

  it("is kept in the folder that NODE_COMPILE_CACHE names", () => {
    const named = join(temporary, "named");
    expect(usedFolder({ NODE_COMPILE_CACHE: named })).toContain(named);
  });
});

it.each([
  ["18.20.4", false],
  ["20.19.5", false],
  ["22.9.0", false],
  ["22.12.0", false],
  ["22.18.9", false],
  ["22.19.0", true],
  ["23.0.0", true],
  ["24.21.0", true],
  ["100.0.0", true],
])("Node %s: %s", (version, expected) => {
  expect(isSupportedNode(version)).toBe(expected);
});

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

it.each(globSync("{.,packages/*,apps/*,tools,bench,chaos}/package.json", { cwd: checkout }))(
  "%s requires the same Node",
  (file) => {
    expect(JSON.parse(readFileSync(`${checkout}${file}`, "utf8"))).toMatchObject({
      engines: { node: `>=${OLDEST_NODE}` },
    });
  },
);

it("the README requires the same Node", () => {
  expect(readFileSync(`${checkout}README.md`, "utf8")).toContain(`Node ${OLDEST_NODE} or later`);
});
