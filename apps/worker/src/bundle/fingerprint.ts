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

/** The files of another package whose values the workflows use. */
const sharedPaths = [
  import.meta.resolve("@durable-payments/activities/search-attributes"),
  import.meta.resolve("@durable-payments/activities/task-queues"),
].map((url) => fileURLToPath(url));

/** Path of the module that exports the workflow definitions. */
export const definitionsPath = fileURLToPath(
  import.meta.resolve("@durable-payments/workflows/definitions"),
);

const sourceFiles = (folder: string): Array<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
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
  // The definitions stand in a folder of the package's sources: all of these count.
  const root = dirname(dirname(definitionsPath));
  const hash = createHash("sha256");
  for (const file of [...sourceFiles(root), ...sharedPaths]) {
    hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  }
  return { sources: hash.digest("hex"), sdk: sdkVersion() };
};
