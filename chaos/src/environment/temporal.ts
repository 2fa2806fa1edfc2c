import { globSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Reporter } from "@durable-payments/tools/command";
import { ensureServer, temporalCli } from "@durable-payments/tools/servers";
import {
  awaitTemporalServer,
  choosePort,
  temporalServerArguments,
  type Spawn,
} from "@durable-payments/tools/stack";
import { supervise } from "./supervised-process.ts";

/**
 * Replaces a SQLite database by another one, or removes it; no process may write to either. Their logs hold changes that
 * SQLite has not yet written into the databases.
 */
export const replaceDatabase = async (database: string, by?: string): Promise<void> => {
  for (const file of globSync(`${database}{,-*}`)) await rm(file);
  for (const file of by === undefined ? [] : globSync(`${by}{,-*}`)) {
    // Shared memory is only an index of the log: SQLite makes another.
    if (!file.endsWith("-shm")) await copyFile(file, database + file.slice(by?.length));
  }
};

/** Makes Temporal's dev server in one process, with its database in a file. It is not started yet. */
export const createTemporalServer = async (folder: string, spawn: Spawn, report: Reporter) => {
  const { path } = await ensureServer(temporalCli, report);
  const port = await choosePort();
  const address = `127.0.0.1:${port}`;
  const database = join(folder, "temporal.sqlite");
  const copy = join(folder, "temporal-copy.sqlite");
  const args = temporalServerArguments(port, await choosePort());
  args.push("--db-filename", database, "--log-level", "error");
  const process = supervise(
    "the Temporal server",
    (start) => spawn(`temporal-${start}`, path, args),
    (started) => awaitTemporalServer(started, address),
  );
  return {
    address,
    process,
    /** Copies the database as a machine that lost its power would leave it; false if the server is down. */
    copyDatabase: () => process.freeze(() => replaceDatabase(copy, database)),
    /** Replaces the database by the copy, or by nothing if there is none, while the server is down. */
    restoreDatabase: () => replaceDatabase(database, copy),
  };
};
