/** Writes the workflow bundle of the chaos run's workers: node build-bundle.ts FILE */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildBundle } from "@durable-payments/worker/build-bundle";

const [, , file = "workflow-bundle.js"] = process.argv;
const { code } = await buildBundle({
  production: true,
  workflowsPath: fileURLToPath(new URL("definitions.ts", import.meta.url)),
});
writeFileSync(file, code);
