import { BUNDLES, writeBundle } from "./prebuilt-bundle.ts";

const [folder] = process.argv.slice(2);
for (const bundle of BUNDLES) {
  process.stderr.write(`Workflow bundle: ${await writeBundle(bundle, folder)}\n`);
}
