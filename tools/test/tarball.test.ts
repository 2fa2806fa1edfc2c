import { expect, it } from "vitest";
import { withPaths } from "../src/packages/assemble.ts";
import { peerFaults, tarballFaults } from "./support/tarball.ts";

const sound = {
  LICENSE: "MIT",
  "README.md": "# example",
  "package.json": "{}",
  "dist/client/send.js": "",
};
const faultsOf = (files: Readonly<Record<string, string>>) =>
  tarballFaults(new Map(Object.entries(files)), "/home/someone/checkout");

it("accepts what is compiled, and the tests of a template", () => {
  expect(faultsOf({ ...sound, "template/test/pay.test.ts": "" })).toEqual([]);
});

it.each([
  "test/data.json",
  "template/node_modules/example/index.js",
  "api/codec.api.md",
  "src/client/send.ts",
  "dist/client/send.test.js",
  "dist/client/send.js.map",
  "dist/tsconfig.lib.tsbuildinfo",
  "dist/.env",
])("refuses %s", (path) => {
  expect(faultsOf({ ...sound, [path]: "" })).toEqual([`${path} does not belong in it`]);
});

it.each([
  ["in a file", "at /home/someone/checkout/src"],
  [
    "in a source map within a file",
    `//# sourceMappingURL=data:application/json;charset=utf-8;base64,${Buffer.from('{"sources":["/home/someone/checkout/src/a.ts"]}').toString("base64")}`,
  ],
])("refuses the folder of the build %s", (_, text) => {
  expect(faultsOf({ ...sound, "dist/other.js": text })).toEqual([
    "dist/other.js names the folder that it was built in",
  ]);
});

const pathsIn = (text: string) =>
  withPaths(text, "dist/packages/plugin/dist/worker/run.js", {
    files: new Set(["dist/packages/plugin/dist/own.js"]),
    entries: new Map([["@durable-payments/ledger", "dist/packages/ledger/dist/index.js"]]),
    packages: new Set(["@temporalio/worker"]),
  });
const LEDGER = "../../../ledger/dist/index.js";

it.each([
  ['import { open } from "@durable-payments/ledger";', `import { open } from "./${LEDGER}";`],
  ['export * from "@durable-payments/ledger";', `export * from "./${LEDGER}";`],
  ['export * from "../own.ts";', 'export * from "../own.js";'],
  ['await import("@durable-payments/ledger");', `await import("./${LEDGER}");`],
  ['type L = import("@durable-payments/ledger").L;', `type L = import("./${LEDGER}").L;`],
  ['import.meta.resolve("@durable-payments/ledger")', `import.meta.resolve("./${LEDGER}")`],
  [
    'import own from "../package.json" with { type: "json" };',
    'import own from "./../../../../../package.json" with { type: "json" };',
  ],
  ['import "@temporalio/worker/lib/x";', 'import "@temporalio/worker/lib/x";'],
  [
    'import fs from "node:fs";\nimport "../own.js";',
    'import fs from "node:fs";\nimport "../own.js";',
  ],
  ['const key = "@durable-payments/ledger";', 'const key = "@durable-payments/ledger";'],
  ["x();\n//# sourceMappingURL=run.js.map", "x();\n"],
])("%s is published as a module that finds its imports", (text, published) => {
  expect(pathsIn(text)).toBe(published);
});

it.each(["@durable-payments/tools", "execa"])(
  "refuses an import of %s, which no user has",
  (name) => {
    expect(() => pathsIn(`import "${name}";`)).toThrow(
      `imports ${name}, which its package does not have`,
    );
  },
);

const packed = {
  ours: {
    entries: {
      "./start": "./dist/start.js",
      "./worker": "./dist/worker.js",
      "./testing": "./dist/t.js",
    },
    files: new Map([
      ["dist/start.js", 'import "./part.js"; import "theirs/effect"; await import("native");'],
      ["dist/worker.js", 'import "./part.js"; import "native";'],
      ["dist/part.js", 'import fs from "node:fs"; export * from "@scope/common/lib/x";'],
      ["dist/t.js", 'import "tester";'],
    ]),
  },
  theirs: {
    entries: { "./effect": "./dist/effect.js" },
    files: new Map([["dist/effect.js", 'import "effect/Effect";']]),
  },
};
const soundPeers = { "@scope/common": "1", effect: "1", native: "1", tester: "1", theirs: "1" };
const peersOf = (
  peers: Readonly<Record<string, string>>,
  requiredPeers: ReadonlyArray<string> = ["@scope/common"],
) =>
  peerFaults({ name: "ours", dependencies: [], peers, requiredPeers: [...requiredPeers] }, packed);

it("accepts peers that every program needs, and optional ones that one entry needs, also by another package", () => {
  expect(peersOf(soundPeers)).toEqual([]);
});

it("lets a peer that an entry loads only by a call be required or optional", () => {
  expect(peersOf(soundPeers, ["@scope/common", "native"])).toEqual([]);
});

it.each([
  [
    "a package that is not named",
    { ...soundPeers },
    "effect",
    ["ours does not name effect, which ./start needs"],
  ],
  [
    "a peer that nobody needs",
    { ...soundPeers, more: "1" },
    "",
    ["ours has the peer more, which no entry needs"],
  ],
])("refuses %s", (_, peers, without, faults) => {
  const given = Object.fromEntries(Object.entries(peers).filter(([name]) => name !== without));
  expect(peersOf(given)).toEqual(faults);
});

it("refuses a required peer of one entry alone, and an optional one of all programs", () => {
  expect(peersOf(soundPeers, ["effect"])).toEqual([
    "ours must have @scope/common as a required peer: ./start, ./worker needs it",
    "ours must have effect as an optional peer: ./start needs it",
  ]);
});
