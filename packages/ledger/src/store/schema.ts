import type { EndState, JsonObject, WriteRow, WriteState } from "../model/row.ts";
import type { Standing } from "../model/standing.ts";
import * as column from "./column.ts";
import { type RowOf, Table } from "./table.ts";

/** Fields of a write that are columns of their own. */
export const ROW = {
  workflowId: column.text,
  step: column.text,
  account: column.text,
  ownerId: column.text,
  rootId: column.text,
  version: column.number,
  operation: column.text,
  state: column.oneOf<WriteState>(),
  generation: column.number,
  doubt: column.number,
  madeId: column.textOrNull,
  runId: column.text,
  mustNotify: column.yesNo,
  createdAt: column.number,
  changedAt: column.number,
};

/** Fields of its request that are columns. */
export const REQUEST = {
  hash: column.text,
  terms: column.text,
  amount: column.textOrNull,
  currency: column.textOrNull,
  payee: column.textOrNull,
  reference: column.textOrNull,
  paymentDate: column.textOrNull,
};

/** Facts of a write besides its row: most of them of a payout, as the service shows it. */
export const SEEN = {
  standing: column.oneOf<Standing>(),
  /** The service's last word for its status. */
  word: column.textOrNull,
  /** When the word was first seen: milliseconds since 1970 by the ledger's clock. */
  wordSince: column.numberOrNull,
  /** Whether a person is asked what the word means. */
  wordAsks: column.orNull(column.yesNo),
  /** Whether no setting lists the word, and no decision says what it means. */
  wordUnlisted: column.orNull(column.yesNo),
  /** The word, in small letters, that a person has given this meaning; null if a setting lists it. */
  decidedWord: column.textOrNull,
  /** Why the service refuses to show it. */
  problem: column.orNull(column.sealed(column.text)),
  /** When its outcome was seen: milliseconds since 1970 by the ledger's clock. */
  outcomeAt: column.numberOrNull,
  /** When it is read at the service next, by the same clock; null if nothing remains to be seen. See reading-schedule.ts. */
  readAfter: column.numberOrNull,
};

/** Why it asks, was refused or was ended: a column of its own, so that an event copies it. */
const REASON = { reason: column.orNull(column.sealed(column.text)) };

/** Fields that no query needs: one sealed column. */
export type Rest = Omit<WriteRow, keyof typeof ROW | "request"> & { readonly facts: JsonObject };

export const WRITES = new Table(
  "writes",
  {
    ...ROW,
    ...REQUEST,
    ...SEEN,
    questionKind: column.orNull(column.oneOf<"outcome" | "approval">()),
    isOpen: column.yesNo,
    ...REASON,
    rest: column.orNull(column.sealed(column.json<Rest>())),
  },
  ["workflowId", "step", "account"],
);

/** Writes about cardholders and their cards. An index has these alone, so a query has the same text. */
export const OF_CARDHOLDERS =
  "operation IN ('createCardholder', 'createCard', 'removeCardholder', 'cancelCard')";

export const META = new Table(
  "meta",
  {
    id: column.number,
    ledgerId: column.text,
    server: column.text,
    former: column.json<ReadonlyArray<string>>(),
    suspects: column.json<ReadonlyArray<string>>(),
    seenEpoch: column.number,
    /** Null until a worker pins it. */
    namespace: column.textOrNull,
    epoch: column.number,
    /** The reason why nothing is sent until `recover`. */
    stopped: column.textOrNull,
    /** When the latest restore was noticed. */
    restoredAt: column.numberOrNull,
    /** Whether the latest recovery was of a ledger that had less than its witness, and not of Temporal alone. */
    wasBehind: column.yesNo,
    /** See `openMarks`; null if the ledger is not encrypted. */
    markKey: column.textOrNull,
  },
  ["id"],
);

/** The log without its numbers. A body is sealed before it is hashed: here it is text. */
export const LINE = {
  at: column.number,
  account: column.text,
  workflowId: column.text,
  step: column.textOrNull,
  runId: column.textOrNull,
  generation: column.numberOrNull,
  /** The decision of a person; empty for an entry. */
  kind: column.text,
  body: column.text,
  hash: column.text,
};

export const logTable = (sequence: string) =>
  new Table("log", { sequence: { ...column.number, type: sequence }, ...LINE }, []);

/** Status of a workflow id. */
export type RunStatus =
  /** A person is asked for the outcome of a write. */
  | "asking"
  /** A second person must approve a write. */
  | "approval"
  /** The outcome of a write is not known. */
  | "unknown"
  /** Money of it came back. */
  | "returned"
  /** Waits for a payout, a verification or funds. */
  | "waiting"
  | "running"
  /** Stopped by a person. */
  | "ended"
  | EndState;

/** Standing of a payment that has no write: what a write would have. */
export type PlannedStanding = Extract<Standing, "open" | "stopped" | "unknown">;

/** Facts of a failure besides its type and step, by which its retry is planned. */
export interface EndFacts {
  /** Workflow id of the failed write, and its version then. */
  readonly workflowId?: string;
  readonly version?: number;
  /** In the service's words. */
  readonly reason?: string;
}

export const RUNS = new Table(
  "runs",
  {
    workflowId: column.text,
    account: column.textOrNull,
    runId: column.textOrNull,
    type: column.text,
    startedBy: column.orNull(column.sealed(column.text)),
    batch: column.textOrNull,
    batchRow: column.numberOrNull,
    /** The payment, for lists and for the check of likely duplicates. */
    amount: column.textOrNull,
    currency: column.textOrNull,
    payee: column.textOrNull,
    /** A second mark of the payee: of an account by its number and country, of a person by the email. */
    alias: column.textOrNull,
    /** The description of the payee as its own input names it: see `PAYEES`. */
    namedAs: column.textOrNull,
    reference: column.textOrNull,
    startedAt: column.number,
    /** How its latest run has ended; null while it is open. */
    endState: column.orNull(column.oneOf<EndState>()),
    endedAt: column.numberOrNull,
    /** Type of its failure. */
    endType: column.textOrNull,
    /** Message of its failure. */
    endReason: column.orNull(column.sealed(column.text)),
    /** The step that failed; see `readFailure`. */
    endStep: column.textOrNull,
    /** The facts of the failure that decide about a retry. */
    endFacts: column.orNull(column.sealed(column.json<EndFacts>())),
    /** Names failures of one step, type and message without ids, numbers and amounts. See failure-groups.ts. */
    endGroup: column.textOrNull,
    /** Whether a stop order holds. */
    isStopped: column.yesNo,
    /** Standing of the payment that it plans; null once it has a write that moves money. See run-status.ts. */
    planned: column.orNull(column.oneOf<PlannedStanding>()),
    /** Follows from its writes, waits and end: see run-status.ts. */
    status: column.oneOf<RunStatus>(),
  },
  ["workflowId"],
);
/** A run, as recorded by its starter or its first activity. */
export type Run = RowOf<typeof RUNS.fields>;

export const PAUSES = new Table(
  "pauses",
  {
    /** Everything, one batch, or one workflow id. */
    scope: column.oneOf<"all" | "batch" | "run">(),
    /** Id of the batch, or the workflow id; empty if everything is paused. */
    of: column.text,
    by: column.sealed(column.text),
    reason: column.sealed(column.text),
    since: column.number,
  },
  ["scope", "of"],
);
/** A pause: its reason and its person. */
export type Pause = RowOf<typeof PAUSES.fields>;

export const WAITS = new Table(
  "waits",
  {
    account: column.text,
    workflowId: column.text,
    runId: column.text,
    /** `awaitPayout:<payout_id>`. */
    activityId: column.text,
    kind: column.oneOf<"payout" | "return" | "cardholder" | "balance">(),
    /** payout_id, card_holder_id, or currency. */
    thing: column.text,
    /** Milliseconds since 1970 by the ledger's clock. */
    since: column.number,
    /** When its object is read next, by the same clock; null if the schedule of a payout in the ledger says so. */
    readAfter: column.numberOrNull,
    /** Whether its run has ended while it was open. */
    isLeft: column.yesNo,
    closedAt: column.numberOrNull,
    /** The outcome in one word, for events; null if there is none. */
    endedAs: column.textOrNull,
    outcome: column.orNull(column.sealed(column.json<JsonObject>())),
  },
  ["workflowId", "runId", "activityId", "account"],
);
/** A wait of a run for the service, until the tracker completes its activity; and its outcome. */
export type RecordedWait = RowOf<typeof WAITS.fields>;

export const PAYEES = new Table(
  "payees",
  {
    account: column.text,
    /** A `beneficiary_id`, the mark of a person, or the mark of an account and its holder: see `descriptionOf`. */
    payee: column.text,
    /** Mark of the account or the person: the same for each id and each holder of one account. */
    mark: column.textOrNull,
    /** Name, country and last four characters of the account, or the name of a person. */
    shown: column.sealed(column.text),
    seenAt: column.number,
  },
  ["account", "payee"],
);
/** Description of a payee. */
export type Payee = RowOf<typeof PAYEES.fields>;

export const LEASES = new Table(
  "leases",
  { name: column.text, holder: column.text, until: column.number },
  ["name"],
);

export const BATCHES = new Table(
  "batches",
  {
    id: column.text,
    account: column.text,
    /** The workflow type that its rows start. */
    type: column.text,
    file: column.text,
    /** Hash of everything that its rows send: an approval names it. */
    contentHash: column.text,
    rows: column.number,
    /** Workflows that start its rows: see `chunkId`. */
    chunks: column.number,
    /** `reading`: the worker reads the payees before it waits for approval. */
    state: column.oneOf<
      "uploading" | "reading" | "needsApproval" | "approved" | "rejected" | "cancelled" | "finished"
    >(),
    createdBy: column.sealed(column.text),
    /** Milliseconds since 1970 by the ledger's clock; set by the store. */
    createdAt: column.number,
    approvedBy: column.orNull(column.sealed(column.text)),
    /** Further data, sealed if there is a keyring. */
    details: column.sealed(column.text),
    /** Milliseconds since 1970 by the ledger's clock; set by the store. */
    finishedAt: column.numberOrNull,
    /** Names the last decision of which its workflows have not been notified; set by the store. */
    notifyOf: column.numberOrNull,
  },
  ["id"],
);
/** A file of payments or cardholders; or a repair, whose rows are failed runs. */
export type Batch = RowOf<typeof BATCHES.fields>;

/** The state of a row in its file. The outcome of a started row follows from its run. */
export type BatchRowState =
  /** Uploaded, and not started. */
  | "waiting"
  /** Not started: a person rejected it, or it was invalid. */
  | "rejected"
  /** Not started: an earlier file has it. */
  | "covered"
  /** Its run was started, or is about to be. */
  | "started";

/** How a repair retries one run, as it was decided. */
export interface RowRepair {
  /** The step from which it continues. */
  readonly from?: string;
  /** The body of its amendment's decision; `hash` is that of the amended input. */
  readonly amend?: JsonObject & { readonly hash: string };
  /** The payment of the amended input. */
  readonly planned?: Pick<Run, "alias" | "amount" | "currency" | "payee" | "reference"> & {
    /** Description of the payee; null if only an id is known. */
    readonly shown: string | null;
  };
}

export const BATCH_ROWS = new Table(
  "batch_rows",
  {
    batch: column.text,
    /** Line of the file, from 1. */
    number: column.number,
    workflowId: column.text,
    /** Hash of its content, the same in every file: no row is started twice. */
    fingerprint: column.text,
    /** Decimal string in units of `currency`. */
    amount: column.textOrNull,
    currency: column.textOrNull,
    reference: column.textOrNull,
    payee: column.textOrNull,
    /** `WriteRequest.terms` of its payment: a payout, or the funding of a card. */
    terms: column.text,
    /** Mark of the payee's account, or of the person; null until it is read at the service. */
    mark: column.textOrNull,
    /** The payee's account, or the person, described for its approver; null until it is read. */
    shown: column.orNull(column.sealed(column.text)),
    state: column.oneOf<BatchRowState>(),
    /** Why it is not started, for a person; sealed if there is a keyring. */
    message: column.orNull(column.sealed(column.text)),
    /** The failed run that the row of a repair retries; null in a file. */
    run: column.textOrNull,
    repair: column.orNull(column.sealed(column.json<RowRepair>())),
  },
  ["batch", "number"],
);
/** A row of a batch with its batch. No account number or secret: its input is encrypted elsewhere. */
export type FoundBatchRow = RowOf<typeof BATCH_ROWS.fields>;

const COUNT = {
  currency: column.textOrNull,
  rows: column.number,
  /** Exact sum as a decimal string. */
  amount: column.text,
};
/** The outcome of a row, for its readers. */
export type BatchRowStatus = "notStarted" | "rejected" | "covered" | RunStatus;

/** Facts of the payment of a row, also if an earlier file or a single start has made it. */
export const ROW_OUTCOME = {
  /** The account that pays. */
  account: column.textOrNull,
  status: column.oneOf<BatchRowStatus>(),
  /** Why its run has ended. */
  endReason: column.orNull(column.sealed(column.text)),
  /** Standing of its payment, or of the planned one. */
  standing: column.oneOf<Standing>(),
  /** Null as long as its payment is only planned. */
  operation: column.textOrNull,
  /** The service's id of its payout or card. */
  madeId: column.textOrNull,
  /** The service's id of the cardholder that its run has created. */
  holderId: column.textOrNull,
  /** The description of the payee, if its run plans to pay it or has created it. */
  namedAs: column.textOrNull,
  /** The later repair that has retried its run again. */
  retriedBy: column.textOrNull,
  /** When its run was started and has ended. */
  startedAt: column.numberOrNull,
  endedAt: column.numberOrNull,
  /** YYYY-MM-DD. */
  paymentDate: column.textOrNull,
  word: column.textOrNull,
  outcomeAt: column.numberOrNull,
  rest: column.orNull(column.sealed(column.json<Rest>())),
};

export const BATCH_COUNT = {
  ...COUNT,
  status: ROW_OUTCOME.status,
  standing: ROW_OUTCOME.standing,
};
/** Rows and money of a batch of one status, standing and currency: amounts as they were sent. */
export type BatchCount = RowOf<typeof BATCH_COUNT>;

export const WRITE_COUNT = {
  ...COUNT,
  account: column.text,
  operation: column.text,
  state: column.oneOf<WriteState>(),
  question: WRITES.fields.questionKind,
  /** Time of the last change of the longest unchanged write. */
  since: column.number,
};
/** Writes of one account, operation, state and currency. */
export type WriteCount = RowOf<typeof WRITE_COUNT>;

export const FAILURE_COUNT = {
  account: column.textOrNull,
  /** How a run has ended; `returned`: money of a payout came back. */
  kind: column.oneOf<"failed" | "timedOut" | "terminated" | "returned">(),
  count: column.number,
};

export const WAIT_COUNT = {
  account: column.text,
  kind: WAITS.fields.kind,
  count: column.number,
  since: column.number,
};
