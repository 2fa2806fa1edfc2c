// node tools/src/built/start.mjs APP [arguments…]
// What `npm run starter` and `npm run worker` run: the app as it was built where that is fresh, else
// from its sources. Plain JavaScript: the first TypeScript costs Node 40 ms.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { builtMain, cacheIn, entryOf, folderOf } from "./built-app.mjs";

const [, , app] = process.argv;
const folder = folderOf(app);
const built = builtMain(folder);
if (built === undefined) {
  enableCompileCache();
} else {
  const cache = fileURLToPath(cacheIn(folder));
  enableCompileCache(cache);
  // The threads that run workflows take it from here.
  process.env.NODE_COMPILE_CACHE ??= cache;
}
const main = built ?? entryOf(app);
process.argv.splice(1, 2, fileURLToPath(main));
await import(main.href);
