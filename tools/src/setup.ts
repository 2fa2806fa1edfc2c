import { reporter, runCommand } from "./command.ts";
import { setUpServers } from "./servers.ts";

const help = `Usage: npm run setup [-- --json]

Installs the Temporal servers that the project needs and prints their paths: the Temporal
CLI (the dev server with its Web UI) and the time-skipping test server. Fast if nothing is missing.

It looks for each server in this order: the environment variable (TEMPORAL_CLI_PATH,
TEMPORAL_TEST_SERVER_PATH), the PATH, the per-user cache. If none has it, the Temporal SDK downloads it.
If that fails, it is built from its Go module (CLI) or fetched from Maven Central (test server).

Options:
  --json   prints one JSON object on standard output
  --help   shows this text

Exit codes: 0 the CLI is installed (without the test server some tests are skipped), 1 it is missing.
`;

await runCommand({ help, options: { json: { type: "boolean" } } }, async ({ json }) => {
  const servers = await setUpServers(reporter());
  const lines = Object.values(servers).map(({ from, path, problem, title }) =>
    path === undefined ? `${title}: ${problem}` : `${title}: ${path} (${from})`,
  );
  process.stdout.write(
    json
      ? `${JSON.stringify({ node: process.version, ...servers }, undefined, 2)}\n`
      : `Node ${process.version}: ${process.execPath}\n${lines.join("\n")}\n`,
  );
  return servers.temporalCli.path === undefined ? 1 : 0;
});
