import { execa } from "execa";
import { type Reporter, reporter } from "./command/progress.ts";
import { runCommand } from "./command/run-command.ts";
import { checkout } from "./processes/apps.ts";
import { setUpServers } from "./servers/set-up.ts";

const help = `Usage: npm run setup [-- --json]

Gets what the project needs on this machine and prints where it is: the Temporal CLI (the dev
server with its Web UI) and the time-skipping test server. Quick when nothing is missing.

Each is looked for in this order: the environment variable (TEMPORAL_CLI_PATH,
TEMPORAL_TEST_SERVER_PATH), the PATH, the per-user cache; else it is downloaded by the Temporal
SDK, else built from the Go module (CLI) or fetched from Maven Central (test server).
Bundles the starter too, so that it starts in a third of the time.

Options:
  --json   prints one JSON object on standard output
  --help   shows this text

Exit codes: 0 the CLI is there (without the test server some tests are skipped), 1 it is not.
`;

await runCommand({ help, options: { json: { type: "boolean" } } }, async ({ json }) => {
  const report = reporter();
  const servers = await setUpServers(report);
  await bundleStarter(report);
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ node: process.version, ...servers }, undefined, 2)}\n`,
    );
  } else {
    process.stdout.write(`Node ${process.version}: ${process.execPath}\n`);
    for (const { title, path, from, problem } of Object.values(servers)) {
      process.stdout.write(`${title}: ${path === undefined ? problem : `${path} (${from})`}\n`);
    }
  }
  return servers.temporalCli.path === undefined ? 1 : 0;
});

/** Without its bundle the starter runs from its sources. */
async function bundleStarter(report: Reporter): Promise<void> {
  const build = execa("nx", ["build", "@durable-payments/cli"], {
    cwd: checkout,
    preferLocal: true,
    localDir: checkout,
    reject: false,
    stdin: "ignore",
  });
  const { failed, stdout } = await report.during("Bundling the starter", build);
  if (failed)
    report.line(`The starter could not be bundled, and runs from its sources:\n${stdout}`);
}
