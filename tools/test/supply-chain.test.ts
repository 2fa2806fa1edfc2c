// What is installed, and what workflows of GitHub run, is pinned by its hash, on every platform, from no particular
// registry, and has a licence under which it may be used here.
//
// A registry may serve the newest version of a tool without its packages for other platforms. npm then leaves those
// out of the lock file without a word, and `npm ci` fails elsewhere: take a version that is served whole.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

const read = (file: string): string => readFileSync(join(checkout, file), "utf8");

/** A commit and the tag that it was then; an image by its digest; or an action of this repository. */
const PINNED =
  /^(?:[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d\S*|docker:\/\/\S+@sha256:[0-9a-f]{64}|\.\/\S+)$/;

/** A tag can be moved to other code: what a workflow uses without a digest. */
const unpinnedIn = (workflow: string): ReadonlyArray<string> =>
  [...workflow.matchAll(/^\s*(?:- )?(?:uses|image):\s*(.+?)\s*$/gm)]
    .map(([, used = ""]) => used)
    .filter((used) => !PINNED.test(used));

describe("the actions of workflows", () => {
  it("are all pinned", () => {
    const files = globSync(".github/workflows/*", { cwd: checkout });
    expect(files).not.toEqual([]);
    expect(files.flatMap((file) => unpinnedIn(read(file)))).toEqual([]);
  });

  it.each([
    "actions/checkout@v7",
    "actions/checkout@main",
    "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
    "docker://alpine:3",
  ])("%s is refused", (action) => {
    expect(unpinnedIn(`jobs:\n  check:\n    steps:\n      - uses: ${action}\n`)).toEqual([action]);
  });
});

interface Locked {
  readonly link?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, Locked>>;

/** Whether a package finds another one in its own node_modules, or in one of a folder above it. */
const finds = (packages: Packages, path: string, name: string): boolean => {
  const folders = path.split("/");
  const above = folders.map((_, depth) => folders.slice(0, folders.length - depth).join("/"));
  return [...above.map((folder) => `${folder}/`), ""].some(
    (folder) => packages[`${folder}node_modules/${name}`] !== undefined,
  );
};

/** SPDX ids of licences that require only their text and the names of the authors. */
const PERMISSIVE = new Set(
  "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT Python-2.0 Unlicense".split(
    " ",
  ),
);
/** Read by a person: tools of development that nobody ships, and a package whose LICENSE is the text of the Unlicense. */
const READ_BY_HAND =
  /\/(?:lightningcss(?:-[\w-]+)?: MPL-2\.0|caniuse-lite: CC-BY-4\.0|unionfs: undefined)$/;

/** Whether an SPDX expression offers a choice that is allowed. */
const isAllowed = (expression = ""): boolean =>
  expression
    .replaceAll(/[()]/g, "")
    .split(/ or /i)
    .some((choice) => choice.split(/ and /i).every((id) => PERMISSIVE.has(id.trim())));

const faultsOf = (packages: Packages): ReadonlyArray<string> =>
  Object.entries(packages).flatMap(([path, locked]) => {
    const { dependencies, integrity, license, link, optionalDependencies, resolved } = locked;
    if (link === true) return [];
    const isInstalled = path.includes("node_modules/");
    const isReadByHand = READ_BY_HAND.test(`${path}: ${license}`);
    const faults: ReadonlyArray<readonly [boolean, string]> = [
      [integrity?.startsWith("sha512-") !== true, "has no SHA-512"],
      [
        !isAllowed(license) && !isReadByHand,
        `has the licence ${license}: read it, and note it in supply-chain.test.ts`,
      ],
      [resolved !== undefined, `names a registry: ${resolved}`],
    ];
    return [
      ...faults.flatMap(([isFault, fault]) => (isInstalled && isFault ? [`${path} ${fault}`] : [])),
      ...Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !finds(packages, path, name))
        .map((name) => `${name} is missing, which ${path || "the workspace"} depends on`),
    ];
  });

describe("the lock file", () => {
  const sound = { integrity: `sha512-${"A".repeat(86)}==`, license: "MIT" };
  const faultsOfOne = (locked: Locked) => faultsOf({ "": {}, "node_modules/one": locked });

  it("is whole, pinned and permissive", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as { readonly packages: Packages };
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(faultsOf(packages)).toEqual([]);
  });

  it.each(["MIT", "(MIT OR GPL-3.0-only)", "MIT or MPL-2.0", "Apache-2.0 AND MIT"])(
    "may have packages with the licence %s",
    (license) => expect(faultsOfOne({ ...sound, license })).toEqual([]),
  );

  it.each(["GPL-3.0-only", "MIT AND GPL-3.0-only", "SEE LICENSE IN LICENSE.md", "MPL-2.0", ""])(
    "may have none with the licence %o",
    (license) => {
      const [fault] = faultsOfOne({ ...sound, license });
      expect(fault).toContain("node_modules/one has the licence");
    },
  );

  it.each([{ license: "MIT" }, { ...sound, integrity: "sha1-AAAA" }])(
    "has a SHA-512 of every package: %j is refused",
    (weak) => expect(faultsOfOne(weak)).toEqual(["node_modules/one has no SHA-512"]),
  );

  it("names no registry, and lacks no package of another platform", () => {
    const resolved = "https://registry.example/one.tgz";
    expect(faultsOfOne({ ...sound, resolved, optionalDependencies: { "one-linux": "1" } })).toEqual(
      [
        `node_modules/one names a registry: ${resolved}`,
        "one-linux is missing, which node_modules/one depends on",
      ],
    );
  });
});

it("npm patches nothing when it installs", () => {
  const manifests = globSync("{,{packages,apps}/*/,{tools,bench,chaos,site}/}package.json", {
    cwd: checkout,
  });
  expect(manifests.length).toBeGreaterThan(10);
  for (const manifest of manifests) {
    const { scripts = {} } = JSON.parse(readFileSync(join(checkout, manifest), "utf8")) as {
      scripts?: Record<string, string>;
    };
    expect(
      Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name)),
    ).toEqual([]);
  }
});
