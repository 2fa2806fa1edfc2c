import { reporter, runCommand } from "./command.ts";
import { type Server, setUp, temporalCli, testServer } from "./servers.ts";

const DESCRIPTION = `Installs the Temporal servers that the project needs and prints their paths. Looks for each of them in
  this order: the variable (TEMPORAL_CLI_PATH, TEMPORAL_TEST_SERVER_PATH), the PATH, the per-user cache. If none has it, the SDK
  downloads it; if that fails, it is built from its Go module (CLI) or fetched from Maven Central (test server).

  Exit codes: 0 the CLI is installed (without the test server some tests are skipped), 1 it is missing.`;

await runCommand("npm run setup --", DESCRIPTION, {}, async () => {
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  print(`Node ${process.version}: ${process.execPath}`);
  const setUpAndPrint = async (server: Server) => {
    const { from, path, problem } = await setUp(server, reporter());
    print(`${server.title}: ${problem ?? `${path} (${from})`}`);
    return path;
  };
  const cli = await setUpAndPrint(temporalCli);
  await setUpAndPrint(testServer);
  return cli === undefined ? 1 : 0;
});
