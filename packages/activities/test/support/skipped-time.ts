import { type Ledger, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import type { Postgres } from "@durable-payments/tools/postgres";
import { randomBytes } from "node:crypto";

/** A ledger whose clock a test sets ahead. */
export interface SkippedTime {
  /** Its clock. */
  readonly now: () => number;
  /** Opens it, any number of times. The caller closes it. */
  readonly open: () => Promise<Ledger>;
  readonly skip: (ms: number) => Promise<void>;
}

/** A ledger in memory: all who open it share one. */
export const timeInMemory = async (): Promise<SkippedTime> => {
  let skipped = 0;
  const now = () => Date.now() + skipped;
  const ledger = await openLedger("memory", { clock: now });
  return { now, open: async () => ledger, skip: async (ms) => void (skipped += ms) };
};

/** PostgreSQL keeps its own time, so a database gets another clock in the place of the system's function. */
const OTHER_CLOCK = `
  CREATE TABLE skipped AS SELECT interval '0' AS time;
  SET allow_system_table_mods = on;
  ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO server_clock_timestamp;
  CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT pg_catalog.server_clock_timestamp() + time FROM public.skipped'`;

/** A ledger in a database of its own: each who opens it has connections of its own. */
export const timeInPostgres = async (server: Postgres): Promise<SkippedTime> => {
  let skipped = 0;
  const database = `ledger_${randomBytes(4).toString("hex")}`;
  await server.sql("postgres", `CREATE DATABASE ${database}`);
  await server.sql(database, OTHER_CLOCK);
  return {
    now: () => Date.now() + skipped,
    open: () => openLedger(readLedgerPlace(server.address(database), "")),
    skip: async (ms) => {
      await server.sql(database, `UPDATE skipped SET time = time + interval '${ms} milliseconds'`);
      skipped += ms;
    },
  };
};
