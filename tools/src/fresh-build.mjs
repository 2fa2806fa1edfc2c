// Plain JavaScript: it runs at every start, and the first TypeScript costs Node 40 ms.
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { NotIntact, NotRecorded, verifyFiles } from "./integrity.mjs";

/** What an app is built from, seen from the checkout. npm writes the last one when it has installed. */
const inputsOf = (checkout, app) =>
  [
    ...readdirSync(join(checkout, "packages")).flatMap((name) => [
      join("packages", name, "src"),
      join("packages", name, "package.json"),
    ]),
    join("apps", app, "src"),
    join("apps", app, "package.json"),
    join("tools", "src", "build-app.ts"),
    join("node_modules", ".package-lock.json"),
  ].map((path) => join(checkout, path));

/** When a file was last written, moved to where it is, or put there by Git; a folder counts with what is in it. */
const changedAt = (path) => {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.ctimeMs;
  return Math.max(
    stat.ctimeMs,
    ...readdirSync(path, { withFileTypes: true }).map((entry) => changedAt(join(path, entry.name))),
  );
};

/** Whether it was recorded when it was built, and is as it was then. */
const isRecorded = (folder) => {
  try {
    verifyFiles(folder);
    return true;
  } catch (error) {
    if (error instanceof NotRecorded) return false;
    if (!(error instanceof NotIntact)) throw error;
    throw new NotIntact(
      `What was built in ${folder} is not run: ${error.message}. See who has changed it, and run "npm run build" again.`,
    );
  }
};

/**
 * The main file of an app as `nx build` has bundled it, or undefined where there is none, it was not recorded, or a source is newer.
 *
 * @param {string} checkout the folder of the checkout
 * @param {string} app a folder of `apps`
 * @throws NotIntact where it is not as it was built, or others can change it
 */
export const freshBuild = (checkout, app) => {
  const main = join(checkout, "apps", app, "dist", "app", "main.mjs");
  const built = statSync(main, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return undefined;
  const inputs = inputsOf(checkout, app).filter((path) => existsSync(path));
  return inputs.every((path) => changedAt(path) < built) && isRecorded(dirname(main))
    ? main
    : undefined;
};
