import { type NodeBinary, type Tarballs, takeTarballs } from "@durable-payments/tools/packages";
import { join } from "node:path";
import type { Checks } from "./checks.ts";
import { runTests } from "./run-tests.ts";
import { type User, userIn } from "./user.ts";

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
