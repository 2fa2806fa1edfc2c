import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Reporter } from "@durable-payments/tools/command";
import {
  awaitTemporalServer,
  choosePort,
  ensureServer,
  temporalCli,
  temporalServerArguments,
} from "@durable-payments/tools/stack";
import { type Spawn, SupervisedProcess } from "./supervised-process.ts";
import type { TemporalServer } from "./temporal-server.ts";

/** SQLITE_BUSY, SQLITE_READONLY: the server was stopped, or killed, while it wrote. */
const WHILE_WRITING = new Set([5, 8]);

const isWhileWriting = (error: unknown): boolean =>
  // The lowest byte is the code; the others extend it.
  error instanceof Error && "errcode" in error && WHILE_WRITING.has(Number(error.errcode) & 0xff);

/**
 * Copy the database, as it is after a transaction. The server must be stopped: it does not wait for the
 * lock of a reader, and never recovers from a commit that one has made fail.
 *
 * @returns false where the server was stopped, or killed, while it wrote.
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

/** Files with what SQLite has not written into the database for good: of another one, once it is replaced. */
const LOGS = ["-journal", "-wal", "-shm"] as const;

const replaceDatabase = async (database: string, copy: string): Promise<void> => {
  for (const log of LOGS) await rm(`${database}${log}`, { force: true });
  await copyFile(copy, database);
};

/** The dev server, in one process, with its database in a file. */
export const createDevServer = async (
  folder: string,
  spawn: Spawn,
  report: Reporter,
): Promise<TemporalServer> => {
  const { path } = await ensureServer(temporalCli, report);
  const port = await choosePort({ option: "the Temporal server" }, report);
  const uiPort = await choosePort({ option: "the Web UI" }, report);
  const address = `127.0.0.1:${port}`;
  const database = join(folder, "temporal.sqlite");
  const copy = `${database}.copy`;
  const process = new SupervisedProcess({
    name: "the Temporal server",
    spawn: (start) =>
      spawn(`temporal-${start}`, path, [
        ...temporalServerArguments(port, uiPort),
        "--db-filename",
        database,
        "--log-level",
        "error",
      ]),
    ready: (started) => awaitTemporalServer(started, address),
  });
  return {
    addresses: [address],
    parts: [],
    get crashes() {
      return process.crashes;
    },
    start: () => process.start(),
    whenReady: (signal) => process.whenReady(signal),
    restart: (killSignal, planned) => process.restart(killSignal, planned),
    copyDatabase: async () => {
      let isCopied = false;
      await process.freeze(async () => {
        isCopied = await copyDatabase(database, copy);
      });
      return isCopied;
    },
    putBackDatabase: () => replaceDatabase(database, copy),
    end: () => process.end(),
  };
};
