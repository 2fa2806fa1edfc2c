import { isRecord } from "@durable-payments/api-core/values";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkout } from "../processes/apps.ts";

/** What can be imported of a package. */
export interface Entry {
  /** As an import names it: `@durable-payments/protocol/account`. */
  readonly name: string;
  /** Its file of types in a build, as an absolute path. */
  readonly declarations: string;
  /** Its source, as an absolute path. */
  readonly source: string;
}

/** A package of this checkout that is published. */
export interface PublicPackage {
  readonly name: string;
  /** Its folder, as an absolute path. */
  readonly folder: string;
  readonly entries: ReadonlyArray<Entry>;
  /** What its user installs beside it, by range: `{"effect":"^4.1.0"}`. */
  readonly peers: Readonly<Record<string, string>>;
}

const textsOf = (value: unknown): Record<string, string> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, text]) =>
          typeof text === "string" ? [[key, text]] : [],
        ),
      )
    : {};

const entriesOf = (name: string, folder: string, exported: unknown): ReadonlyArray<Entry> =>
  Object.entries(isRecord(exported) ? exported : {}).flatMap(([entry, target]) => {
    // `package.json` is exported as it is, and has no types.
    const { "@durable-payments/source": source, types } = textsOf(target);
    if (source === undefined || types === undefined) return [];
    return [
      {
        name: name + entry.slice(1),
        declarations: join(folder, types),
        source: join(folder, source),
      },
    ];
  });

/** Read which packages of this checkout are published: all that are not private. */
export const publicPackages = (): ReadonlyArray<PublicPackage> =>
  globSync("{packages,apps}/*/package.json", { cwd: checkout })
    .toSorted()
    .flatMap((file) => {
      const path = join(checkout, file);
      const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
      if (!isRecord(manifest) || manifest["private"] === true) return [];
      const { exports, name, peerDependencies } = manifest;
      if (typeof name !== "string") throw new Error(`${file} has no name.`);
      const folder = dirname(path);
      const entries = entriesOf(name, folder, exports);
      return [{ name, folder, entries, peers: textsOf(peerDependencies) }];
    });
