import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { checkout } from "../processes.ts";

/** The folder of the client, which users install alone, and which the other package needs. */
export const CLIENT = "packages/api-core";

/** The folder of the package with everything else. */
export const PUBLISHED = "packages/durable-payments";

/** The fields of a package.json that are read. */
interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Reads the package.json of a folder, a path from the checkout. */
export const readManifest = (folder: string) => {
  // They are all of this repository, and npm has read them.
  const manifest = JSON.parse(
    readFileSync(join(checkout, folder, "package.json"), "utf8"),
  ) as PackageJson;
  const { dependencies = {}, exports = {}, name, peerDependencies = {}, version } = manifest;
  const meta = manifest.peerDependenciesMeta ?? {};
  const entries = Object.entries(exports).flatMap(([entry, target]) => {
    // `./package.json` is exported as it is.
    if (typeof target === "string") return [];
    const path = (condition: string) => posix.join(folder, target[condition] ?? "");
    return [
      {
        /** As an import names it: `durable-payments/workflows`. */
        name: posix.join(name, entry),
        /** Its compiled module and its declarations, as paths from the checkout. */
        module: path("default"),
        declarations: path("types"),
      },
    ];
  });
  return {
    name,
    version,
    /** From the checkout: `packages/ledger`. */
    folder,
    isPrivate: manifest.private === true,
    entries,
    /** The packages that it installs, and its peers by their ranges. */
    dependencies: Object.keys(dependencies),
    peers: peerDependencies,
    /** The peers that npm installs for everybody. */
    requiredPeers: Object.keys(peerDependencies).filter((peer) => meta[peer]?.optional !== true),
  };
};
