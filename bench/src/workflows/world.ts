import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  accessOf,
  createLocalEnvironment,
  serviceVariables,
  startApp,
} from "@durable-payments/tools/testing";

/** A Temporal server in a separate process, and simulators beside it. */
export interface World {
  readonly temporalAddress: string;
  /**
   * Starts a simulator with a folder for a ledger: payouts and identity checks end at once, so that nothing but work is
   * measured.
   *
   * @returns what a worker is configured by: every one is an account of its own, with a ledger of its own.
   */
  readonly startService: () => Promise<Readonly<Record<string, string>>>;
  readonly stop: () => Promise<void>;
}

/**
 * The dev server has one history shard, where a cluster has hundreds, and a shard's tasks are read 20
 * times a second at most (dynamicconfig/constants.go of server 1.29): with anything else under way
 * each task of a run would wait for that, 25 ms and more, and nothing else would be measured.
 */
const SHARD_READS = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000"];

/** Starts the server. */
export const startWorld = async (): Promise<World> => {
  const temporal = await createLocalEnvironment({ server: { extraArgs: SHARD_READS } });
  const stops: Array<() => Promise<unknown>> = [() => temporal.teardown()];
  return {
    temporalAddress: temporal.address,
    startService: async () => {
      const folder = await mkdtemp(join(tmpdir(), "bench-"));
      stops.push(() => rm(folder, { recursive: true }));
      const simulator = await startApp(
        "simulator",
        "--json --port 0 --settle-after 0 --verify-after 0 --balance USD=900000000.00".split(" "),
      );
      stops.push(() => simulator.kill());
      return {
        ...serviceVariables(accessOf(simulator)),
        PAYMENTS_LEDGER: `sqlite:${join(folder, "ledger.sqlite")}`,
      };
    },
    stop: async () => {
      for (const stop of stops.toReversed()) await stop();
    },
  };
};
