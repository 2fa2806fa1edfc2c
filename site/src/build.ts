/*
 * Builds the documentation as a site into site/dist: the pages of docs/, the READMEs of the packages, and the reference of
 * their exports. A broken link makes it fail. To read it: npx vitepress preview site
 *
 * Usage: npm run site
 */
import { reporter } from "@durable-payments/tools/command";
import { checkout } from "@durable-payments/tools/processes";
import { execa } from "execa";
import { join } from "node:path";
import { build } from "vitepress";
import { assemble } from "./assemble.ts";

const site = join(checkout, "site");
const report = reporter();
assemble(checkout, join(site, ".content"));
// With the options of typedoc.json.
const typedoc = execa("typedoc", { cwd: site, preferLocal: true, stderr: "inherit" });
await report.during("Writing the reference", typedoc);
await report.during("Building the site", build(site));
process.stdout.write(`${join(site, "dist/index.html")}\n`);
