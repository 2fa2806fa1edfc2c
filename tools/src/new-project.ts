import { execa } from "execa";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { reporter } from "./command.ts";
import { installTarball, packPackages, PUBLISHED } from "./packages/index.ts";
import { checkout } from "./processes.ts";

const help = `Usage: npm run new-project FOLDER

Creates a project as "npm create durable-payments" will do once the package is published. The project uses the
package of this checkout, which is built and packed into FOLDER/packages. Nothing is installed.

Options:
  --help   shows this text

Exit codes: 0 created, 1 could not be created, 2 invalid input.
`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { help: { type: "boolean", short: "h" } },
});
const [given, ...others] = positionals;
if (values.help) {
  process.stdout.write(help);
} else if (given === undefined || others.length > 0) {
  process.stderr.write(help);
  process.exitCode = 2;
} else {
  // npm runs scripts in the checkout, and passes on the folder of its caller.
  const folder = resolve(process.env["INIT_CWD"] ?? ".", given);
  const create = join(checkout, "packages/create/src/main.ts");
  const { exitCode, stdout } = await execa(process.execPath, [create, folder], {
    cwd: process.env["INIT_CWD"] ?? process.cwd(),
    reject: false,
    stderr: "inherit",
  });
  process.exitCode = exitCode ?? 1;
  if (exitCode === 0) {
    const packages = join(folder, "packages");
    await mkdir(packages);
    const packing = packPackages([PUBLISHED], packages);
    const packed = await reporter().during("Building and packing the package", packing);
    for (const tarball of Object.values(packed)) await installTarball(folder, tarball);
    process.stdout.write(`${stdout}\n`);
  }
}
