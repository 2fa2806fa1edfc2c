import { execa } from "execa";
import { fileURLToPath } from "node:url";
import type { Reporter } from "./command.ts";
import { checkout } from "./processes.ts";
import { setUp, temporalCli, testServer } from "./servers.ts";
import { withoutServiceVariables } from "./stack.ts";

const countsReporter = fileURLToPath(new URL("./testing/counts-reporter.ts", import.meta.url));

/** The arguments of Vitest that run all tests. */
export const TESTS: ReadonlyArray<string> = ["vitest", "run", `--reporter=${countsReporter}`];

/**
 * Gets the Temporal servers, which tests look for and never install, and returns a function that runs a program of this
 * checkout with none of the user's own addresses.
 *
 * @throws Error if there is no dev server
 */
export const withServers = async (report: Reporter) => {
  const { path, problem } = await setUp(temporalCli, report);
  if (path === undefined) throw new Error(problem);
  const skipping = await setUp(testServer, report);
  report.line(`Temporal CLI: ${path}`);
  report.line(`Time-skipping test server: ${skipping.path ?? skipping.problem}`);
  return async (
    [command = "", ...args]: ReadonlyArray<string>,
    env: NodeJS.ProcessEnv = {},
  ): Promise<number> => {
    const { exitCode = 1 } = await execa(command, args, {
      cwd: checkout,
      env: {
        ...withoutServiceVariables(),
        [temporalCli.variable]: path,
        [testServer.variable]: skipping.path,
        ...env,
      },
      preferLocal: true,
      localDir: checkout,
      reject: false,
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    });
    return exitCode;
  };
};
