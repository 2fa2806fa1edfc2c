// Plain JavaScript: it runs at every start, and the first TypeScript costs Node 40 ms.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const checkout = new URL("../../../../", import.meta.url);

/** npm writes it last when it installs: it stands for all that is installed. */
const INSTALLED = "node_modules/.package-lock.json";

export const builtFolder = new URL("../../dist/cli/", import.meta.url);

export const manifestIn = (folder) => new URL("manifest.json", folder);

export const hashOf = (inputs) => {
  const hash = createHash("sha256");
  for (const input of [INSTALLED, ...inputs]) {
    hash.update(readFileSync(new URL(input, checkout))).update("\0");
  }
  return hash.digest("hex");
};

export const builtCli = (folder = builtFolder) => {
  try {
    const { hash, inputs } = JSON.parse(readFileSync(manifestIn(folder), "utf8"));
    return hashOf(inputs) === hash ? new URL("cli.mjs", folder) : undefined;
  } catch {
    return undefined;
  }
};
