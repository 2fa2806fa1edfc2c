// Plain JavaScript: it runs at every start, and the first TypeScript costs Node 40 ms.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const checkout = new URL("../../../", import.meta.url);

/** npm writes it last when it installs: it stands for all that is installed. */
const INSTALLED = "node_modules/.package-lock.json";

const ENTRIES = { starter: "apps/starter/src/cli.ts", worker: "apps/worker/src/main.ts" };

export const isBuiltApp = (name) => Object.hasOwn(ENTRIES, name);

export const entryOf = (app) => new URL(ENTRIES[app], checkout);

export const folderOf = (app) => new URL(`apps/${app}/dist/app/`, checkout);

export const manifestIn = (folder) => new URL("manifest.json", folder);

export const cacheIn = (folder) => new URL("compile-cache/", folder);

export const hashOf = (inputs) => {
  const hash = createHash("sha256");
  for (const input of [INSTALLED, ...inputs]) {
    hash.update(readFileSync(new URL(input, checkout))).update("\0");
  }
  return hash.digest("hex");
};

export const builtMain = (folder) => {
  try {
    const { hash, inputs } = JSON.parse(readFileSync(manifestIn(folder), "utf8"));
    return hashOf(inputs) === hash ? new URL("main.mjs", folder) : undefined;
  } catch {
    return undefined;
  }
};
