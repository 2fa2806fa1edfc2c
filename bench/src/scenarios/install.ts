import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPackages, packPackages } from "@durable-payments/tools/packages";
import { rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";

const CLIENT = ["@durable-payments/api-core"];
const WORKER = [
  ...CLIENT,
  "@durable-payments/activities",
  "@durable-payments/journal",
  "@durable-payments/plugin",
  "@durable-payments/protocol",
  "@durable-payments/workflows",
];
/** What a worker is written with on the bare SDK. */
const BARE_WORKER = { "@temporalio/worker": "1.24.0", "@temporalio/workflow": "1.24.0" };

/** What npm puts into an empty folder: for the client against stripe, for a worker against the bare SDK. */
export const scenario: Scenario = async ({ progress, signal }) => {
  const folder = await mkdtemp(join(tmpdir(), "bench-install-"));
  let installs = 0;
  const install = async (dependencies: Readonly<Record<string, string>>) => {
    signal.throwIfAborted();
    installs += 1;
    progress(`installation ${installs} of 4`);
    const empty = join(folder, String(installs));
    await mkdir(empty);
    const { megabytes, packages } = await installPackages(empty, dependencies);
    await rm(empty, { recursive: true });
    return { megabytes, packages: packages.length };
  };
  try {
    progress("packing");
    const tarballs = await packPackages(WORKER, folder);
    const ofPacked = (names: ReadonlyArray<string>) =>
      Object.fromEntries(names.map((name) => [name, `file:${tarballs.get(name)}`]));
    const client = await install(ofPacked(CLIENT));
    const stripe = await install({ stripe: "23.1.0" });
    const worker = await install({ ...ofPacked(WORKER), ...BARE_WORKER });
    const bare = await install(BARE_WORKER);
    const row = (name: string, unit: string, ours: number, baseline: number) =>
      rowOf({ name: `install: ${name}`, unit, ours: [ours], baseline: [baseline] });
    return [
      row("client, against stripe", "MB", client.megabytes, stripe.megabytes),
      row("client, against stripe", "packages", client.packages, stripe.packages),
      row("worker, against the bare SDK", "MB", worker.megabytes, bare.megabytes),
      row("worker, against the bare SDK", "packages", worker.packages, bare.packages),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
