import { bundleWorkflowCode } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { PaymentsPlugin } from "../../src/index.ts";
import { quiet } from "./quiet.ts";

/** Path of the workflows of the docs. */
export const workflowsPath = fileURLToPath(new URL("../examples/workflows.ts", import.meta.url));

/** Bundles the workflows of the docs ahead. */
export const bundleAhead = () =>
  bundleWorkflowCode({ workflowsPath, plugins: [new PaymentsPlugin()], logger: quiet });
