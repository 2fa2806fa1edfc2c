import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCluster } from "../cluster/cluster.ts";
import type { ClusterProcess } from "../cluster/cluster-process.ts";
import type { Reporter } from "../command/progress.ts";
import { ensureServer } from "../servers/ensure-server.ts";
import { clusterServer, temporalCli, webUiServer } from "../servers/temporal-servers.ts";
import type { Ending, RunningPart, Spawn } from "./running-part.ts";
import { awaitTemporalServer, temporalServerArguments } from "./temporal-server.ts";

/** How a Temporal server is started in a stack. */
interface Start {
  readonly spawn: Spawn;
  readonly port: number;
  readonly uiPort: number;
  /** Does something when all processes have ended. */
  readonly afterwards: (work: Ending) => void;
}

/** A Temporal server whose programs are there: starts it. */
type PreparedTemporal = (
  options: Start,
) => Promise<{ readonly address: string; readonly parts: RunningPart[] }>;

/** Prepare the dev server, in memory, with its Web UI. */
export const prepareDevServer = async (report: Reporter): Promise<PreparedTemporal> => {
  const { path } = await ensureServer(temporalCli, report);
  return async ({ port, spawn, uiPort }) => {
    const address = `127.0.0.1:${port}`;
    const process = spawn("temporal", path, temporalServerArguments(port, uiPort));
    await awaitTemporalServer(process, address);
    return { address, parts: [{ part: "temporal", process }] };
  };
};

/** Prepare Temporal's server on PostgreSQL, in a folder for temporary files, with the Web UI beside it. */
export const prepareCluster = async (
  shards: number,
  report: Reporter,
): Promise<PreparedTemporal> => {
  const { path: executable } = await ensureServer(clusterServer, report);
  const { path: webUi } = await ensureServer(webUiServer, report);
  return async ({ afterwards, port, spawn, uiPort }) => {
    const folder = await mkdtemp(join(tmpdir(), "durable-payments-cluster-"));
    afterwards(() => rm(folder, { recursive: true, force: true }));
    const cluster = await createCluster({ folder, executable, port, shards });
    const [address] = cluster.addresses;
    const parts: RunningPart[] = [];
    const start = async (one: ClusterProcess): Promise<void> => {
      const { args, command, killedBy, name, options } = one;
      const process = spawn(name, command, args, {}, { ...options, killedBy });
      parts.push({ part: "temporal", process, command: commandLine(one) });
      await one.ready(process);
    };
    await cluster.start(start);
    await writeFile(
      join(folder, "config", "web-ui.yaml"),
      JSON.stringify(webUiConfig(address, uiPort)),
    );
    const ui = ["--root", folder, "--env", "web-ui", "start"];
    parts.push({ part: "temporal", process: spawn("web-ui", webUi, ui) });
    return { address, parts };
  };
};

/** Its configuration, which it reads as YAML. */
const webUiConfig = (address: string, port: number): object => ({
  temporalGrpcAddress: address,
  host: "127.0.0.1",
  port,
  enableUi: true,
  defaultNamespace: "default",
  cors: { allowOrigins: [`http://127.0.0.1:${port}`] },
});

const commandLine = ({ args, command, options: { cwd, user } }: ClusterProcess): string =>
  [
    ...(cwd === undefined ? [] : ["cd", cwd, "&&"]),
    ...(user === undefined ? [] : ["runuser", "-u", "postgres", "--"]),
    command,
    ...args,
  ].join(" ");
