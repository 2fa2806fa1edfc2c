import { expect, it } from "vitest";
import { tarballFaults } from "../src/release/tarball.ts";

const map = (content: object) => JSON.stringify({ version: 3, mappings: "", ...content });
const sound = {
  LICENSE: "MIT",
  "README.md": "# example",
  "package.json": "{}",
  "dist/client/send.js": "",
  "dist/client/send.js.map": map({ sources: ["../../src/client/send.ts"] }),
  "src/client/send.ts": "",
};
const faultsOf = (files: Readonly<Record<string, string>>) =>
  tarballFaults(new Map(Object.entries(files)), "/home/someone/checkout");

it("accepts a package whose maps lead to the sources that it has", () => {
  expect(faultsOf(sound)).toEqual([]);
});

it("accepts a map that holds its source", () => {
  const embedded = map({ sources: ["elsewhere.ts"], sourcesContent: ["x"] });
  expect(faultsOf({ ...sound, "dist/app.mjs.map": embedded })).toEqual([]);
});

it("accepts the tests of a template", () => {
  expect(faultsOf({ ...sound, "template/test/pay.test.ts": "" })).toEqual([]);
});

it.each([
  ["test/data.json", "{}"],
  ["template/node_modules/example/index.js", ""],
  ["api/current.md", ""],
  ["src/client/send.test.ts", ""],
  ["src/test/server.ts", ""],
  ["dist/tsconfig.lib.tsbuildinfo", "{}"],
  ["src/.env", ""],
])("refuses %s", (path, text) => {
  expect(faultsOf({ ...sound, [path]: text })).toEqual([`${path} does not belong in it`]);
});

it("refuses a map whose source is missing", () => {
  const { "src/client/send.ts": _, ...without } = sound;
  expect(faultsOf(without)).toEqual([
    "dist/client/send.js.map maps to src/client/send.ts, which is missing",
  ]);
});

it.each([
  ["in a file", "at /home/someone/checkout/src"],
  [
    "in a map within a file",
    `//# sourceMappingURL=data:application/json;charset=utf-8;base64,${Buffer.from(map({ sources: ["/home/someone/checkout/src/a.ts"], sourcesContent: ["a"] })).toString("base64")}`,
  ],
])("refuses the folder of the build %s", (_, text) => {
  expect(faultsOf({ ...sound, "dist/other.js": text })).toEqual([
    "dist/other.js names the folder that it was built in",
  ]);
});
