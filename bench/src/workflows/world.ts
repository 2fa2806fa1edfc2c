import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as postgres from "@durable-payments/tools/postgres";
import {
  accessOf,
  createLocalEnvironment,
  makeTestFolder,
  serviceVariables,
  startApp,
} from "@durable-payments/tools/testing";
import type { Temperament } from "@durable-payments/simulator";
import type { BenchContext } from "../rounds.ts";

/**
 * The dev server has one history shard, and a cluster has hundreds. A shard's tasks are read at most 20 times a second
 * (dynamicconfig/constants.go of server 1.29). If anything else is under way, each task of a run would wait for that, 25 ms
 * and more, and nothing else would be measured.
 */
const SHARD_READS = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000"];

/** Starts a Temporal server in a separate process; it ends with the bench. */
export const startTemporal = async ({ defer }: BenchContext): Promise<string> => {
  const temporal = await createLocalEnvironment({ extraArgs: SHARD_READS });
  defer(() => temporal.teardown());
  return temporal.address;
};

/**
 * Starts a simulator with a folder for a ledger: payouts and identity checks end at once, so that nothing but work is
 * measured.
 *
 * @returns what a worker is configured by: every one is an account of its own, with a ledger of its own.
 */
export const startService = async ({ defer }: BenchContext, temperament: Temperament = {}) => {
  const folder = makeTestFolder();
  defer(folder.remove);
  const simulator = await startApp("simulator", [
    ..."--json --port 0 --settle-after 0 --verify-after 0 --balance USD=900000000.00".split(" "),
    "--temperament",
    JSON.stringify(temperament),
  ]);
  defer(() => simulator.kill());
  return {
    ...serviceVariables(accessOf(simulator)),
    PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
  };
};

/**
 * Starts PostgreSQL with an empty database for a ledger; it ends with the bench, or is removed with its data before.
 *
 * @returns undefined if PostgreSQL cannot run here.
 */
export const startPostgres = async ({ defer, progress }: BenchContext) => {
  const missing = postgres.whyNoPostgres();
  if (missing !== undefined) {
    progress(`without PostgreSQL: ${missing}`);
    return undefined;
  }
  const { path } = makeTestFolder();
  defer(() => rm(path, { recursive: true, force: true }));
  const server = await postgres.startPostgres(path);
  const remove = async () => {
    // It may be stopped already.
    await server.stop().catch(() => undefined);
    await rm(path, { recursive: true, force: true });
  };
  defer(remove);
  return { ...server, remove };
};
