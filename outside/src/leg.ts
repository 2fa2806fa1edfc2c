import { deepEqual } from "node:assert/strict";
import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@durable-payments/api-core/values";
import { installTarball, PUBLISHED, readManifest } from "@durable-payments/tools/packages";
import { checkout } from "@durable-payments/tools/processes";
import type { Checks } from "./checks.ts";
import { payOutside } from "./pay-outside.ts";
import { nodePackage, runTests, type User, userIn } from "./user.ts";

/** One way to use the package. */
export interface Leg {
  readonly title: string;
  /** A version of Node that is installed for it: `22.19` for the newest patch of that. Default: the Node that runs this. */
  readonly node?: string;
  /** Whether every peer has the lowest version that the package accepts, instead of the newest. */
  readonly isLowest: boolean;
  /** Range of TypeScript. */
  readonly typescript: string;
  /** Whether it does everything; otherwise it imports every entry and makes one payment. */
  readonly isWhole: boolean;
}

/** What every leg uses. */
export interface Given {
  /** A folder outside of the checkout, in which each leg makes its own. */
  readonly folder: string;
  /** The path of each tarball, by the name of its package. */
  readonly tarballs: Readonly<Record<string, string>>;
  /** Paths of Temporal's server that skips waiting, and of its command line. */
  readonly testServer: string;
  readonly temporalCli: string;
}

/** The files of the docs and of a new project, so that everything shown is tried. */
const PROJECT = {
  "examples/payout.json": "payout.json",
  "packages/create/template/src": "src",
  "packages/durable-payments/test/examples": "test",
};

/** Packages that share what they keep: a second copy of one would be another library. */
const ONCE = /(?:^|\/)node_modules\/(effect|@effect\/[^/]+|@temporalio\/[^/]+|durable-payments)$/;

const QUIET = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];

/** Returns what the leg's project installs: the tarballs, and the peers that it pins. npm adds the others. */
const dependenciesOf = (leg: Leg, tarballs: Given["tarballs"]): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`])),
  ...Object.fromEntries(
    Object.entries(readManifest(PUBLISHED).peers)
      .filter(([name]) => leg.isLowest || name === "vitest")
      .map(([name, range]) => [name, leg.isLowest ? range.replace(/^(?:[~^]|>=)/, "") : range]),
  ),
  ...(leg.node !== undefined && { [nodePackage]: `~${leg.node}` }),
  typescript: leg.typescript,
  "@types/node": "^22.0.0",
  // The declarations of Temporal's SDK need those of `ms`, which it does not bring.
  "@types/ms": "*",
});

/** Installs the package in a folder of its own; undefined if that fails. */
export const installLeg = async (
  leg: Leg,
  given: Given,
  { check }: Pick<Checks, "check">,
): Promise<User | undefined> => {
  const folder = await mkdtemp(join(given.folder, "leg-"));
  const user = userIn(folder, {
    TEMPORAL_TEST_SERVER_PATH: given.testServer,
    TEMPORAL_CLI_PATH: given.temporalCli,
  });
  const isInstalled = await check(`${leg.title}: it installs`, async () => {
    const dependencies = dependenciesOf(leg, given.tarballs);
    const manifest = { name: "outside", private: true, type: "module", dependencies };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    await user.run("npm", ["install", ...QUIET]);
    return true;
  });
  if (isInstalled !== true) return undefined;
  const file = await readFile(join(folder, "node_modules/.package-lock.json"), "utf8");
  const lock: unknown = JSON.parse(file);
  const paths = Object.keys(isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {});
  await check(`${leg.title}: ${paths.length} packages, each once where it matters`, async () => {
    const copies = Map.groupBy(paths, (path) => ONCE.exec(path)?.[1]);
    copies.delete(undefined);
    deepEqual([...copies.values()].filter(({ length }) => length > 1).flat(), []);
    await user.run("npm", ["ls", "--all"]);
  });
  return user;
};

/**
 * Writes a project that uses the package: the files of a new project, the tests that the docs show, and two files that
 * load every entry, one of them by `require`.
 */
const writeProject = async ({ folder }: User): Promise<void> => {
  await cp(join(checkout, "outside/project"), folder, { recursive: true });
  for (const [from, to] of Object.entries(PROJECT)) {
    await cp(join(checkout, from), join(folder, to), { recursive: true });
  }
  const entries = readManifest(PUBLISHED).entries.map(({ name }) => name);
  // It awaits Vitest, and so can only be imported.
  const required = entries.filter((entry) => !entry.endsWith("/testing"));
  const used = (names: ReadonlyArray<string>) =>
    `console.log(${names.map((_, index) => `Object.keys(entry${index}).length`).join(" + ")});\n`;
  const imports = entries.map((entry, index) => `import * as entry${index} from "${entry}";\n`);
  const requires = required.map((entry, index) => `import entry${index} = require("${entry}");\n`);
  await writeFile(join(folder, "src/entries.ts"), imports.join("") + used(entries));
  await writeFile(join(folder, "src/required.cts"), requires.join("") + used(required));
};

/** Uses the installed package with a Temporal server at `temporal` that nothing else uses. */
export const useLeg = async (
  leg: Leg,
  user: User,
  given: Given & { readonly temporal: string },
  { check, note }: Checks,
): Promise<void> => {
  await writeProject(user);
  const isCompiled = await check("a project compiles with NodeNext", async () => {
    await user.run("tsc", ["--skipLibCheck", String(!leg.isWhole)]);
    return true;
  });
  if (isCompiled !== true) return;
  await check("every entry is imported", () => user.run("node", ["dist/entries.js"]));
  await check("every entry but testing is required", () => user.run("node", ["dist/required.cjs"]));
  await payOutside(user, { ...given, isWhole: leg.isWhole }, { check });
  if (!leg.isWhole) return;
  await check("it compiles with Bundler resolution", () =>
    user.run("tsc", ["--project", "tsconfig.bundler.json"]),
  );
  const tests = await check("the tests that the docs show pass", () => runTests(user));
  for (const [title, seconds] of tests ?? []) note(`${seconds.toFixed(1)} s  ${title}`);
  await createProject(user, given, { check });
};

/** Makes a project as `npm create durable-payments` does, installs it and runs its tests. */
const createProject = async (
  user: User,
  { folder, tarballs, testServer }: Given,
  { check }: Pick<Checks, "check">,
): Promise<void> => {
  const created = userIn(join(folder, "created"), { TEMPORAL_TEST_SERVER_PATH: testServer });
  const isMade = await check("npm create durable-payments makes a project", async () => {
    await user.run("create-durable-payments", [created.folder]);
    await installTarball(created.folder, tarballs["durable-payments"] ?? "");
    await created.run("npm", ["install", ...QUIET]);
    await created.run("npm", ["run", "typecheck"]);
    return true;
  });
  if (isMade === true) await check("the tests of that project pass", () => runTests(created));
};
