/**
 * The migrations of the ledger's tables: each version's tables and indexes.
 *
 * An index is part of a promise: a list, a sum or a sweep reads what it returns, and not a million rows that it passes over.
 * Tests read the plans of the statements, so an index that no statement uses is left out.
 */
import { feedSchema, type TriggerDialect } from "./feed-schema.ts";
import {
  BATCH_ROWS,
  BATCHES,
  LEASES,
  logTable,
  META,
  OF_CARDHOLDERS,
  PAUSES,
  PAYEES,
  RUNS,
  WAITS,
  WRITES,
} from "./schema.ts";

/** Two writes never own the same payout, cardholder or card. Beneficiaries are reused, so several writes may own one. */
const MADE_FOR = ["workflow_id", "step"]
  .map(
    (name) =>
      `(CASE WHEN operation IN ('createPayout', 'createCardholder', 'createCard') THEN '' ELSE ${name} END)`,
  )
  .join(", ");

/** A change of the tables. */
export interface Migration {
  /** The least version of the code that works with the tables after it: an additive migration keeps the one before. */
  readonly least: number;
  readonly statements: ReadonlyArray<string>;
}

/** Migrations of the tables, oldest first; their number is the version. After the first release, none ever changes. */
export const migrations = (
  sequence: string,
  triggers: TriggerDialect,
): ReadonlyArray<Migration> => [
  {
    least: 1,
    statements: [
      "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, least INTEGER NOT NULL)",
      ...[WRITES, META, logTable(sequence), RUNS, PAUSES, WAITS, PAYEES, LEASES, BATCHES].map(
        ({ schema }) => schema,
      ),
      BATCH_ROWS.schema,
      ...feedSchema(sequence, triggers),
      `CREATE UNIQUE INDEX writes_made ON writes (made_id, operation, account, ${MADE_FOR}) WHERE made_id IS NOT NULL`,
    ],
  },
  {
    least: 1,
    statements: [
      `CREATE INDEX writes_open ON writes (account, changed_at) WHERE is_open = 1`,
      `CREATE INDEX writes_to_notify ON writes (account, changed_at) WHERE must_notify = 1`,
      `CREATE INDEX writes_due ON writes (account, read_after) WHERE read_after IS NOT NULL AND standing = 'made'`,
      `CREATE INDEX writes_watched ON writes (account, read_after) WHERE read_after IS NOT NULL AND standing <> 'made'`,
      `CREATE INDEX writes_asks ON writes (account) WHERE word_asks = 1`,
      `CREATE INDEX writes_made_at ON writes (account, changed_at) WHERE standing = 'made'`,
      // Every column that sums read: see list-runs.ts.
      `CREATE INDEX writes_paid ON writes (created_at, operation, standing, currency, payee, account, amount) WHERE amount IS NOT NULL`,
      `CREATE INDEX writes_payouts ON writes (account, created_at) WHERE operation = 'createPayout' AND made_id IS NOT NULL`,
      `CREATE INDEX writes_cardholders ON writes (account) WHERE ${OF_CARDHOLDERS}`,
      `CREATE INDEX writes_owner ON writes (owner_id, operation, standing, currency, payee, account, created_at, amount)`,
      `CREATE INDEX writes_root ON writes (root_id) WHERE root_id <> workflow_id`,
      `CREATE INDEX writes_request ON writes (hash)`,
      `CREATE INDEX writes_payee ON writes (payee) WHERE payee IS NOT NULL`,
      `CREATE INDEX log_of ON log (workflow_id, sequence)`,
      `CREATE INDEX log_words ON log (account) WHERE kind = 'word'`,
      `CREATE INDEX writes_decided ON writes (account, decided_word) WHERE decided_word IS NOT NULL`,
      `CREATE INDEX log_limits ON log (account) WHERE kind = 'limits'`,
      `CREATE INDEX log_decisions ON log (workflow_id, sequence) WHERE kind <> ''`,
      `CREATE INDEX runs_payee ON runs (payee) WHERE payee IS NOT NULL`,
      `CREATE INDEX runs_alias ON runs (alias) WHERE alias IS NOT NULL`,
      `CREATE INDEX runs_started ON runs (started_at, workflow_id)`,
      `CREATE INDEX runs_status ON runs (status, started_at, workflow_id)`,
      `CREATE INDEX runs_listed ON runs (workflow_id, status, batch, type, started_at)`,
      // Looked for in each sweep, and nearly always empty.
      `CREATE INDEX runs_forgotten ON runs (account, started_at, workflow_id) WHERE planned = 'unknown'`,
      `CREATE INDEX runs_planned ON runs (started_at) WHERE planned IS NOT NULL`,
      // Things that need a person, among a million payouts that do not: see attention.ts.
      `CREATE INDEX writes_unreadable ON writes (standing) WHERE standing = 'made' AND problem IS NOT NULL`,
      `CREATE INDEX writes_late ON writes (payment_date) WHERE standing = 'made' AND payment_date IS NOT NULL`,
      `CREATE INDEX writes_unlisted ON writes (changed_at) WHERE standing = 'made' AND word_unlisted = 1`,
      `CREATE INDEX runs_open_of ON runs (account) WHERE end_state IS NULL`,
      `CREATE INDEX runs_failed_at ON runs (ended_at, account, status) WHERE status IN ('failed', 'timedOut', 'terminated')`,
      `CREATE INDEX writes_returned ON writes (outcome_at) WHERE standing = 'returned'`,
      `CREATE INDEX runs_failed ON runs (workflow_id) WHERE end_type IS NOT NULL`,
      // Every column that groups of failed runs read: see failure-groups.ts.
      `CREATE INDEX runs_groups ON runs (type, end_group, ended_at, currency, amount, planned, status) WHERE status IN ('failed', 'timedOut', 'terminated')`,
      `CREATE INDEX runs_open ON runs (workflow_id) WHERE end_state IS NULL OR end_state = 'missing'`,
      `CREATE INDEX runs_overdue ON runs (started_at) WHERE end_state IS NULL`,
      `CREATE INDEX runs_batch ON runs (batch) WHERE batch IS NOT NULL`,
      // The kind, so that they are counted by the index alone.
      `CREATE INDEX waits_open ON waits (account, since, kind) WHERE closed_at IS NULL`,
      `CREATE INDEX batches_state ON batches (state, created_at DESC, id)`,
      `CREATE INDEX waits_due ON waits (account, kind, read_after) WHERE closed_at IS NULL AND read_after IS NOT NULL`,
      `CREATE INDEX waits_left ON waits (account, since) WHERE closed_at IS NULL AND is_left = 1`,
      `CREATE INDEX waits_for ON waits (account, thing) WHERE closed_at IS NULL AND kind = 'payout'`,
      `CREATE INDEX batches_to_notify ON batches (created_at) WHERE notify_of IS NOT NULL`,
      `CREATE INDEX batch_rows_waiting ON batch_rows (batch, number) WHERE state = 'waiting'`,
      `CREATE INDEX batch_rows_fingerprint ON batch_rows (fingerprint)`,
      `CREATE INDEX batch_rows_id ON batch_rows (workflow_id)`,
    ],
  },
];

/** Version of the tables that this code knows. */
export const SCHEMA_VERSION = migrations("", { now: "", trigger: () => "" }).length;
