import { BUNDLES, builtFolder, writeBundle } from "./prebuilt-bundle.ts";

for (const bundle of BUNDLES) {
  process.stderr.write(`Workflow bundle: ${await writeBundle(bundle, builtFolder())}\n`);
}
