import { type Postgres, startPostgres } from "@durable-payments/tools/postgres";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ledger, type LedgerOptions, openLedger, readLedgerPlace } from "../../src/index.ts";

export const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), "ledger-"));

/** A server of a test file, with a database for each test. */
export interface TestServer extends Postgres {
  /** Creates a database with settings of its own, and returns its address. */
  readonly create: (name: string, ...settings: ReadonlyArray<string>) => Promise<string>;
  /** Returns what it has logged. */
  readonly log: () => Promise<string>;
}

/** Starts a server with its data in a temporary folder, which is removed when it stops. */
export const startServer = async (): Promise<TestServer> => {
  const folder = await temporaryFolder();
  const server = await startPostgres(folder);
  return {
    ...server,
    create: async (name, ...settings) => {
      await server.sql("postgres", `CREATE DATABASE ${name}`);
      for (const one of settings) await server.sql("postgres", `ALTER DATABASE ${name} SET ${one}`);
      return server.address(name);
    },
    log: () => readFile(join(folder, "postgres", "log"), "utf8"),
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
};

/** Opens the ledger at an address. */
export const openAt = (address: string, options?: LedgerOptions): Promise<Ledger> =>
  openLedger(readLedgerPlace(address, ""), options);
