import { existsSync } from "node:fs";
import { runTool } from "./run-tool.ts";
import type { Installer } from "./server.ts";

const goVersion = "1.25";

/** Where Go's own installation lies, which its instructions leave to the user to put on PATH (https://go.dev/doc/install). */
const installedGo = "/usr/local/go/bin/go";

/** Go as it is on PATH, or where it is installed. */
export const goCommand = async (): Promise<string> => {
  const missing = `Go is not installed; Go ${goVersion} or newer is needed (https://go.dev/dl)`;
  try {
    await runTool("go", ["version"], { missing });
    return "go";
  } catch (error) {
    if (!existsSync(installedGo)) throw error;
    return installedGo;
  }
};

/** Build Temporal's CLI from its Go module; needs only the Go module proxy. */
export const buildWithGo: Installer = {
  name: "go install",
  install: async (server, folder, report) => {
    const go = await goCommand();
    await report.during(
      `Building the ${server.title} ${server.version} with Go, once (some minutes)`,
      runTool(go, ["install", `github.com/temporalio/cli/cmd/temporal@v${server.version}`], {
        missing: `${go} is not there any more`,
        cwd: folder,
        env: { GOBIN: folder },
      }),
    );
  },
};
