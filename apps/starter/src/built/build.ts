import { buildCli } from "./build-cli.ts";
import { builtFolder } from "./fingerprint.mjs";

await buildCli(builtFolder);
process.stderr.write(`Command line of the starter: ${builtFolder.pathname}\n`);
