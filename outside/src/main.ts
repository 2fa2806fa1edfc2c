import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Reporter, reporter, runCommand } from "@durable-payments/tools/command";
import { packPackages, PUBLISHED } from "@durable-payments/tools/packages";
import { spawnProcess } from "@durable-payments/tools/processes";
import {
  awaitTemporalServer,
  choosePort,
  ensureServer,
  temporalCli,
  temporalServerArguments,
  testServer,
} from "@durable-payments/tools/stack";
import { type Checks, startChecks } from "./checks.ts";
import { installLeg, type Leg, useLeg } from "./leg.ts";

const help = `Usage: npm run test:outside [-- --newest] [-- --keep]

Packs the published packages, installs the tarballs in an empty folder outside of this checkout, and tests
them there as a new user would. With the newest Node and peers it compiles a project with NodeNext and with
Bundler resolution, imports and requires every entry, runs a worker with a custom workflow against the
simulator and a Temporal dev server, replays its history, reads it with the command line, and creates a
project. With the oldest supported Node and peers it imports every entry and makes one payment.
Needs the npm registry. The last line is "N passed, N failed".

Options:
  --newest  tests only the newest Node and peers
  --keep    keeps the folder and prints its path
  --help    shows this text

Exit codes: 0 all passed, 1 otherwise.
`;

const OLDEST: Leg = {
  title: "Node 22.19, lowest versions",
  node: "22.19",
  isLowest: true,
  typescript: "5.9",
  isWhole: false,
};
const NEWEST: Leg = {
  title: "newest versions",
  isLowest: false,
  typescript: "*",
  isWhole: true,
};

/** Runs a Temporal dev server on which nothing else works: a task queue belongs to one account. */
const withTemporalServer = async (
  path: string,
  report: Reporter,
  use: (address: string) => Promise<void>,
): Promise<void> => {
  const port = await choosePort({ option: "the Temporal server" }, report);
  const uiPort = await choosePort({ option: "the Web UI" }, report);
  const server = spawnProcess(path, temporalServerArguments(port, uiPort), { ownGroup: true });
  const address = `127.0.0.1:${port}`;
  try {
    await awaitTemporalServer(server, address);
    await use(address);
  } finally {
    await server.kill();
  }
};

const useOutside = async (
  folder: string,
  legs: ReadonlyArray<Leg>,
  report: Reporter,
  checks: Checks,
): Promise<void> => {
  report.line("== This checkout");
  const packed = await checks.check("the packages are built and packed", () =>
    packPackages([PUBLISHED, "packages/create"], folder),
  );
  const servers = await checks.check("Temporal's servers are found", async () => ({
    temporalCli: (await ensureServer(temporalCli, report)).path,
    testServer: (await ensureServer(testServer, report)).path,
  }));
  if (packed === undefined || servers === undefined) return;
  const given = { folder, tarballs: packed, ...servers };
  for (const leg of legs) {
    report.line(`== ${leg.title}`);
    const user = await installLeg(leg, given, checks);
    if (user === undefined) continue;
    await withTemporalServer(servers.temporalCli, report, (temporal) =>
      useLeg(leg, user, { ...given, temporal }, checks),
    );
  }
};

await runCommand(
  { help, options: { keep: { type: "boolean" }, newest: { type: "boolean" } } },
  async ({ keep, newest }) => {
    const report = reporter(process.stdout);
    const checks = startChecks(report);
    const started = Date.now();
    const folder = await mkdtemp(join(tmpdir(), "durable-payments-outside-"));
    try {
      await useOutside(folder, newest ? [NEWEST] : [OLDEST, NEWEST], report, checks);
    } finally {
      if (keep) report.line(`Kept: ${folder}`);
      else await rm(folder, { recursive: true, force: true });
    }
    const { failed, passed } = checks.counts();
    report.line(`\nThe outside test took ${Math.round((Date.now() - started) / 1000)} s.`);
    process.stdout.write(`${passed} passed, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  },
);
