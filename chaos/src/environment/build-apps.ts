import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildApp } from "@durable-payments/tools/build";
import { checkout } from "@durable-payments/tools/processes";

/** What is started again and again, built once, so that a restart costs little. */
export interface BuiltApps {
  /** Main file of the worker. */
  readonly worker: string;
  /** The workflow bundle of the worker: the workflows of the project, and `payTwice`. */
  readonly bundle: string;
  readonly remove: () => Promise<void>;
}

const sourceOf = (file: string) => new URL(`../worker/${file}`, import.meta.url);

/**
 * Builds the worker from the current sources, into a folder of the checkout that Git ignores.
 *
 * @param encrypt whether the workflows encode what they fail with.
 */
export const buildApps = async (encrypt: boolean): Promise<BuiltApps> => {
  const parent = join(checkout, ".local");
  mkdirSync(parent, { recursive: true });
  // Within the checkout, where the built files find what is installed.
  const folder = await mkdtemp(join(parent, "chaos-"));
  const worker = pathToFileURL(`${join(folder, "worker")}/`);
  const bundle = join(folder, "workflow-bundle.js");
  await Promise.all([
    buildApp("worker", worker, sourceOf("chaos-worker.ts")),
    promisify(execFile)(
      process.execPath,
      ["--conditions=@durable-payments/source", fileURLToPath(sourceOf("build-bundle.ts")), bundle],
      // No key is read for it.
      { env: { ...process.env, ...(encrypt && { PAYMENTS_KEYRING: folder }) } },
    ),
  ]);
  return {
    worker: fileURLToPath(new URL("main.mjs", worker)),
    bundle,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
