import { deepEqual } from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import {
  findNode,
  type Installed,
  installPackages,
  type NodeBinary,
  type PublicPackage,
  type Tarballs,
} from "@durable-payments/tools/packages";
import type { Checks } from "./checks.ts";
import { createOutside } from "./create-outside.ts";
import { dependenciesOf, type Peers } from "./dependencies.ts";
import { payOutside } from "./pay-outside.ts";
import { writeProject } from "./project.ts";
import { runTests } from "./run-tests.ts";
import { type User, userIn } from "./user.ts";

/** One way to use the packages. */
export interface Leg {
  /** Version of Node: `24`, or `22.19` for the newest patch of that. */
  readonly node: string;
  readonly peers: Peers;
  /** Range of TypeScript. */
  readonly typescript: string;
  /** Whether it does everything; otherwise it imports every entry, and makes one payment. */
  readonly isWhole: boolean;
}

/** What every leg uses. */
export interface Given {
  /** A folder outside of the checkout, in which each leg makes its own. */
  readonly folder: string;
  readonly packages: ReadonlyArray<PublicPackage>;
  readonly tarballs: Tarballs;
  /** Path of Temporal's server that skips waiting times. */
  readonly testServer: string;
  /** Path of Temporal's command line, which has the real one. */
  readonly temporalCli: string;
}

/** Packages that share what they keep: a second copy of one would be another library. */
const ONCE =
  /(?:^|\/)node_modules\/(effect|@effect\/[^/]+|@temporalio\/[^/]+|@durable-payments\/[^/]+)$/;

const copiesBeside = ({ packages }: Installed): ReadonlyArray<string> => {
  const places = Map.groupBy(packages, ({ path }) => ONCE.exec(path)?.[1]);
  return [...places].flatMap(([name, copies]) =>
    name === undefined || copies.length === 1
      ? []
      : copies.map(({ path, version }) => `${path} ${version}`),
  );
};

/** Packages that are installed to be used in one way. */
export interface InstalledLeg {
  readonly leg: Leg;
  readonly folder: string;
  readonly node: NodeBinary;
  readonly user: User;
}

/** Installs the packages in a folder of their own; undefined where they cannot be. */
export const installLeg = async (
  leg: Leg,
  given: Given,
  { check }: Pick<Checks, "check">,
): Promise<InstalledLeg | undefined> => {
  const node = await check(`Node ${leg.node} is found`, async () => await findNode(leg.node));
  if (node === undefined) return undefined;
  const folder = await mkdtemp(join(given.folder, `node-${leg.node}-`));
  const user = userIn(folder, node, {
    TEMPORAL_TEST_SERVER_PATH: given.testServer,
    TEMPORAL_CLI_PATH: given.temporalCli,
  });

  const installed = await check(`they install beside the ${leg.peers} versions`, async () => {
    // The declarations of Temporal's SDK need those of `ms`, which it does not bring.
    const own = { typescript: leg.typescript, "@types/node": "^22.0.0", "@types/ms": "*" };
    const dependencies = { ...dependenciesOf(given.packages, given.tarballs, leg.peers), ...own };
    return await installPackages(folder, dependencies, { binaries: node.folder });
  });
  if (installed === undefined) return undefined;
  const versionOf = (name: string) =>
    installed.packages.find(({ path }) => path === `node_modules/${name}`)?.version;
  await check(
    `Node ${node.version}, effect ${versionOf("effect")}, @temporalio ${versionOf("@temporalio/worker")}, ` +
      `TypeScript ${versionOf("typescript")}: ${installed.packages.length} packages, ${installed.megabytes} MB, each once`,
    async () => {
      deepEqual(copiesBeside(installed), []);
      await user.run("npm", ["ls", "--all"]);
    },
  );

  return { leg, folder, node, user };
};

/** Uses installed packages with a Temporal server of its own at `temporal`. */
export const useLeg = async (
  { folder, leg, node, user }: InstalledLeg,
  given: Given & { readonly temporal: string },
  checks: Checks,
): Promise<void> => {
  const { check } = checks;
  await writeProject(folder, given.packages);
  const compiled = await check(
    `a project compiles with NodeNext${leg.isWhole ? ", all declarations checked" : ""}`,
    async () => {
      await user.run("tsc", ["--skipLibCheck", String(!leg.isWhole)]);
      return folder;
    },
  );
  if (compiled === undefined) return;
  await check("every entry is imported", async () => await user.run("node", ["dist/entries.js"]));
  await check("every entry is required", async () => await user.run("node", ["dist/required.cjs"]));
  await payOutside(
    {
      folder,
      node,
      temporal: given.temporal,
      temporalCli: given.temporalCli,
      isWhole: leg.isWhole,
    },
    { check },
  );
  if (!leg.isWhole) return;
  await check("it compiles with Bundler resolution", async () => {
    await user.run("tsc", ["--project", "tsconfig.bundler.json"]);
  });
  const tests = await check("the tests that the docs show pass", async () => await runTests(user));
  for (const [title, seconds] of tests ?? []) checks.note(`${seconds.toFixed(1)} s  ${title}`);
  await createOutside(user, { ...given, folder, node }, checks);
};
