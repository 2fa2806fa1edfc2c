import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScenarioContext } from "../scenario.ts";
import { startCluster } from "./cluster.ts";
import {
  accessOf,
  createLocalEnvironment,
  serviceVariables,
  startApp,
} from "@durable-payments/tools/testing";

/** A Temporal server and a simulator, each in a separate process. */
export interface World {
  readonly temporalAddress: string;
  /** What a client of the simulator is configured by. */
  readonly serviceVariables: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/**
 * The dev server has one history shard, where a cluster has hundreds, and a shard's tasks are read 20
 * times a second at most (dynamicconfig/constants.go of server 1.29): with anything else under way
 * each task of a run would wait for that, 25 ms and more, and nothing else would be measured.
 */
const SHARD_READS = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000"];

const startTemporal = async (server: ScenarioContext["server"]) => {
  if (server === "postgres") return startCluster();
  const environment = await createLocalEnvironment({ server: { extraArgs: SHARD_READS } });
  return { address: environment.address, stop: () => environment.teardown() };
};

/** Starts both; payouts and identity checks end at once, so that nothing but work is measured. */
export const startWorld = async ({ server }: Pick<ScenarioContext, "server">): Promise<World> => {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const temporal = await startTemporal(server);
  try {
    const simulator = await startApp(
      "simulator",
      "--json --port 0 --settle-after 0 --verify-after 0 --balance USD=900000000.00".split(" "),
    );
    return {
      temporalAddress: temporal.address,
      serviceVariables: {
        ...serviceVariables(accessOf(simulator)),
        PAYMENTS_JOURNAL: `sqlite:${join(folder, "journal.sqlite")}`,
      },
      stop: async () => {
        await simulator.kill();
        await temporal.stop();
        await rm(folder, { recursive: true });
      },
    };
  } catch (error) {
    await temporal.stop();
    await rm(folder, { recursive: true });
    throw error;
  }
};
