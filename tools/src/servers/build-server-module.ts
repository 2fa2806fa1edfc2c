import { isRecord } from "@durable-payments/api-core/values";
import { join } from "node:path";
import { goCommand } from "./build-with-go.ts";
import { runTool } from "./run-tool.ts";
import type { Installer } from "./server.ts";

const MODULE = "go.temporal.io/server";

/**
 * Build Temporal's server and its tool for SQL databases from one version of their Go module, in the folder of the
 * module: so its own go.sum holds for all that it is made of.
 *
 * @param sum of the module, as Go's checksum database has it: "h1:…"
 */
export const buildServerModule = (sum: string): Installer => ({
  name: "go build",
  install: async (server, folder, report) => {
    const go = await goCommand();
    const run = (args: readonly string[], cwd: string) =>
      runTool(go, args, { missing: `${go} is not there any more`, cwd });
    const printed = await report.during(
      `Fetching the sources of the ${server.title} ${server.version}`,
      run(["mod", "download", "-json", `${MODULE}@v${server.version}`], folder),
    );
    // What it says of its progress stands around the object.
    const downloaded: unknown = JSON.parse(/\{.*\}/s.exec(printed)?.[0] ?? "null");
    if (!isRecord(downloaded)) throw new Error(`${go} mod download printed no object`);
    if (downloaded["Sum"] !== sum) {
      throw new Error(
        `${MODULE}@v${server.version} has the sum ${String(downloaded["Sum"])}, and not ${sum}`,
      );
    }
    await report.during(
      `Building the ${server.title} ${server.version} with Go, once (five to ten minutes)`,
      Promise.all(
        [
          ["server", server.command],
          ["tools/sql", "temporal-sql-tool"],
        ].map(([command, name]) =>
          run(
            ["build", "-trimpath", "-o", join(folder, String(name)), `./cmd/${command}`],
            String(downloaded["Dir"]),
          ),
        ),
      ),
    );
  },
});
