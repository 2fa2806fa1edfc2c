import { runTool } from "./run-tool.ts";
import type { Installer } from "./server.ts";

const goVersion = "1.25";

/** Builds Temporal's CLI from its Go module; needs only the Go module proxy. */
export const buildWithGo: Installer = {
  name: "go install",
  install: async (server, folder, report) => {
    const missing = `Go is not installed; Go ${goVersion} or newer is needed (https://go.dev/dl)`;
    await runTool("go", ["version"], { missing });
    await report.during(
      `Building the ${server.title} ${server.version} with Go, once (some minutes)`,
      runTool("go", ["install", `github.com/temporalio/cli/cmd/temporal@v${server.version}`], {
        missing,
        cwd: folder,
        env: { GOBIN: folder },
      }),
    );
  },
};
