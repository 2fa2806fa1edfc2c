import { deepEqual } from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import {
  findNode,
  type Installed,
  installPackages,
  type PublicPackage,
  type Tarballs,
} from "@durable-payments/tools/packages";
import type { Checks } from "./checks.ts";
import { createOutside } from "./create-outside.ts";
import { dependenciesOf, type Peers } from "./dependencies.ts";
import { payOutside } from "./pay-outside.ts";
import { writeProject } from "./project.ts";
import { runTests } from "./run-tests.ts";
import { userIn } from "./user.ts";

/** One way to use the packages. */
export interface Leg {
  /** Version of Node: `24`, or `22.19` for the newest patch of that. */
  readonly node: string;
  readonly peers: Peers;
  /** Range of TypeScript. */
  readonly typescript: string;
  /** Whether it checks the declarations of all packages, and not of the project alone. */
  readonly checksDeclarations: boolean;
}

/** What every leg uses. */
export interface Given {
  /** A folder outside of the checkout, in which each leg makes its own. */
  readonly folder: string;
  readonly packages: ReadonlyArray<PublicPackage>;
  readonly tarballs: Tarballs;
  /** Address of a Temporal server that knows the search attributes. */
  readonly temporal: string;
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

/** Use the packages in one way. */
export const runLeg = async (leg: Leg, given: Given, checks: Checks): Promise<void> => {
  const { check } = checks;
  const node = await check(`Node ${leg.node} is found`, async () => await findNode(leg.node));
  if (node === undefined) return;
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
  if (installed === undefined) return;
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

  await writeProject(folder, given.packages);
  const compiled = await check(
    `a project compiles with NodeNext${leg.checksDeclarations ? ", all declarations checked" : ""}`,
    async () => {
      await user.run("tsc", ["--skipLibCheck", String(!leg.checksDeclarations)]);
      return folder;
    },
  );
  await check("it compiles with Bundler resolution", async () => {
    await user.run("tsc", ["--project", "tsconfig.bundler.json"]);
  });
  if (compiled === undefined) return;
  await check("every entry is imported", async () => await user.run("node", ["dist/entries.js"]));
  await check("every entry is required", async () => await user.run("node", ["dist/required.cjs"]));
  const tests = await check("the tests that the docs show pass", async () => await runTests(user));
  for (const [title, seconds] of tests ?? []) checks.note(`${seconds.toFixed(1)} s  ${title}`);
  await payOutside({ folder, node, temporal: given.temporal }, { check });
  if (leg.peers === "newest") await createOutside(user, { ...given, node }, checks);
};
