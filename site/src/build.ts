import { reporter, runCommand } from "@durable-payments/tools/command";
import { checkout } from "@durable-payments/tools/processes";
import { join } from "node:path";
import { build, serve } from "vitepress";
import { assemble } from "./assemble.ts";
import { writeReference } from "./reference.ts";

const help = `Usage: npm run site [-- --serve]

Builds the documentation as a site into site/dist: the pages of docs/, the READMEs of the packages,
and the reference of their exports. A broken link makes it fail.

Options:
  --serve  serves the site on localhost until Ctrl-C
  --help   shows this text

Exit codes: 0 built, 1 could not be built.
`;

await runCommand({ help, options: { serve: { type: "boolean" } } }, async (values) => {
  const site = join(checkout, "site");
  const content = join(site, ".content");
  const report = reporter();
  assemble(checkout, content);
  await report.during("Writing the reference", writeReference(checkout, join(content, "api")));
  await report.during("Building the site", build(site));
  process.stdout.write(`${join(site, "dist/index.html")}\n`);
  if (values.serve) {
    await serve({ root: site });
    // Until Ctrl-C ends the process.
    await new Promise<never>(() => {});
  }
  return 0;
});
