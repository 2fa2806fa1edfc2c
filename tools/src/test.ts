import { execa } from "execa";
import { fileURLToPath } from "node:url";
import { reporter, runCommand } from "./command.ts";
import { checkout } from "./processes.ts";
import {
  clusterServer,
  ensureServer,
  latestServer,
  setUp,
  temporalCli,
  testServer,
} from "./servers.ts";
import { withoutServiceVariables } from "./stack.ts";

const help = `Usage: npm test [-- FILTER…]
       npm run nightly [-- FILTER…]

Installs missing Temporal servers (see "npm run setup -- --help") and runs the tests of every project, or the files
whose paths contain a filter, with Vitest. Prints a dot for each file; for each failure its error, its output and
the last lines of its Temporal servers; the reason for each skipped test; and a last line "N passed, N failed".

npm run nightly runs the tests in files named *.nightly.ts, which take minutes, or need servers that few machines have:
the model check with large bounds, the output shown in the docs, replaced keys, clusters on PostgreSQL,
authorization, chaos with restores, the built output as the image runs it, and the package as users install it, on the
oldest and the newest Node.

To run the tests of one project, or of changed projects (with Nx's cache):
  npx vitest run --project=@durable-payments/workflows
  npx nx affected -t test

Options:
  --help   shows this text

Exit codes: 0 every test passed or was skipped, 1 otherwise.
`;

const countsReporter = fileURLToPath(new URL("./testing/counts-reporter.ts", import.meta.url));

await runCommand({ help, options: {}, allowPositionals: true }, async (_, filters) => {
  const report = reporter(process.stdout);
  const { path } = await ensureServer(temporalCli, report);
  const skipping = await setUp(testServer, report);
  report.line(`Temporal CLI: ${path}`);
  report.line(`Time-skipping test server: ${skipping.path ?? skipping.problem}`);
  // If one cannot be built, the tests that need it are skipped with the reason. test:outside needs none.
  if (process.env["NIGHTLY"] !== undefined && filters.length === 0) {
    for (const server of [clusterServer, latestServer]) await setUp(server, report);
  }
  const { exitCode = 1 } = await execa(
    "vitest",
    ["run", `--reporter=${countsReporter}`, ...filters],
    {
      cwd: checkout,
      // None of the user's own addresses.
      env: {
        ...withoutServiceVariables(),
        [temporalCli.variable]: path,
        [testServer.variable]: skipping.path,
      },
      preferLocal: true,
      localDir: checkout,
      reject: false,
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  return exitCode;
});
