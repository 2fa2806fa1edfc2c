import { isRecord } from "@durable-payments/api-core/values";
import type { NodeBinary, Tarballs } from "@durable-payments/tools/packages";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Checks } from "./checks.ts";
import { runTests } from "./run-tests.ts";
import { type User, userIn } from "./user.ts";

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
    : {};

/** Let the manifest of a project take the packages that are not published yet. */
const takeTarballs = async (folder: string, tarballs: Tarballs): Promise<void> => {
  const file = join(folder, "package.json");
  const manifest: unknown = JSON.parse(await readFile(file, "utf8"));
  const { dependencies, devDependencies, ...rest } = isRecord(manifest) ? manifest : {};
  const packed = new Map([...tarballs].map(([name, path]) => [name, `file:${path}`]));
  const named = (group: unknown) =>
    Object.fromEntries(
      Object.entries(textsOf(group)).map(([name, range]) => [name, packed.get(name) ?? range]),
    );
  const groups = { dependencies: named(dependencies), devDependencies: named(devDependencies) };
  // What the project does not name is a dependency of what it names.
  const overrides = Object.fromEntries(
    [...packed].filter(
      ([name]) => !(name in groups.dependencies) && !(name in groups.devDependencies),
    ),
  );
  await writeFile(file, JSON.stringify({ ...rest, ...groups, overrides }, undefined, 2));
};

/**
 * Make a project by `npm create durable-payments`, install it and run its tests.
 *
 * @param user works in a folder that has the packages.
 * @param given `folder`: where the project is made; `testServer`: path of Temporal's server that skips waiting times.
 */
export const createOutside = async (
  user: User,
  given: {
    readonly folder: string;
    readonly node: NodeBinary;
    readonly tarballs: Tarballs;
    readonly testServer: string;
  },
  { check, note }: Pick<Checks, "check" | "note">,
): Promise<void> => {
  const started = Date.now();
  const folder = join(given.folder, "created");
  const created = userIn(folder, given.node, { TEMPORAL_TEST_SERVER_PATH: given.testServer });
  const isInstalled = await check("npm create durable-payments makes a project", async () => {
    await user.run("create-durable-payments", [folder]);
    await takeTarballs(folder, given.tarballs);
    await created.run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"]);
    await created.run("npm", ["run", "typecheck"]);
    return true;
  });
  if (isInstalled !== true) return;
  await check("the tests of that project pass", async () => await runTests(created));
  note(`${Math.round((Date.now() - started) / 1000)} s  created, installed and tested`);
};
