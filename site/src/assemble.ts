import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pageOf, asSitePage } from "./links.ts";
import { PARTS } from "./pages.ts";

const checkPages = (found: ReadonlyArray<string>): void => {
  const shown = new Set(PARTS.flatMap(({ pages }) => pages.map((page) => `docs/${page}.md`)));
  const faults = [
    ...found.filter((file) => !shown.has(file)).map((file) => `${file} is not listed`),
    ...[...shown].filter((file) => !found.includes(file)).map((file) => `${file} does not exist`),
  ];
  if (faults.length > 0)
    throw new Error(`site/src/pages.ts lists every page of docs/: ${faults.join(", ")}.`);
};

/**
 * Copies the pages of the site into a folder: `docs/` and the READMEs of packages and apps.
 *
 * @param checkout folder of the repository
 * @param content folder that is emptied and filled
 * @throws Error if the sidebar and the pages of `docs/` differ
 */
export const assemble = (checkout: string, content: string): void => {
  const docs = globSync("docs/*.md", { cwd: checkout });
  checkPages(docs);
  rmSync(content, { recursive: true, force: true });
  for (const file of [...docs, ...globSync("{packages,apps}/*/README.md", { cwd: checkout })]) {
    const page = join(content, pageOf(file) ?? file);
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, asSitePage(readFileSync(join(checkout, file), "utf8"), file));
  }
  cpSync(join(checkout, "docs/pictures"), join(content, "pictures"), { recursive: true });
  cpSync(join(checkout, "site/home.md"), join(content, "index.md"));
};
