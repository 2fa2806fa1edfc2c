import { prebuilt, prebuiltEncrypted, writeBundle } from "./bundle/prebuilt-bundle.ts";

for (const files of [prebuilt, prebuiltEncrypted]) {
  await writeBundle(files);
  process.stderr.write(`Workflow bundle: ${files.code}\n`);
}
