import { failureConverterPath } from "@durable-payments/codec";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** What a workflow bundle was made of. Two bundles of the same fingerprint run alike. */
export interface Fingerprint {
  /** SHA-256 of the workflow sources. */
  readonly sources: string;
  /** Version of the Temporal SDK, with exactly which a bundle must be built and run. */
  readonly sdk: string;
}

/** Path of the module that exports the workflow definitions. */
export const definitionsPath = fileURLToPath(
  import.meta.resolve("@durable-payments/workflows/definitions"),
);

/**
 * The sources of the packages whose values the workflows use. The definitions stand in a folder of
 * theirs: all of a package's sources count.
 */
const sourceFolders = (): ReadonlyArray<string> =>
  [
    dirname(definitionsPath),
    fileURLToPath(import.meta.resolve("@durable-payments/protocol")),
    fileURLToPath(import.meta.resolve("@durable-payments/activities")),
    fileURLToPath(import.meta.resolve("@durable-payments/plugin/bundle-entry")),
    failureConverterPath,
  ].map((path) => dirname(path));

const sourceFiles = (folder: string): Array<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.c?[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

const sdkVersion = (): string => {
  const manifest: unknown = createRequire(import.meta.url)("@temporalio/worker/package.json");
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
};

/** The fingerprint that a bundle made now would have. */
export const currentFingerprint = (): Fingerprint => {
  const hash = createHash("sha256");
  for (const folder of sourceFolders()) {
    for (const file of sourceFiles(folder)) {
      hash.update(relative(folder, file)).update("\0").update(readFileSync(file)).update("\0");
    }
  }
  return { sources: hash.digest("hex"), sdk: sdkVersion() };
};
