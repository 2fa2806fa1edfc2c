import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createCluster,
  DEFAULT_SHARDS,
  executableOfCluster,
} from "@durable-payments/tools/cluster";
import { spawnProcess } from "@durable-payments/tools/processes";

/** Starts Temporal's server on PostgreSQL, with as many shards and processes as `npm run chaos` has. */
export const startCluster = async (): Promise<{
  readonly address: string;
  readonly stop: () => Promise<void>;
}> => {
  const folder = await mkdtemp(join(tmpdir(), "bench-cluster-"));
  const cluster = await createCluster({
    folder,
    executable: executableOfCluster(),
    shards: DEFAULT_SHARDS,
  });
  const stops: Array<() => Promise<void>> = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await end();
    await rm(folder, { recursive: true });
  };
  try {
    await cluster.start(async (one) => {
      const { args, command, killedBy, name, options } = one;
      const started = spawnProcess(command, args, {
        name,
        ownGroup: true,
        ...options,
      });
      stops.push(async () => {
        await started.kill(killedBy);
      });
      await one.ready(started);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { address: cluster.addresses[0], stop };
};
