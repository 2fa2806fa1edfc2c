import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { buildApp } from "@durable-payments/tools/build";
import { checkout } from "@durable-payments/tools/processes";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";

/** The files of the worker, built once, so that a restart costs little. */
export interface BuiltApps {
  /** Main file of the worker. */
  readonly worker: string;
  /** The workflow bundle of the worker: the workflows of the project, and `payTwice`. */
  readonly bundle: string;
  readonly remove: () => Promise<void>;
}

const sourceOf = (file: string) => new URL(`../worker/${file}`, import.meta.url);

const buildBundle = async (file: string): Promise<void> => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(sourceOf("pay-twice.ts")),
    plugins: [new PaymentsPlugin()],
    webpackConfigHook: (config) => ({
      ...config,
      mode: "production",
      devtool: "inline-nosources-source-map",
    }),
    logger: new DefaultLogger("WARN"),
  });
  writeFileSync(file, code);
};

/** Builds the worker from the current sources, into a folder of the checkout that Git ignores. */
export const buildApps = async (): Promise<BuiltApps> => {
  const parent = join(checkout, ".local");
  mkdirSync(parent, { recursive: true });
  // Within the checkout, where the built files find the installed packages.
  const folder = await mkdtemp(join(parent, "chaos-"));
  const worker = pathToFileURL(`${join(folder, "worker")}/`);
  const bundle = join(folder, "workflow-bundle.js");
  await Promise.all([buildApp("worker", worker, sourceOf("chaos-worker.ts")), buildBundle(bundle)]);
  return {
    worker: fileURLToPath(new URL("main.mjs", worker)),
    bundle,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
