import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutation } from "./mutation.ts";

/**
 * Find the file that has the text of a guard, wherever in its project it is now.
 *
 * @param root folder of the checkout.
 * @throws Error unless the text occurs exactly once in the sources of the project.
 */
export const fileWithGuard = (
  root: string,
  { find, project }: Mutation["edits"][number],
): { readonly path: string; readonly text: string } => {
  const found = globSync(`${project}/src/**/*.ts`, { cwd: root }).flatMap((file) => {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    return text
      .split(find)
      .slice(1)
      .map(() => ({ path, text }));
  });
  const [first, ...more] = found;
  if (first === undefined || more.length > 0) {
    throw new Error(`The sources of ${project} have the guard ${found.length} times: ${find}`);
  }
  return first;
};
