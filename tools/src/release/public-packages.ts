import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { checkout } from "../processes/apps.ts";
import type { BuiltPackage } from "./api-report.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | { readonly types?: string }>>;
}

/** The packages of this checkout that are published and can be imported. */
export const importablePackages = (): ReadonlyArray<BuiltPackage> =>
  globSync("{packages,apps}/*/package.json", { cwd: checkout })
    .toSorted()
    .map((file) => {
      const path = join(checkout, file);
      const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
      return { manifest, folder: dirname(path) };
    })
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ manifest, folder }) => ({
      name: manifest.name,
      folder,
      entries: entriesOf(manifest, folder),
    }))
    .filter(({ entries }) => entries.size > 0);

const entriesOf = ({ name, exports = {} }: Manifest, folder: string): Map<string, string> =>
  new Map(
    Object.entries(exports).flatMap(([entry, target]) =>
      typeof target === "string" || target.types === undefined
        ? []
        : [[`${name}${entry.slice(1)}`, resolve(folder, target.types)] as const],
    ),
  );
