import { prebuilt, writeBundle } from "./bundle/prebuilt-bundle.ts";

await writeBundle();
process.stderr.write(`Workflow bundle: ${prebuilt.code}\n`);
