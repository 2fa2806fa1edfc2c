import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { anchorOf } from "../src/links.ts";
import { PACKAGES, PARTS, REPOSITORY } from "../src/pages.ts";

const content = fileURLToPath(new URL("../.content/", import.meta.url));

/** The title of a page: its first heading. */
const titleOf = (page: string): string =>
  /^# (?<title>.+)$/m.exec(readFileSync(join(content, `${page}.md`), "utf8"))?.groups?.["title"] ??
  page;

const itemOf = (page: string) => ({
  text: titleOf(page).replaceAll(/[`\\]/g, ""),
  link: `/${page}`,
});

const docs = [
  ...PARTS.map(({ pages, text }) => ({ text, items: pages.map(itemOf) })),
  { text: "Packages", items: PACKAGES.map((name) => itemOf(`packages/${name}`)) },
];

/** The entries that users import, by name. */
const entries = globSync("api/durable-payments/{*/,}index.md", { cwd: content })
  .toSorted()
  .map((file) => ({
    text: file.replace("api/", "").replace("/index.md", ""),
    link: `/${file.replace(/\.md$/, "")}`,
  }));

export default defineConfig({
  title: "durable-payments",
  description: "Durable payment workflows over Temporal, exactly once",
  srcDir: ".content",
  outDir: "dist",
  cleanUrls: true,
  lastUpdated: false,
  // Examples link to servers on the reader's machine.
  ignoreDeadLinks: "localhostLinks",
  // Angle brackets in docstrings are text, not HTML.
  markdown: { html: false, anchor: { slugify: anchorOf } },
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        // Guides come before the reference, which has ten times their pages.
        miniSearch: {
          searchOptions: { boostDocument: (id: string) => (id.startsWith("/api/") ? 0.2 : 1) },
        },
      },
    },
    nav: [
      { text: "Start", link: "/first-workflow" },
      { text: "Operate", link: "/runbook" },
      { text: "API", link: "/api/" },
    ],
    sidebar: { "/": docs, "/api/": [{ text: "API", items: entries }] },
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    outline: [2, 3],
  },
});
