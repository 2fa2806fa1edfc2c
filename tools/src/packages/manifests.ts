import { isRecord } from "@durable-payments/api-core/values";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { checkout } from "../processes.ts";

/** The folder of the package that users install. */
export const PUBLISHED = "packages/durable-payments";

/** An entry of a package. */
export interface Entry {
  /** As an import names it: `durable-payments/workflows`. */
  readonly name: string;
  /** Its compiled module, its declarations and its source, as paths from the checkout. */
  readonly module: string;
  readonly declarations: string;
  readonly source: string;
}

/** The package.json of a package of this repository. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  /** From the checkout: `packages/ledger`. */
  readonly folder: string;
  readonly isPrivate: boolean;
  readonly entries: ReadonlyArray<Entry>;
  /** The packages that it installs, and its peers by their ranges. */
  readonly dependencies: ReadonlyArray<string>;
  readonly peers: Readonly<Record<string, string>>;
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).flatMap(([key, text]) =>
      typeof text === "string" ? [[key, text]] : [],
    ),
  );

/** Reads the package.json of a folder, a path from the checkout. */
export const readManifest = (folder: string): Manifest => {
  const read: unknown = JSON.parse(readFileSync(join(checkout, folder, "package.json"), "utf8"));
  const {
    dependencies,
    exports,
    peerDependencies,
    private: isPrivate,
    ...rest
  } = isRecord(read) ? read : {};
  const { name = "", version = "" } = textsOf(rest);
  const entries = Object.entries(isRecord(exports) ? exports : {}).flatMap(([entry, target]) => {
    const { "@durable-payments/source": source, default: module, types } = textsOf(target);
    // `./package.json` is exported as it is.
    if (source === undefined || module === undefined || types === undefined) return [];
    const path = (file: string) => posix.join(folder, file);
    return [
      {
        name: posix.join(name, entry),
        module: path(module),
        declarations: path(types),
        source: path(source),
      },
    ];
  });
  return {
    name,
    version,
    folder,
    isPrivate: isPrivate === true,
    entries,
    dependencies: Object.keys(textsOf(dependencies)),
    peers: textsOf(peerDependencies),
  };
};
