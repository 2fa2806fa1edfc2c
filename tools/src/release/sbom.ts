/**
 * The software bill of materials of a release, as CycloneDX: what is copied into the published packages and what is
 * installed with them, each by version, hash and licence. `npm sbom --omit=dev` would leave out peers, such as Temporal's
 * SDK and Effect.
 */
import { isRecord } from "@durable-payments/api-core/values";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkout } from "../processes/apps.ts";
import { type LockedPackage, readLockFile } from "./lock-file.ts";

/** A part of a release, as CycloneDX has it. */
interface Component {
  readonly type: "library";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>;
  readonly licenses?: ReadonlyArray<{ readonly expression: string }>;
}

/** A software bill of materials, as CycloneDX has it. */
export interface BillOfMaterials {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.5";
  readonly version: 1;
  readonly metadata: { readonly component: Omit<Component, "hashes"> };
  readonly components: ReadonlyArray<Component>;
  readonly dependencies: ReadonlyArray<{
    readonly ref: string;
    readonly dependsOn: ReadonlyArray<string>;
  }>;
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};

const purlOf = ({ name, version }: Pick<LockedPackage, "name" | "version">): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

const hashesOf = (integrity: string) =>
  integrity.split(" ").flatMap((hash) => {
    const [algorithm = "", base64 = ""] = hash.split(/-(.*)/s);
    const alg = ALGORITHMS[algorithm];
    return alg === undefined
      ? []
      : [{ alg, content: Buffer.from(base64, "base64").toString("hex") }];
  });

const componentOf = (locked: LockedPackage): Component => ({
  type: "library",
  "bom-ref": locked.path,
  name: locked.name,
  version: locked.version,
  purl: purlOf(locked),
  ...(locked.integrity !== undefined && { hashes: hashesOf(locked.integrity) }),
  ...(locked.licence !== undefined && {
    // An id is an expression, too.
    licenses: [
      { expression: locked.licence.replaceAll(/ (and|or) /g, (word) => word.toUpperCase()) },
    ],
  }),
});

/**
 * List what packages are installed with.
 *
 * @param from paths of the packages in the lock file
 * @returns them and all that they use, by path
 */
export const installedWith = (
  from: ReadonlyArray<string>,
  locked: ReadonlyMap<string, LockedPackage>,
): ReadonlyArray<LockedPackage> => {
  const found = new Map<string, LockedPackage>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const next = locked.get(path);
    if (next === undefined || found.has(path)) continue;
    found.set(path, next);
    waiting.push(...next.uses);
  }
  return [...found.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
};

/** The paths of the packages that are published, and of those that are copied into them. */
export const publishedPaths = (): ReadonlyArray<string> =>
  globSync("{packages,apps}/*/package.json", { cwd: checkout }).map(dirname).toSorted();

/**
 * Make the software bill of materials of the published packages. It is the same for the same lock file: it has neither
 * a time nor a random number.
 *
 * @returns it as CycloneDX 1.5
 */
export const billOfMaterials = (): BillOfMaterials => {
  const manifest: unknown = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const { name, version } = isRecord(manifest) ? manifest : {};
  const project = { name: String(name), version: String(version) };
  const published = publishedPaths();
  const parts = installedWith(published, readLockFile());
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: { type: "library", "bom-ref": project.name, ...project, purl: purlOf(project) },
    },
    components: parts.map(componentOf),
    dependencies: [
      { ref: project.name, dependsOn: published },
      ...parts.map(({ path, uses }) => ({ ref: path, dependsOn: [...new Set(uses)] })),
    ],
  };
};

if (import.meta.main) process.stdout.write(`${JSON.stringify(billOfMaterials(), null, 2)}\n`);
