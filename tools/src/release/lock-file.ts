import { isRecord } from "@durable-payments/api-core/values";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../processes/apps.ts";

/** A package of package-lock.json. */
export interface LockedPackage {
  /** Where it is installed, from the checkout: `node_modules/effect`; of a package of this checkout its folder. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** Its hashes as npm writes them: `sha512-…`; undefined for a package of this checkout. */
  readonly integrity: string | undefined;
  /** As its package.json says it, mostly an SPDX id. */
  readonly licence: string | undefined;
  /** The packages that it finds when it is used, by their paths. */
  readonly uses: ReadonlyArray<string>;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

const namesIn = (value: unknown): ReadonlyArray<string> =>
  isRecord(value) ? Object.keys(value) : [];

/** What a package wants beside it. What it can do without is brought by who wants it, or not. */
const peersOf = (entry: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const meta = isRecord(entry["peerDependenciesMeta"]) ? entry["peerDependenciesMeta"] : {};
  return namesIn(entry["peerDependencies"]).filter((name) => {
    const peer = meta[name];
    return !isRecord(peer) || peer["optional"] !== true;
  });
};

/** Where a package finds another one: in its own node_modules, or in one of a folder above it. */
const foundFrom = (
  path: string,
  name: string,
  packages: Readonly<Record<string, unknown>>,
): string | undefined => {
  for (let folder = path; ; folder = folder.split("/").slice(0, -1).join("/")) {
    const found = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    const entry = packages[found];
    // One of this checkout is a link to its folder.
    if (isRecord(entry)) return entry["link"] === true ? textOf(entry["resolved"]) : found;
    if (folder === "") return undefined;
  }
};

/**
 * Read what package-lock.json pins.
 *
 * @param text of the lock file; by default that of this checkout
 * @returns each package by its path
 */
export const readLockFile = (
  text: string = readFileSync(join(checkout, "package-lock.json"), "utf8"),
): ReadonlyMap<string, LockedPackage> => {
  const lock: unknown = JSON.parse(text);
  const packages = isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {};
  return new Map(
    Object.entries(packages).flatMap(([path, entry]) => {
      if (!isRecord(entry) || entry["link"] === true || path === "") return [];
      const wanted = [
        ...namesIn(entry["dependencies"]),
        ...namesIn(entry["optionalDependencies"]),
        ...peersOf(entry),
      ];
      const locked: LockedPackage = {
        path,
        name: textOf(entry["name"]) ?? path.split("node_modules/").at(-1) ?? path,
        version: textOf(entry["version"]) ?? "0.0.0",
        integrity: textOf(entry["integrity"]),
        licence: textOf(entry["license"]),
        uses: wanted.flatMap((name) => foundFrom(path, name, packages) ?? []),
      };
      return [[path, locked] as const];
    }),
  );
};
