import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildApp } from "./build-app.ts";
import { folderOf, isBuiltApp } from "./built-app.mjs";

const start = fileURLToPath(new URL("./start.mjs", import.meta.url));

for (const app of process.argv.slice(2)) {
  if (!isBuiltApp(app)) throw new Error(`no app that is built: ${app}`);
  const folder = folderOf(app);
  await buildApp(app, folder);
  // Node keeps what it compiles here, so that already the first start after a deployment has it.
  execFileSync(process.execPath, ["--conditions=@durable-payments/source", start, app, "--help"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  process.stderr.write(`Built ${app}: ${fileURLToPath(folder)}\n`);
}
