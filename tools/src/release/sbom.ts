/**
 * Prints the software bill of materials of a release as CycloneDX: what the published packages are made of and installed
 * with, each by version, hash and licence. `npm sbom --omit=dev` leaves out peers, such as Temporal's SDK and Effect.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../processes.ts";
import { type LockedPackage, readLockFile, shippedPackages } from "./lock-file.ts";

const ALGORITHMS: Readonly<Record<string, string>> = { sha256: "SHA-256", sha512: "SHA-512" };

const hashesOf = (integrity: string) =>
  integrity.split(" ").flatMap((hash) => {
    const [algorithm = "", base64 = ""] = hash.split(/-(.*)/s);
    const alg = ALGORITHMS[algorithm];
    return alg === undefined
      ? []
      : [{ alg, content: Buffer.from(base64, "base64").toString("hex") }];
  });

const componentOf = (part: Pick<LockedPackage, "name" | "version"> & Partial<LockedPackage>) => ({
  type: "library",
  "bom-ref": part.path ?? part.name,
  name: part.name,
  version: part.version,
  purl: `pkg:npm/${part.name.replace("@", "%40")}@${part.version}`,
  ...(part.integrity !== undefined && { hashes: hashesOf(part.integrity) }),
  ...(part.licence !== undefined && {
    // An id is an expression, too.
    licenses: [
      { expression: part.licence.replaceAll(/ (and|or) /g, (word) => word.toUpperCase()) },
    ],
  }),
});

/** Returns the bill of materials, which has neither a time nor a random number: the same for the same lock file. */
export const billOfMaterials = () => {
  const manifest = readFileSync(join(checkout, "packages/durable-payments/package.json"), "utf8");
  const product = componentOf(
    JSON.parse(manifest) as { readonly name: string; readonly version: string },
  );
  const parts = shippedPackages(readLockFile());
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: product },
    components: parts.map(componentOf),
    dependencies: [
      {
        ref: product["bom-ref"],
        dependsOn: parts.flatMap(({ integrity, path }) => (integrity === undefined ? [path] : [])),
      },
      ...parts.map(({ path, uses }) => ({ ref: path, dependsOn: [...new Set(uses)] })),
    ],
  };
};

if (import.meta.main) process.stdout.write(`${JSON.stringify(billOfMaterials(), null, 2)}\n`);
