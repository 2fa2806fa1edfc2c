import { reporter, runCommand } from "./command.ts";
import { setUpServers } from "./servers.ts";

const help = `Usage: npm run setup [-- --json]

Gets the Temporal servers that the project needs on this machine and prints where they are: the Temporal
CLI (the dev server with its Web UI) and the time-skipping test server. Quick when nothing is missing.

Each is looked for in this order: the environment variable (TEMPORAL_CLI_PATH,
TEMPORAL_TEST_SERVER_PATH), the PATH, the per-user cache; else it is downloaded by the Temporal
SDK, else built from the Go module (CLI) or fetched from Maven Central (test server).

Options:
  --json   prints one JSON object on standard output
  --help   shows this text

Exit codes: 0 the CLI is there (without the test server some tests are skipped), 1 it is missing.
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
