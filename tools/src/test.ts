import { reporter, runCommand } from "./command.ts";
import { TESTS, withServers } from "./run-tests.ts";

const help = `Usage: npm test

Installs missing Temporal servers (see "npm run setup -- --help") and runs the tests of every project with
Vitest. Prints a dot for each file; for each failure its error, its output and the last lines of its
Temporal servers; the slowest files; the reason for each skipped test; and a last line "N passed, N failed".
A project that exceeds its budget in tools/src/testing/test-budget.json fails.

To run the tests of one project, of some files, or of changed projects (with Nx's cache):
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
