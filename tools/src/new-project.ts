import { execa } from "execa";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BadOption, reporter, runCommand } from "./command.ts";
import { CLIENT, PUBLISHED } from "./packages/manifests.ts";
import { packPackages, useTarballs } from "./packages/pack.ts";
import { checkout } from "./processes.ts";

const help = `Usage: npm run new-project FOLDER

Creates a project as "npm create durable-payments" will do once the packages are published. The project uses the
packages of this checkout, which are built and packed into FOLDER/packages. Nothing is installed.

Options:
  --help   shows this text

Exit codes: 0 created, 1 could not be created, 2 invalid input.
`;

await runCommand({ help, options: {}, allowPositionals: true }, async (_, [given, ...others]) => {
  if (given === undefined || others.length > 0) throw new BadOption(help);
  // npm runs scripts in the checkout, and passes on the folder of its caller.
  const cwd = process.env["INIT_CWD"] ?? process.cwd();
  const folder = resolve(cwd, given);
  const create = join(checkout, "packages/create/src/main.ts");
  const { exitCode = 1, stdout } = await execa(process.execPath, [create, folder], {
    cwd,
    reject: false,
    stderr: "inherit",
  });
  if (exitCode !== 0) return exitCode;
  const packages = join(folder, "packages");
  await mkdir(packages);
  const packing = packPackages([CLIENT, PUBLISHED], packages);
  const packed = await reporter().during("Building and packing the packages", packing);
  await useTarballs(folder, packed);
  process.stdout.write(`${stdout}\n`);
  return 0;
});
