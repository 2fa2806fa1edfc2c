import { globSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Reporter } from "@durable-payments/tools/command";
import { ensureServer, temporalCli } from "@durable-payments/tools/servers";
import {
  awaitTemporalServer,
  choosePort,
  temporalServerArguments,
} from "@durable-payments/tools/stack";
import { type Spawn, SupervisedProcess } from "./supervised-process.ts";

/** SQLITE_BUSY, SQLITE_READONLY: the server was stopped, or killed, while it wrote. */
const WHILE_WRITING = new Set([5, 8]);

const isWhileWriting = (error: unknown): boolean =>
  // The lowest byte is the code; the others extend it.
  error instanceof Error && "errcode" in error && WHILE_WRITING.has(Number(error.errcode) & 0xff);

/**
 * Copies a database after a transaction. The server must be stopped: it does not wait for the lock of a reader, and
 * never recovers from a commit that a reader has made fail.
 *
 * @returns false if the server was stopped, or killed, while it wrote.
 */
const copyDatabase = async (database: string, copy: string): Promise<boolean> => {
  await rm(copy, { force: true });
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    // Takes the lock of a reader, or throws at once.
    source.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
    await backup(source, copy);
    return true;
  } catch (error) {
    if (!isWhileWriting(error)) throw error;
    return false;
  } finally {
    source.close();
  }
};

/** Replaces a SQLite database by a copy, or removes it; nothing may have it open. */
export const replaceDatabase = async (database: string, copy?: string): Promise<void> => {
  // Its logs as well: they hold changes that SQLite has not yet written into the old database.
  for (const file of globSync(`${database}{,-*}`)) await rm(file, { force: true });
  if (copy !== undefined) await copyFile(copy, database);
};

/** Temporal's dev server, in one process, with its database in a file. */
export interface TemporalServer {
  readonly address: string;
  readonly process: SupervisedProcess;
  /** Copies the database while it is in use; false if that is not possible now. */
  readonly copyDatabase: () => Promise<boolean>;
  /** Replaces the database by the copy, while the server is down. */
  readonly restoreDatabase: () => Promise<void>;
}

/** Makes the dev server of a campaign, which is not started yet. */
export const createTemporalServer = async (
  folder: string,
  spawn: Spawn,
  report: Reporter,
): Promise<TemporalServer> => {
  const { path } = await ensureServer(temporalCli, report);
  const port = await choosePort();
  const uiPort = await choosePort();
  const address = `127.0.0.1:${port}`;
  const database = join(folder, "temporal.sqlite");
  const copy = `${database}.copy`;
  const args = [...temporalServerArguments(port, uiPort), "--db-filename", database];
  const process = new SupervisedProcess({
    name: "the Temporal server",
    spawn: (start) => spawn(`temporal-${start}`, path, [...args, "--log-level", "error"]),
    ready: (started) => awaitTemporalServer(started, address),
  });
  return {
    address,
    process,
    copyDatabase: async () => {
      let isCopied = false;
      await process.freeze(async () => {
        isCopied = await copyDatabase(database, copy);
      });
      return isCopied;
    },
    restoreDatabase: () => replaceDatabase(database, copy),
  };
};
