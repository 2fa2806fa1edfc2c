import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord } from "@durable-payments/api-core/values";
import { reporter, runCommand } from "@durable-payments/tools/command";
import { packPackages, publicPackages } from "@durable-payments/tools/packages";
import { checkout } from "@durable-payments/tools/processes";
import { ensureServer, temporalCli, testServer } from "@durable-payments/tools/stack";
import { execa } from "execa";
import { type Checks, startChecks } from "./checks.ts";
import { installLeg, type Leg, useLeg } from "./leg.ts";
import { withTemporalServer } from "./temporal-server.ts";

const help = `Usage: npm run test:outside [-- --keep]

Packs every public package, installs the tarballs in an empty folder outside of this checkout, and uses
them there as somebody does who has nothing else: compiles a project with NodeNext and with Bundler
resolution, imports and requires every entry, runs a worker with an own workflow against the simulator and
a Temporal dev server, replays its history, looks at it with the command line, and creates a project: on
Node 24 with the newest versions of peers. On the oldest Node that the packages take, with the lowest
versions, it imports every entry and makes one payment.
Needs the npm registry. Ends with a line "N passed, N failed".

Options:
  --keep   keeps the folder, and prints where it is
  --help   shows this text

Exit codes: 0 all passed, 1 otherwise.
`;

const oldestNode = async (): Promise<string> => {
  const manifest: unknown = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
  const engines = isRecord(manifest) ? manifest["engines"] : undefined;
  return String(isRecord(engines) ? engines["node"] : "").replace(/^>=/, "");
};

const legs = async (): Promise<ReadonlyArray<Leg>> => [
  { node: await oldestNode(), peers: "lowest", typescript: "5.9", isWhole: false },
  { node: "24", peers: "newest", typescript: "*", isWhole: true },
];

await runCommand({ help, options: { keep: { type: "boolean" } } }, async ({ keep }) => {
  const report = reporter(process.stdout);
  const checks = startChecks(report);
  const started = Date.now();
  const folder = await mkdtemp(join(tmpdir(), "durable-payments-outside-"));
  try {
    await useOutside(folder, checks);
  } finally {
    if (keep) report.line(`Kept: ${folder}`);
    else await rm(folder, { recursive: true, force: true });
  }
  const { failed, passed } = checks.counts();
  report.line(`\nThe outside test took ${Math.round((Date.now() - started) / 1000)} s.`);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;

  async function useOutside(folder: string, checks: Checks): Promise<void> {
    const packages = publicPackages();
    const names = packages.map(({ name }) => name);
    report.line("== This checkout");
    const tarballs = await checks.check(
      `${names.length} packages are built and packed`,
      async () => await packPackages(names, folder),
    );
    if (tarballs === undefined) return;
    await checks.check("publint and attw accept them", async () => {
      await execa("nx", ["run-many", "-t", "check-package", "-p", names.join(",")], {
        cwd: checkout,
        preferLocal: true,
        localDir: checkout,
        stdin: "ignore",
      });
    });
    const servers = await checks.check("Temporal's servers are found", async () => ({
      dev: (await ensureServer(temporalCli, report)).path,
      timeSkipping: (await ensureServer(testServer, report)).path,
    }));
    if (servers === undefined) return;
    const given = {
      folder,
      packages,
      tarballs,
      testServer: servers.timeSkipping,
      temporalCli: servers.dev,
    };
    report.line("== Installation");
    const installed = await Promise.all(
      (await legs()).map((leg) => installLeg(leg, given, checks)),
    );
    for (const one of installed) {
      if (one === undefined) continue;
      report.line(`== Node ${one.leg.node}, ${one.leg.peers} versions`);
      // Each has its own: a task queue belongs to one account, and each simulator is another.
      await withTemporalServer(servers.dev, report, (temporal) =>
        useLeg(one, { ...given, temporal }, checks),
      );
    }
  }
});
