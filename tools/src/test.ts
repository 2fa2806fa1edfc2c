import { rm } from "node:fs/promises";
import { execa } from "execa";
import { checkout } from "./processes/apps.ts";
import { reporter } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { type ServersReport, setUpServers } from "./servers/set-up.ts";
import { temporalCli, testServer } from "./servers/server.ts";
import { withoutServiceVariables } from "./stack/service-variables.ts";
import { noTimeSkipping } from "./testing/environments.ts";
import { resultsFolder, testedProjects } from "./tests/projects.ts";
import { countsLine, summarise } from "./tests/summary.ts";

const help = `Usage: npm test

Gets the Temporal servers if they are missing (see "npm run setup -- --help"), runs the tests of
every project, and ends with a line "N passed, N failed", the failed ones named above it. Without
the time-skipping test server the tests that need it are skipped, and the reason is said. Results
of unchanged projects come from Nx's cache; to run the tests of one project:
  npm exec nx test @durable-payments/workflows

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

  const projects = await testedProjects();
  // A report of an earlier run would hide that this one crashed.
  for (const project of projects) {
    await rm(resultsFolder(project), { recursive: true, force: true });
  }
  const nx = await execa("nx", ["run-many", "--target=test", "--outputStyle=stream"], {
    cwd: checkout,
    env: { ...withoutServiceVariables(), ...testVariables(servers) },
    preferLocal: true,
    localDir: checkout,
    reject: false,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });

  const { failures, ...counts } = await summarise(projects, checkout);
  const all =
    nx.exitCode === 0 || failures.length > 0
      ? failures
      : [...failures, `nx run-many ended with exit code ${nx.exitCode} (its output is above)`];
  if (all.length > 0) report.line(`\nFailed:\n${all.map((one) => `  ${one}`).join("\n")}`);
  if (servers.testServer.problem !== undefined) {
    report.line(`\nSkipped without a time-skipping server:\n${servers.testServer.problem}`);
  }
  report.line(`\n${countsLine({ ...counts, failures: all })}`);
  return all.length === 0 ? 0 : 1;
});

/** The tests take what set-up has found, and look for nothing themselves. */
function testVariables(servers: ServersReport): NodeJS.ProcessEnv {
  return {
    [temporalCli.variable]: servers.temporalCli.path,
    [testServer.variable]: servers.testServer.path,
    [noTimeSkipping]: servers.testServer.problem,
    // Nx would force colour on the programs under test, whose output is no terminal.
    FORCE_COLOR: "0",
  };
}
