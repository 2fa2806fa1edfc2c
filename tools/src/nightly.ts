import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { reporter } from "./command/progress.ts";
import { runCommand } from "./command/run-command.ts";
import { checkout } from "./processes/apps.ts";
import { setUpServers } from "./servers/set-up.ts";
import { temporalCli, testServer } from "./servers/temporal-servers.ts";
import { withoutServiceVariables } from "./stack/service-variables.ts";

const countsReporter = fileURLToPath(new URL("./testing/counts-reporter.ts", import.meta.url));

const help = `Usage: npm run nightly [-- --only NAME]

Runs what npm test leaves out because it takes minutes, or needs servers that few machines have. Ends with a line
"N passed, N failed" that counts the campaigns:

  tests    tests in files named *.nightly.ts: the model check at its large bounds, shown output, demo, replaced
           keys, clusters on PostgreSQL, authorization, chaos with restores
  chaos    workers and servers killed at random, with a seed that is drawn and shown
  outside  the packages as their users install them, on the oldest Node and the newest

Options:
  --only NAME  one campaign alone
  --seed N     seed of the chaos run
  --help       shows this text

Exit codes: 0 all passed, 1 otherwise.
`;

/** A long campaign: a program of this checkout, and its arguments. */
interface Campaign {
  readonly command: string;
  readonly args: ReadonlyArray<string>;
  readonly env?: NodeJS.ProcessEnv;
}

const node = (script: string, ...args: ReadonlyArray<string>): Campaign => ({
  command: process.execPath,
  args: ["--conditions=@durable-payments/source", script, ...args],
});

const campaignsWith = (seed: string): Readonly<Record<string, Campaign>> => ({
  tests: {
    command: "vitest",
    args: ["run", `--reporter=${countsReporter}`],
    env: { NIGHTLY: "1" },
  },
  chaos: node("chaos/src/main.ts", "--seed", seed),
  outside: node("outside/src/main.ts"),
});

const MOST_SEEDS = 100_000;

await runCommand(
  { help, options: { only: { type: "string" }, seed: { type: "string" } } },
  async ({ only, seed = `${randomInt(MOST_SEEDS)}` }) => {
    const report = reporter(process.stdout);
    const servers = await setUpServers(report);
    const campaigns = Object.entries(campaignsWith(seed)).filter(
      ([name]) => only === undefined || name === only,
    );
    const failed: Array<string> = [];
    for (const [name, { args, command, env }] of campaigns) {
      report.line(`\n== ${name}: ${[command, ...args].join(" ")}`);
      const { exitCode } = await execa(command, args, {
        cwd: checkout,
        env: {
          ...withoutServiceVariables(),
          [temporalCli.variable]: servers.temporalCli.path,
          [testServer.variable]: servers.testServer.path,
          ...env,
        },
        preferLocal: true,
        localDir: checkout,
        reject: false,
        stdin: "ignore",
        stdout: "inherit",
        stderr: "inherit",
      });
      if (exitCode !== 0) failed.push(name);
    }
    for (const name of failed) report.line(`Failed: ${name}`);
    report.line(`\n${campaigns.length - failed.length} passed, ${failed.length} failed`);
    return failed.length === 0 && campaigns.length > 0 ? 0 : 1;
  },
);
