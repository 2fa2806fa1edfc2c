import { payout } from "@durable-payments/tools/test-data/inputs";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleOf } from "../workflows/bundle.ts";

/** A file of the checkout. */
const fileOf = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** The arguments with which this Node runs a module of the checkout. */
export const argumentsOf = (path: string): ReadonlyArray<string> => [
  "--conditions=@durable-payments/source",
  fileOf(path),
];

const build = (): void => {
  const nx = fileOf("node_modules/nx/dist/bin/nx.js");
  const args = [nx, "run-many", "--target=build", "--projects=starter,worker"];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: fileOf("") });
  if (status !== 0) throw new Error(`the build failed: ${stdout.toString()}`);
};

/** What the starts need. */
export interface Prepared {
  /** The input of a payout. */
  readonly payoutFile: string;
  /** The bundle of the workflows on the bare SDK. */
  readonly bareBundle: string;
  /** Takes away what was made for the bench alone. */
  readonly remove: () => void;
}

const WORKER_BUNDLE = [
  "apps/worker/dist/workflow-bundle.js",
  "apps/worker/dist/workflow-bundle.json",
];

/** Builds what `npm run build` builds of starter and worker, and what both are compared with. */
export const prepare = async (): Promise<Prepared> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-start-"));
  const payoutFile = join(folder, "payout.json");
  writeFileSync(payoutFile, JSON.stringify({ beneficiary_id: "b-1", payout }));
  const bareBundle = join(folder, "bare.js");
  writeFileSync(bareBundle, (await bundleOf("bare")).code);
  const [code = "", manifest = ""] = WORKER_BUNDLE.map(fileOf);
  // A worker refuses a bundle of other sources: none is left behind where there was none.
  const isOurs = !existsSync(code);
  build();
  return {
    payoutFile,
    bareBundle,
    remove: () => {
      rmSync(folder, { recursive: true });
      if (isOurs) for (const file of [code, manifest]) rmSync(file, { force: true });
    },
  };
};
