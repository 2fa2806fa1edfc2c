import { Argument } from "effect/cli";
import { execa } from "execa";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { reporter, runCommand } from "./command.ts";
import { CLIENT, PUBLISHED } from "./packages/manifests.ts";
import { packPackages, useTarballs } from "./packages/pack.ts";
import { checkout } from "./processes.ts";

const DESCRIPTION = `Creates a project as "npm create durable-payments" will do once the packages are published. The project
  uses the packages of this checkout, which are built and packed into FOLDER/packages. Nothing is installed.`;

const folder = Argument.String("folder");

await runCommand("npm run new-project --", DESCRIPTION, { folder }, async (given) => {
  // npm runs scripts in the checkout, and passes on the folder of its caller.
  const cwd = process.env["INIT_CWD"] ?? process.cwd();
  const folder = resolve(cwd, given.folder);
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
