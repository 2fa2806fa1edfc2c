import { reporter, runCommand } from "./command.ts";
import { TESTS, withServers } from "./run-tests.ts";

const help = `Usage: npm test

Gets the Temporal servers if they are missing (see "npm run setup -- --help"), runs the tests of
every project by Vitest, and ends with a line "N passed, N failed": a dot for each file; for each failure
its error, its output, and the last lines of its Temporal servers; where the time went; and the reason of
each skipped test. A project that starts more than tools/src/testing/test-budget.json allows fails.

The tests of one project, of some files, or of the projects that changed (from Nx's cache):
  npx vitest run --project=@durable-payments/workflows
  npx vitest run apps/worker/test/drain
  npx nx affected -t test

Options:
  --help   shows this text

Exit codes: 0 every test passed or was skipped, 1 otherwise.
`;

await runCommand({ help, options: {} }, async () => {
  const run = await withServers(reporter(process.stdout));
  return run(TESTS);
});
