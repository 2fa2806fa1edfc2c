// What `npm run starter` runs: the command line as it was built where that is fresh, else from its
// sources. Plain JavaScript: the first TypeScript costs Node 40 ms.
import { enableCompileCache } from "node:module";
import { builtCli } from "./built/fingerprint.mjs";

enableCompileCache();
const built = builtCli();
await (built === undefined ? import("./cli.ts") : import(built.href));
