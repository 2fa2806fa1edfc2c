import { reporter, runCommand } from "./command.ts";
import { TESTS, withServers } from "./run-tests.ts";

const help = `Usage: npm test [-- FILTER…]

Installs missing Temporal servers (see "npm run setup -- --help") and runs the tests of every project, or the files
whose paths contain a filter, with Vitest. Prints a dot for each file; for each failure its error, its output and
the last lines of its Temporal servers; the slowest files; the reason for each skipped test; and a last line
"N passed, N failed". A project that exceeds its budget in tools/src/testing/test-budget.json fails.

The tests of one project, or of the projects that changed (from Nx's cache):
  npx vitest run --project=@durable-payments/workflows
  npx nx affected -t test

Options:
  --help   shows this text

Exit codes: 0 every test passed or was skipped, 1 otherwise.
`;

await runCommand({ help, options: {}, allowPositionals: true }, async (_, filters) => {
  const run = await withServers(reporter(process.stdout));
  return run([...TESTS, ...filters]);
});
