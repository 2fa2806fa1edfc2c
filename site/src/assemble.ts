import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pageOf, asSitePage } from "./links.ts";

/**
 * Copies the pages of the site into a folder: `docs/` and the READMEs of packages and apps.
 *
 * @param checkout folder of the repository
 * @param content folder that is emptied and filled
 */
export const assemble = (checkout: string, content: string): void => {
  rmSync(content, { recursive: true, force: true });
  for (const file of globSync(["docs/*.md", "{packages,apps}/*/README.md"], { cwd: checkout })) {
    const page = join(content, pageOf(file) ?? file);
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, asSitePage(readFileSync(join(checkout, file), "utf8"), file));
  }
  cpSync(join(checkout, "docs/pictures"), join(content, "pictures"), { recursive: true });
  cpSync(join(checkout, "site/home.md"), join(content, "index.md"));
};
