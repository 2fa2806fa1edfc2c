import { isRecord } from "@durable-payments/api-core/values";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../processes/apps.ts";

/** A package of this checkout that is published. */
export interface PublicPackage {
  readonly name: string;
  /** What can be imported of it: `@durable-payments/protocol/account`. */
  readonly entries: ReadonlyArray<string>;
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

/** Read which packages of this checkout are published: all that are not private. */
export const publicPackages = (): ReadonlyArray<PublicPackage> =>
  globSync("{packages,apps}/*/package.json", { cwd: checkout })
    .toSorted()
    .flatMap((file) => {
      const manifest: unknown = JSON.parse(readFileSync(join(checkout, file), "utf8"));
      if (!isRecord(manifest) || manifest["private"] === true) return [];
      const { exports, name, peerDependencies } = manifest;
      if (typeof name !== "string") throw new Error(`${file} has no name.`);
      const entries = Object.keys(isRecord(exports) ? exports : {})
        .filter((entry) => !entry.endsWith(".json"))
        .map((entry) => name + entry.slice(1));
      return [{ name, entries, peers: textsOf(peerDependencies) }];
    });
