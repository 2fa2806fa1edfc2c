import { Argument } from "effect/cli";
import { relative } from "node:path";
import { startVitest, type TestModule } from "vitest/node";
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

const DESCRIPTION = `Installs missing Temporal servers (see "npm run setup -- --help") and runs the tests of every project, or
  the files whose paths contain a filter. Prints a dot for each test; for each failure its error, its output and the last lines
  of its Temporal servers; the reason for each skipped test; and a last line "N passed, N failed".

  npm run nightly runs the files *.nightly.ts, which take minutes, or need servers that few machines have.

  Exit codes: 0 every test passed or was skipped, 1 otherwise.`;

const filters = Argument.variadic(Argument.String("filter"));

/** Returns the skipped tests by their file and reason. */
const skippedTests = (modules: ReadonlyArray<TestModule>): ReadonlyArray<string> => {
  const lines = modules.flatMap(({ children, moduleId }) =>
    [...children.allTests("skipped")].map((test) => {
      const result = test.result();
      const note = result.state === "skipped" ? result.note : undefined;
      const reason = note ?? test.meta().skipReason ?? "its file failed";
      return `Skipped: ${relative(checkout, moduleId)}: ${reason}`;
    }),
  );
  return [...Map.groupBy(lines, (line) => line)].map(([line, { length }]) => `${line} (${length})`);
};

await runCommand("npm test --", DESCRIPTION, { filters }, async ({ filters }) => {
  const report = reporter(process.stdout);
  const { path } = await ensureServer(temporalCli, report);
  const skipping = await setUp(testServer, report);
  report.line(`Temporal CLI: ${path}`);
  report.line(`Time-skipping test server: ${skipping.path ?? skipping.problem}`);
  // If one cannot be built, the tests that need it are skipped with the reason. test:outside needs none.
  if (process.env["NIGHTLY"] !== undefined && filters.length === 0) {
    for (const server of [clusterServer, latestServer]) await setUp(server, report);
  }
  // None of the user's own addresses.
  for (const name of Object.keys(withoutServiceVariables()))
    Reflect.deleteProperty(process.env, name);
  process.env[temporalCli.variable] = path;
  if (skipping.path !== undefined) process.env[testServer.variable] = skipping.path;

  const vitest = await startVitest([...filters], { run: true, reporters: ["dot"] });
  const modules = vitest.state.getTestModules();
  const errors = vitest.state.getUnhandledErrors();
  await vitest.close();
  for (const line of skippedTests(modules)) report.line(line);
  const count = (state: "passed" | "failed" | "skipped") =>
    modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
  // A file that fails outside of its tests counts as a failed test.
  const files = modules.filter(
    (module) => !module.ok() && module.children.allTests("failed").next().done,
  );
  const failed = count("failed") + files.length + errors.length;
  const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
  report.line(`\n${count("passed")} passed, ${failed} failed${skipped}`);
  return failed === 0 ? Number(process.exitCode ?? 0) : 1;
});
