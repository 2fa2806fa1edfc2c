import { randomInt } from "node:crypto";
import { BadOption, reporter, runCommand } from "./command.ts";
import { TESTS, withServers } from "./run-tests.ts";
import { clusterServer, setUp } from "./servers.ts";

const help = `Usage: npm run nightly [-- --only NAME]

Runs the campaigns that npm test omits because they take minutes, or need servers that few machines have. The last
line, "N passed, N failed", counts the campaigns:

  tests  tests in files named *.nightly.ts: the model check at its large bounds, shown output, demo, replaced
         keys, clusters on PostgreSQL, authorization, chaos with restores, the package as its users install it
  chaos  workers and servers killed at random, with a seed that is drawn and shown
  site   the documentation's site, with its reference

Options:
  --only NAME  runs one campaign
  --seed N     sets the seed of the chaos run
  --help       shows this text

Exit codes: 0 all passed, 1 otherwise, 2 invalid options.
`;

const MOST_SEEDS = 100_000;
const node = [process.execPath, "--conditions=@durable-payments/source"];

const campaignsWith = (seed: string): Readonly<Record<string, ReadonlyArray<string>>> => ({
  tests: TESTS,
  chaos: [...node, "chaos/src/main.ts", "--seed", seed],
  site: [...node, "site/src/build.ts"],
});

await runCommand(
  { help, options: { only: { type: "string" }, seed: { type: "string" } } },
  async ({ only, seed = `${randomInt(MOST_SEEDS)}` }) => {
    const all = campaignsWith(seed);
    if (only !== undefined && !Object.hasOwn(all, only)) {
      throw new BadOption(`--only takes ${Object.keys(all).join(", ")}; got "${only}".`);
    }
    const report = reporter(process.stdout);
    const run = await withServers(report);
    // If it cannot be built, the tests that need it are skipped with the reason.
    if (only === undefined || only === "tests") await setUp(clusterServer, report);
    const chosen = Object.entries(all).filter(([name]) => only === undefined || name === only);
    const failed: Array<string> = [];
    for (const [name, command] of chosen) {
      report.line(`\n== ${name}: ${command.join(" ")}`);
      if ((await run(command, { NIGHTLY: "1" })) !== 0) failed.push(name);
    }
    for (const name of failed) report.line(`Failed: ${name}`);
    report.line(`\n${chosen.length - failed.length} passed, ${failed.length} failed`);
    return failed.length === 0 ? 0 : 1;
  },
);
