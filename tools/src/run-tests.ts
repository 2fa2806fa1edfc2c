import { execa } from "execa";
import { fileURLToPath } from "node:url";
import type { Reporter } from "./command.ts";
import { checkout } from "./processes.ts";
import { setUp, temporalCli, testServer } from "./servers.ts";
import { withoutServiceVariables } from "./stack.ts";
import { NO_TIME_SKIPPING } from "./testing/servers.ts";

const countsReporter = fileURLToPath(new URL("./testing/counts-reporter.ts", import.meta.url));

/** The arguments of Vitest that run all tests. */
export const TESTS: ReadonlyArray<string> = ["vitest", "run", `--reporter=${countsReporter}`];

/**
 * Gets the Temporal servers, and returns a function that runs a program of this checkout with them, and with none of
 * the user's own addresses.
 *
 * @throws Error if there is no dev server
 */
export const withServers = async (report: Reporter) => {
  const cli = await setUp(temporalCli, report);
  if (cli.path === undefined) throw new Error(cli.problem);
  const skipping = await setUp(testServer, report);
  report.line(`Temporal CLI: ${cli.path}`);
  report.line(`Time-skipping test server: ${skipping.path ?? "none"}`);
  return async (
    [command = "", ...args]: ReadonlyArray<string>,
    env: NodeJS.ProcessEnv = {},
  ): Promise<number> => {
    const { exitCode = 1 } = await execa(command, args, {
      cwd: checkout,
      // The tests take the servers that were found, and look for none themselves.
      env: {
        ...withoutServiceVariables(),
        [temporalCli.variable]: cli.path,
        [testServer.variable]: skipping.path,
        [NO_TIME_SKIPPING]: skipping.problem,
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
