import { type ClusterProcess, clusterServer, createCluster } from "@durable-payments/tools/cluster";
import type { Reporter } from "@durable-payments/tools/command";
import { ensureServer } from "@durable-payments/tools/stack";
import { delay } from "../delay.ts";
import { type Spawn, SupervisedProcess } from "./supervised-process.ts";
import type { TemporalServer } from "./temporal-server.ts";

/** History shards: as many as a small campaign keeps busy. */
const SHARDS = 16;

/** Temporal's server on PostgreSQL, in processes of which each is killed by itself, too. */
export const createClusterServer = async (
  folder: string,
  spawn: Spawn,
  report: Reporter,
): Promise<TemporalServer> => {
  const { path } = await ensureServer(clusterServer, report);
  const cluster = await createCluster({ folder, executable: path, shards: SHARDS });
  const ended = new AbortController();
  const supervised = (one: ClusterProcess) =>
    new SupervisedProcess({
      name: one.name,
      spawn: (start) => spawn(`${one.name}-${start}`, one.command, one.args, {}, one.options),
      ready: one.ready,
      killedBy: one.killedBy,
    });
  const database = supervised(cluster.database.process);
  const parts = cluster.servers.map(supervised);
  const byDefinition = new Map([
    [cluster.database.process, database],
    ...cluster.servers.map((one, index) => [one, parts[index]] as const),
  ]);
  return {
    addresses: cluster.addresses,
    parts,
    database,
    get crashes() {
      return [database, ...parts].flatMap(({ crashes }) => crashes);
    },
    start: () => cluster.start(async (one) => await byDefinition.get(one)?.start()),
    whenReady: async (signal) =>
      void (await Promise.all([database, ...parts].map((one) => one.whenReady(signal)))),
    restart: async (killSignal, { downMs, whileDown }) => {
      const releases = await Promise.all(parts.map((part) => part.keepDown(killSignal)));
      await delay(downMs, ended.signal);
      await whileDown?.();
      for (const release of releases) release();
      return true;
    },
    copyDatabase: () => cluster.database.backUp(),
    putBackDatabase: async () => {
      // Its fast shutdown: nothing is connected any more.
      const release = await database.keepDown("SIGINT");
      await cluster.database.putBack();
      release();
      await database.whenReady(ended.signal);
    },
    end: async () => {
      ended.abort();
      await Promise.all(parts.map((part) => part.end()));
      await database.end();
    },
  };
};
