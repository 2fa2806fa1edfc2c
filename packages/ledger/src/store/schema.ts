import { LedgerUnavailable } from "../errors.ts";
import type { JsonObject, WriteRow, WriteState } from "../model/row.ts";
import type { Batch, BatchRowState } from "./batches.ts";
import type { Limits, Pause, Wait } from "./ledger.ts";
import {
  json,
  jsonOrNull,
  number,
  numberOrNull,
  oneOf,
  oneOfOrNull,
  sealed,
  sealedJsonOrNull,
  sealedOrNull,
  Table,
  text,
  textOrNull,
  yesNo,
} from "./table.ts";

/** What is in columns of a row of a write as it is there. */
export const ROW = {
  workflowId: text,
  step: text,
  account: text,
  version: number,
  operation: text,
  state: oneOf<WriteState>(),
  generation: number,
  doubt: number,
  madeId: textOrNull,
  runId: text,
  isUntold: yesNo,
  createdAt: number,
  changedAt: number,
};

/** What is in columns of its request. */
export const REQUEST = {
  hash: text,
  amount: textOrNull,
  currency: textOrNull,
  payee: textOrNull,
  reference: textOrNull,
};

/** What no query asks for: one sealed column. */
export type Rest = Omit<WriteRow, keyof typeof ROW | "request"> & { readonly facts: JsonObject };

export const WRITES = new Table(
  "writes",
  {
    ...ROW,
    ...REQUEST,
    madeFor: text,
    questionId: textOrNull,
    questionKind: oneOfOrNull<"outcome" | "approval">(),
    isOpen: yesNo,
    rest: sealedJsonOrNull<Rest>(),
  },
  ["workflowId", "step", "account"],
);

export const META = new Table(
  "meta",
  {
    id: number,
    ledgerId: text,
    server: text,
    former: json<ReadonlyArray<string>>(),
    suspects: json<ReadonlyArray<string>>(),
    seenEpoch: number,
    namespace: textOrNull,
    epoch: number,
    leastBuild: number,
    stopped: textOrNull,
  },
  ["id"],
);

export const LIMITS = new Table(
  "limits",
  {
    account: text,
    maxAmounts: jsonOrNull<NonNullable<Limits["maxAmounts"]>>(),
    approveAbove: jsonOrNull<NonNullable<Limits["approveAbove"]>>(),
  },
  ["account"],
);

/** The log without its numbers. A body is sealed before it is hashed: here it is text. */
export const LINE = {
  at: number,
  account: text,
  workflowId: text,
  step: textOrNull,
  runId: textOrNull,
  generation: numberOrNull,
  isDecision: number,
  kind: text,
  body: text,
  hash: text,
};

export const logTable = (sequence: string) =>
  new Table("log", { sequence: { ...number, type: sequence }, ...LINE }, []);

export const RUNS = new Table(
  "runs",
  {
    workflowId: text,
    account: textOrNull,
    runId: textOrNull,
    type: text,
    startedBy: textOrNull,
    batch: textOrNull,
    batchRow: numberOrNull,
    amount: textOrNull,
    currency: textOrNull,
    payee: textOrNull,
    reference: textOrNull,
    startedAt: number,
  },
  ["workflowId"],
);

export const PAUSES = new Table(
  "pauses",
  { scope: oneOf<Pause["scope"]>(), of: text, by: text, reason: sealed, since: number },
  ["scope", "of"],
);

export const WAITS = new Table(
  "waits",
  {
    account: text,
    workflowId: text,
    runId: text,
    activityId: text,
    kind: oneOf<Wait["kind"]>(),
    thing: text,
    since: number,
    closedAt: numberOrNull,
    outcome: sealedJsonOrNull<JsonObject>(),
  },
  ["workflowId", "runId", "activityId", "account"],
);

export const LEASES = new Table("leases", { name: text, holder: text, until: number }, ["name"]);

export const BATCHES = new Table(
  "batches",
  {
    id: text,
    account: text,
    type: text,
    file: text,
    fileHash: text,
    contentHash: text,
    rows: number,
    state: oneOf<Batch["state"]>(),
    createdBy: text,
    createdAt: number,
    approvedBy: textOrNull,
    details: sealed,
  },
  ["id"],
);

export const BATCH_ROWS = new Table(
  "batch_rows",
  {
    batch: text,
    number,
    workflowId: text,
    fingerprint: text,
    amount: textOrNull,
    currency: textOrNull,
    reference: textOrNull,
    payee: textOrNull,
    state: oneOf<BatchRowState>(),
    message: sealedOrNull,
  },
  ["batch", "number"],
);

/**
 * The steps that make the tables, oldest first; a ledger's version is the number of them that it has. From the first
 * release on, the text of a step stays as it is.
 *
 * @param sequence type of the column that numbers the log.
 */
export const migrations = (sequence: string): ReadonlyArray<ReadonlyArray<string>> => [
  [
    ...[WRITES, META, LIMITS, logTable(sequence), RUNS, PAUSES, WAITS, LEASES, BATCHES].map(
      ({ schema }) => schema,
    ),
    BATCH_ROWS.schema,
    // For a beneficiary `made_for` names the write, so that several may have made the same.
    `CREATE UNIQUE INDEX writes_made ON writes (account, operation, made_id, made_for) WHERE made_id IS NOT NULL`,
    `CREATE INDEX writes_open ON writes (changed_at) WHERE is_open = 1`,
    `CREATE INDEX writes_request ON writes (hash)`,
    `CREATE INDEX writes_payee ON writes (payee) WHERE payee IS NOT NULL`,
    `CREATE INDEX log_of ON log (workflow_id, sequence)`,
    `CREATE INDEX log_decisions ON log (workflow_id, sequence) WHERE is_decision = 1`,
    `CREATE INDEX runs_payee ON runs (payee) WHERE payee IS NOT NULL`,
    `CREATE INDEX runs_started ON runs (started_at)`,
    `CREATE INDEX waits_open ON waits (since) WHERE closed_at IS NULL`,
    `CREATE INDEX batch_rows_fingerprint ON batch_rows (fingerprint)`,
  ],
];

/** Returns the error of a ledger that only a later version can read. */
export const newerVersion = (place: string, version: number, known: number): LedgerUnavailable =>
  new LedgerUnavailable(
    `the ledger at ${place} is of version ${version}, and this version of durable-payments knows ${known} at most: run the later version that wrote it`,
  );
