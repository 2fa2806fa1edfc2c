import type { Pool, PoolClient } from "pg";
import { JournalUnavailable, newerVersion } from "./errors.ts";

/** The steps that make the tables, oldest first; a journal's version is the number of them it has. */
const MIGRATIONS: ReadonlyArray<string> = [
  `CREATE TABLE durable_payments.sends (
     account text NOT NULL,
     workflow_id text NOT NULL,
     step text NOT NULL,
     number integer NOT NULL,
     operation text NOT NULL,
     run_id text NOT NULL,
     request_key text,
     payload_hash text NOT NULL,
     amount text,
     currency text,
     is_undone boolean NOT NULL,
     begun_by text NOT NULL,
     begun_at bigint NOT NULL,
     outcome text NOT NULL,
     settled_at bigint,
     ids text NOT NULL,
     PRIMARY KEY (account, workflow_id, step, number)
   );
   CREATE INDEX sends_begun ON durable_payments.sends (account, begun_at);
   CREATE INDEX sends_made ON durable_payments.sends (account, operation, settled_at)
     WHERE outcome = 'carriedOut';
   CREATE TABLE durable_payments.key_echoes (
     account text NOT NULL,
     operation text NOT NULL,
     echo text NOT NULL,
     answers bigint NOT NULL,
     PRIMARY KEY (account, operation, echo)
   );
   CREATE TABLE durable_payments.list_lags (
     account text NOT NULL,
     list text NOT NULL,
     lag_ms bigint NOT NULL,
     PRIMARY KEY (account, list)
   );`,
  `ALTER TABLE durable_payments.sends ADD COLUMN made_id text;
   UPDATE durable_payments.sends SET made_id = CASE operation
     WHEN 'createPayout' THEN ids::json ->> 'payout_id'
     WHEN 'createCardholder' THEN ids::json ->> 'card_holder_id'
     WHEN 'createBeneficiary' THEN ids::json ->> 'beneficiary_id'
     WHEN 'createCard' THEN ids::json ->> 'card_id'
   END;
   CREATE INDEX sends_by_made_id ON durable_payments.sends (account, operation, made_id)
     WHERE made_id IS NOT NULL;`,
  `ALTER TABLE durable_payments.sends ADD COLUMN payee text;
   CREATE INDEX sends_by_payee ON durable_payments.sends (account, payee) WHERE payee IS NOT NULL;`,
];

/** Of all advisory locks of the database, that of these migrations: "DPJ1". */
const MIGRATION_LOCK = 0x44504a31;

const VERSION_TABLE = "durable_payments.schema_version";

const readVersion = async (client: Pool | PoolClient): Promise<number> => {
  // Not by its name as such: a connection may remember for a while that there was none.
  const table = await client.query(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'durable_payments' AND tablename = 'schema_version'",
  );
  if (table.rowCount === 0) return 0;
  const version = await client.query<{ readonly version: number }>(
    `SELECT max(version) AS version FROM ${VERSION_TABLE}`,
  );
  return version.rows[0]?.version ?? 0;
};

const migrate = async (client: PoolClient): Promise<void> => {
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  // Another worker may have done it meanwhile.
  const version = await readVersion(client);
  if (version === 0) {
    await client.query("CREATE SCHEMA IF NOT EXISTS durable_payments");
    await client.query(`CREATE TABLE ${VERSION_TABLE} (version integer PRIMARY KEY)`);
  }
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue;
    await client.query(migration);
    await client.query(`INSERT INTO ${VERSION_TABLE} VALUES ($1)`, [index + 1]);
  }
  await client.query("COMMIT");
};

/**
 * See to it that the tables are there, of this version, and that what is written is durable.
 *
 * @throws JournalUnavailable where they are of a later version, or commits do not wait for the disk.
 */
export const preparePostgres = async (pool: Pool, place: string): Promise<void> => {
  const durable = await pool.query<{ readonly commit: string }>(
    "SELECT current_setting('synchronous_commit') AS commit",
  );
  if (durable.rows[0]?.commit === "off") {
    throw new JournalUnavailable(
      `the journal at ${place} would not be durable, because synchronous_commit is off: set it to on for this user (ALTER ROLE … SET synchronous_commit = on)`,
    );
  }
  const version = await readVersion(pool);
  if (version > MIGRATIONS.length) {
    throw newerVersion(`the journal at ${place}`, version, MIGRATIONS.length);
  }
  if (version === MIGRATIONS.length) return;
  const client = await pool.connect();
  try {
    await migrate(client);
    client.release();
  } catch (error) {
    // Its transaction ends with it.
    client.release(true);
    throw error;
  }
};
