import type { PublicPackage } from "@durable-payments/tools/packages";
import { checkout } from "@durable-payments/tools/processes";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const template = fileURLToPath(new URL("../project/", import.meta.url));

/** What the docs show, and what a new project has: what is shown is what is tried. */
const EXAMPLES = {
  "goes-on.ts": "packages/replay/test/examples/goes-on.ts",
  "example-invoice.ts": "packages/create/template/src/example-invoice.ts",
  "pay.ts": "packages/create/template/src/pay.ts",
  "worker.ts": "packages/create/template/src/worker.ts",
  "workflows.ts": "packages/create/template/src/workflows.ts",
};

/** Read by the SDK's bundler, which knows what it requires, and by Vitest, outside of which its own module fails. */
const OF_TOOLS = ["@durable-payments/plugin/bundle-entry", "@durable-payments/testing/vitest"];

/**
 * Write the files of a project that uses the packages: the workflow and worker of a new project, the tests
 * that the docs show, and two files that import every entry of every package, one of them by `require`.
 */
export const writeProject = async (
  folder: string,
  packages: ReadonlyArray<PublicPackage>,
): Promise<void> => {
  await cp(template, folder, { recursive: true });
  const sources = join(folder, "src");
  for (const [name, example] of Object.entries(EXAMPLES)) {
    await cp(join(checkout, example), join(sources, name));
  }
  await cp(join(checkout, "packages/durable-payments/test/examples"), join(folder, "test"), {
    recursive: true,
  });
  await cp(join(checkout, "examples/payout.json"), join(folder, "payout.json"));
  const entries = packages
    .flatMap((one) => one.entries.map(({ name }) => name))
    .filter((entry) => !OF_TOOLS.includes(entry));
  const lines = (line: (name: string, entry: string) => string) =>
    entries.map((entry, index) => line(`entry${index}`, entry)).join("\n");
  const used = `console.log([${entries.map((_, index) => `entry${index}`).join(", ")}].length);\n`;
  await writeFile(
    join(sources, "entries.ts"),
    `${lines((name, entry) => `import * as ${name} from "${entry}";`)}\n${used}`,
  );
  await writeFile(
    join(sources, "required.cts"),
    `${lines((name, entry) => `import ${name} = require("${entry}");`)}\n${used}`,
  );
};
