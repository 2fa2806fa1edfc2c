/** Writes the workflow bundle of the chaos run's workers: node build-bundle.ts FILE */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";

const [, , file = "workflow-bundle.js"] = process.argv;
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL("pay-twice.ts", import.meta.url)),
  plugins: [new PaymentsPlugin()],
  webpackConfigHook: (config) => ({
    ...config,
    mode: "production",
    devtool: "inline-nosources-source-map",
  }),
  logger: new DefaultLogger("WARN"),
});
writeFileSync(file, code);
