import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of a test's own, with an empty Temporal profile in it. */
export interface TestFolder {
  readonly path: string;
  /** Keeps the profiles of whoever runs the tests out of the processes that get it. */
  readonly variables: { readonly TEMPORAL_CONFIG_FILE: string };
  readonly remove: () => void;
}

/** Make a folder of a test's own; remove it after the test. */
export const makeTestFolder = (): TestFolder => {
  const path = mkdtempSync(join(tmpdir(), "test-"));
  const configFile = join(path, "temporal.toml");
  writeFileSync(configFile, "[profile.default]\n");
  return {
    path,
    variables: { TEMPORAL_CONFIG_FILE: configFile },
    remove: () => rmSync(path, { recursive: true }),
  };
};
