import { isRecord } from "@durable-payments/api-core/values";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkout } from "../processes.ts";

/** A package of package-lock.json. */
export interface LockedPackage {
  /** Where it is installed, from the checkout: `node_modules/effect`; its folder if it is one of this repository. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** Its hashes as npm writes them: `sha512-…`; undefined for a package of this repository. */
  readonly integrity: string | undefined;
  /** As its package.json says it, mostly an SPDX id. */
  readonly licence: string | undefined;
  /** The paths of the packages that it uses. */
  readonly uses: ReadonlyArray<string>;
}

type Entries = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

const recordOf = (value: unknown): Entries => (isRecord(value) ? value : {});

/** What a package needs; an optional peer is brought by who wants it. */
const needsOf = (entry: Entries): ReadonlyArray<string> => {
  const meta = recordOf(entry["peerDependenciesMeta"]);
  return [
    ...Object.keys(recordOf(entry["dependencies"])),
    ...Object.keys(recordOf(entry["optionalDependencies"])),
    ...Object.keys(recordOf(entry["peerDependencies"])).filter(
      (name) => recordOf(meta[name])["optional"] !== true,
    ),
  ];
};

/** Returns where a package finds another one: in its own node_modules, or in those of a folder above it. */
const foundFrom = (path: string, name: string, packages: Entries): string | undefined => {
  for (let folder = path; ; folder = folder.split("/").slice(0, -1).join("/")) {
    const found = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    const entry = packages[found];
    // One of this repository is a link to its folder.
    if (isRecord(entry)) return entry["link"] === true ? textOf(entry["resolved"]) : found;
    if (folder === "") return undefined;
  }
};

/** Returns each package that package-lock.json pins, by its path. */
export const readLockFile = (): ReadonlyMap<string, LockedPackage> => {
  const lock: unknown = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8"));
  const packages = recordOf(recordOf(lock)["packages"]);
  return new Map(
    Object.entries(packages).flatMap(([path, entry]) => {
      if (!isRecord(entry) || entry["link"] === true || path === "") return [];
      const locked: LockedPackage = {
        path,
        name: textOf(entry["name"]) ?? path.split("node_modules/").at(-1) ?? path,
        version: textOf(entry["version"]) ?? "0.0.0",
        integrity: textOf(entry["integrity"]),
        licence: textOf(entry["license"]),
        uses: needsOf(entry).flatMap((name) => foundFrom(path, name, packages) ?? []),
      };
      return [[path, locked] as const];
    }),
  );
};

/** Returns what the published packages are made of and installed with: those of this repository, and all that they use. */
export const shippedPackages = (
  locked: ReadonlyMap<string, LockedPackage>,
): ReadonlyArray<LockedPackage> => {
  const found = new Map<string, LockedPackage>();
  const waiting = globSync("{packages,apps}/*/package.json", { cwd: checkout }).map(dirname);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const next = locked.get(path);
    if (next === undefined || found.has(path)) continue;
    found.set(path, next);
    waiting.push(...next.uses);
  }
  return [...found.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
};
