import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { freshBuild } from "../src/fresh-build.mjs";
import { recordFiles } from "../src/integrity.mjs";

let checkout: string;
const write = (path: string): string => {
  const file = join(checkout, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  return file;
};

let main: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "fresh-build-"));
  write("packages/one/src/deep/module.ts");
  write("packages/one/package.json");
  write("apps/starter/src/main.ts");
  write("node_modules/.package-lock.json");
  main = write("apps/starter/dist/app/main.mjs");
  recordFiles(dirname(main));
  // Seconds after the sources, however coarse the clock of the file system is.
  const later = new Date(Date.now() + 1000);
  utimesSync(main, later, later);
});
afterEach(() => rmSync(checkout, { recursive: true }));

const makeStale = (): void => {
  const earlier = new Date(Date.now() - 60_000);
  utimesSync(main, earlier, earlier);
};

it("is the bundle while no source is newer", () => {
  expect(freshBuild(checkout, "starter")).toBe(main);
});

it("is none where nothing was built", () => {
  rmSync(main);
  expect(freshBuild(checkout, "starter")).toBeUndefined();
  expect(freshBuild(checkout, "simulator")).toBeUndefined();
});

it("is none once a source is newer", () => {
  makeStale();
  expect(freshBuild(checkout, "starter")).toBeUndefined();
});

it("is none once a source was replaced by an older file", () => {
  const between = new Date(Date.now() - 30_000);
  const older = write("older.ts");
  utimesSync(older, new Date(0), new Date(0));
  utimesSync(main, between, between);
  renameSync(older, join(checkout, "packages/one/src/deep/module.ts"));
  expect(freshBuild(checkout, "starter")).toBeUndefined();
});
