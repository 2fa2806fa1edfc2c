import { LedgerUnavailable } from "../errors.ts";

/** What the two databases call by other names. */
export interface SchemaNames {
  /** Type of the column that numbers the log. */
  readonly sequence: string;
}

/** Operations that make something new each time: two writes never own the same. Beneficiaries are reused. */
export const MAKES_ITS_OWN: ReadonlySet<string> = new Set([
  "createPayout",
  "createCardholder",
  "createCard",
]);

/** The steps that make the tables, oldest first; a ledger's version is the number of them that it has. */
export const migrations = ({ sequence }: SchemaNames): ReadonlyArray<ReadonlyArray<string>> => [
  [
    `CREATE TABLE meta (
      id BIGINT PRIMARY KEY,
      ledger_id TEXT NOT NULL,
      server TEXT NOT NULL,
      former TEXT NOT NULL,
      suspects TEXT NOT NULL,
      seen_epoch BIGINT NOT NULL,
      namespace TEXT,
      epoch BIGINT NOT NULL,
      least_build BIGINT NOT NULL,
      stopped TEXT
    )`,
    `CREATE TABLE limits (account TEXT PRIMARY KEY, max_amounts TEXT, approve_above TEXT)`,
    `CREATE TABLE writes (
      workflow_id TEXT NOT NULL,
      step TEXT NOT NULL,
      account TEXT NOT NULL,
      version BIGINT NOT NULL,
      operation TEXT NOT NULL,
      state TEXT NOT NULL,
      generation BIGINT NOT NULL,
      doubt BIGINT NOT NULL,
      made_id TEXT,
      made_for TEXT,
      request_hash TEXT NOT NULL,
      amount TEXT,
      currency TEXT,
      payee TEXT,
      reference TEXT,
      run_id TEXT NOT NULL,
      question_id TEXT,
      question_kind TEXT,
      is_untold BIGINT NOT NULL,
      is_open BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL,
      rest TEXT,
      PRIMARY KEY (workflow_id, step, account)
    )`,
    // For a beneficiary `made_for` names the write, so that several may have made the same.
    `CREATE UNIQUE INDEX writes_made ON writes (account, operation, made_id, made_for) WHERE made_id IS NOT NULL`,
    `CREATE INDEX writes_open ON writes (changed_at) WHERE is_open = 1`,
    `CREATE INDEX writes_request ON writes (request_hash)`,
    `CREATE INDEX writes_payee ON writes (payee) WHERE payee IS NOT NULL`,
    `CREATE TABLE log (
      sequence ${sequence},
      at BIGINT NOT NULL,
      account TEXT NOT NULL,
      workflow_id TEXT NOT NULL,
      step TEXT,
      run_id TEXT,
      generation BIGINT,
      is_decision BIGINT NOT NULL,
      kind TEXT NOT NULL,
      body TEXT NOT NULL,
      hash TEXT NOT NULL
    )`,
    `CREATE INDEX log_of ON log (workflow_id, sequence)`,
    `CREATE INDEX log_decisions ON log (workflow_id, sequence) WHERE is_decision = 1`,
    `CREATE TABLE runs (
      workflow_id TEXT PRIMARY KEY,
      account TEXT,
      run_id TEXT,
      type TEXT NOT NULL,
      started_by TEXT,
      batch TEXT,
      batch_row BIGINT,
      amount TEXT,
      currency TEXT,
      payee TEXT,
      reference TEXT,
      started_at BIGINT NOT NULL
    )`,
    `CREATE INDEX runs_payee ON runs (payee) WHERE payee IS NOT NULL`,
    `CREATE INDEX runs_started ON runs (started_at)`,
    `CREATE TABLE pauses (
      scope TEXT NOT NULL,
      of TEXT NOT NULL,
      made_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      since BIGINT NOT NULL,
      PRIMARY KEY (scope, of)
    )`,
    `CREATE TABLE waits (
      account TEXT NOT NULL,
      workflow_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      activity_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      thing TEXT NOT NULL,
      since BIGINT NOT NULL,
      closed_at BIGINT,
      outcome TEXT,
      PRIMARY KEY (workflow_id, run_id, activity_id, account)
    )`,
    `CREATE INDEX waits_open ON waits (since) WHERE closed_at IS NULL`,
    `CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL)`,
    `CREATE TABLE batches (
      id TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      type TEXT NOT NULL,
      file TEXT NOT NULL,
      file_hash TEXT NOT NULL,
      content_hash TEXT NOT NULL,
      rows_in_all BIGINT NOT NULL,
      state TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      approved_by TEXT,
      details TEXT NOT NULL
    )`,
    `CREATE TABLE batch_rows (
      batch TEXT NOT NULL,
      number BIGINT NOT NULL,
      workflow_id TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      amount TEXT,
      currency TEXT,
      reference TEXT,
      payee TEXT,
      state TEXT NOT NULL,
      message TEXT,
      PRIMARY KEY (batch, number)
    )`,
    `CREATE INDEX batch_rows_fingerprint ON batch_rows (fingerprint)`,
  ],
];

/** Returns the error of a ledger that only a later version can read. */
export const newerVersion = (place: string, version: number, known: number): LedgerUnavailable =>
  new LedgerUnavailable(
    `the ledger at ${place} is of version ${version}, and this version of durable-payments knows ${known} at most: run the later version that wrote it`,
  );
