import { BUNDLES, builtFolder, writeBundle } from "./workflow-bundle.ts";

for (const bundle of BUNDLES) {
  process.stderr.write(`Workflow bundle: ${await writeBundle(bundle, builtFolder())}\n`);
}
