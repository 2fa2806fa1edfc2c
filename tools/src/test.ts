import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { checkout } from "./processes/apps.ts";
import { reporter } from "./command/progress.ts";
import { runCommand } from "./command/run-command.ts";
import { type ServersReport, setUpServers } from "./servers/set-up.ts";
import { temporalCli, testServer } from "./servers/temporal-servers.ts";
import { withoutServiceVariables } from "./stack/service-variables.ts";
import { noTimeSkipping } from "./testing/environments.ts";

const countsReporter = fileURLToPath(new URL("./testing/counts-reporter.ts", import.meta.url));

const help = `Usage: npm test

Gets the Temporal servers if they are missing (see "npm run setup -- --help"), runs the tests of
every project by Vitest, and ends with a line "N passed, N failed": a dot for each file, and for what
fails its error, what it printed, and the last lines of its Temporal servers. Without the
time-skipping test server the tests that need it are skipped, and the reason is said.

The tests of one project, of some files, or of what changed (its unchanged results come from Nx's cache):
  npx vitest run --project=@durable-payments/workflows
  npx vitest run apps/worker/test/drain
  npx nx affected -t test

Options:
  --help   shows this text

Exit codes: 0 every test passed or was skipped, 1 otherwise.
`;

await runCommand({ help, options: {} }, async () => {
  const report = reporter(process.stdout);
  const servers = await setUpServers(report);
  if (servers.temporalCli.path === undefined) throw new Error(servers.temporalCli.problem);
  report.line(`Temporal CLI: ${servers.temporalCli.path}`);
  report.line(`Time-skipping test server: ${servers.testServer.path ?? "none"}`);

  const vitest = ["run", `--reporter=${countsReporter}`];
  const { exitCode = 1 } = await execa("vitest", vitest, {
    cwd: checkout,
    env: { ...withoutServiceVariables(), ...testVariables(servers) },
    preferLocal: true,
    localDir: checkout,
    reject: false,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  if (servers.testServer.problem !== undefined) {
    report.line(`\nSkipped without a time-skipping server:\n${servers.testServer.problem}`);
  }
  return exitCode;
});

/** The tests take what set-up has found, and look for nothing themselves. */
function testVariables(servers: ServersReport): NodeJS.ProcessEnv {
  return {
    [temporalCli.variable]: servers.temporalCli.path,
    [testServer.variable]: servers.testServer.path,
    [noTimeSkipping]: servers.testServer.problem,
  };
}
