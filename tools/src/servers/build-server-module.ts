import { join } from "node:path";
import { isRecord } from "@durable-payments/api-core/values";
import { goCommand } from "./build-with-go.ts";
import { runTool } from "./run-tool.ts";
import type { Installer } from "./server.ts";

/** A Go module that servers are built from. */
interface ServerModule {
  readonly path: string;
  /** As Go's checksum database has it: "h1:…". */
  readonly sum: string;
  /** The folder of each program that is built, by its name in the cache. */
  readonly programs: Readonly<Record<string, string>>;
}

/** Build servers from their Go module, in its own folder: so its go.sum holds for all that they are made of. */
export const buildServerModule = ({ path, programs, sum }: ServerModule): Installer => ({
  name: "go build",
  install: async ({ title, version }, folder, report) => {
    const go = await goCommand();
    const run = (args: readonly string[], cwd: string) =>
      runTool(go, args, { missing: `${go} is not there any more`, cwd });
    const printed = await report.during(
      `Fetching the sources of the ${title} ${version}`,
      run(["mod", "download", "-json", `${path}@v${version}`], folder),
    );
    // What it says of its progress stands around the object.
    const module: unknown = JSON.parse(/\{.*\}/s.exec(printed)?.[0] ?? "null");
    if (!isRecord(module)) throw new Error(`${go} mod download printed no object`);
    if (module["Sum"] !== sum) {
      throw new Error(`${path}@v${version} has the sum ${String(module["Sum"])}, and not ${sum}`);
    }
    const build = async () => {
      for (const [name, main] of Object.entries(programs)) {
        await run(["build", "-trimpath", "-o", join(folder, name), main], String(module["Dir"]));
      }
    };
    await report.during(`Building the ${title} ${version} with Go, once (minutes)`, build());
  },
});
