import type { JsonObject, WriteName, WriteRow, WriteState } from "../model/row.ts";
import type { Decision, LogLine, NewDecision, NewEntry, Verification } from "./log.ts";
import type {
  AccountLimits,
  Batch,
  BatchCount,
  BatchRowState,
  FoundBatchRow,
  META,
  Pause,
  RecordedWait,
  Run,
  WAIT_COUNT,
  WriteCount,
} from "./schema.ts";
import type { RowOf } from "./table.ts";

export type {
  Decision,
  DecisionKind,
  Entry,
  LogLine,
  NewDecision,
  NewEntry,
  Verification,
} from "./log.ts";
export type {
  AccountLimits,
  Batch,
  BatchCount,
  BatchRowState,
  Pause,
  RecordedWait,
  Run,
  WriteCount,
} from "./schema.ts";

export type NewRun = Omit<Run, "startedAt">;
export type Limits = Omit<AccountLimits, "account">;
export type BatchRow = Omit<FoundBatchRow, "batch">;
/** A change of a row of a batch. */
export type BatchRowChange = Pick<BatchRow, "number" | "state" | "message">;
/** A wait as long as it is open. */
export type Wait = Omit<RecordedWait, "closedAt" | "outcome">;
/** A wait as it is opened. */
export type NewWait = Omit<Wait, "since">;

/** Who acts, and how it is known. */
export type Actor = Pick<NewDecision, "by" | "how" | "reason">;

/** Identity of a ledger, and how far it has got: what a witness remembers. */
export interface LedgerMark {
  readonly ledgerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** What the ledger says of itself. */
export interface LedgerState
  extends LedgerMark, Pick<RowOf<typeof META.fields>, "namespace" | "leastBuild" | "stopped"> {
  /** Of the tables: as many migrations as were made. */
  readonly schemaVersion: number;
  readonly now: number;
}

/** A payment that is to be started, for the check of likely duplicates. */
export interface PlannedPayment {
  readonly workflowId: string;
  /** Marks of the payee's account, and its `beneficiary_id` where it is known. */
  readonly payees: ReadonlyArray<string>;
  /** Decimal string in units of `currency`; 250 and 250.00 are the same. */
  readonly amount: string;
  readonly currency: string;
  readonly reference: string | null;
}

/** A run of another workflow id that pays, or has paid, the same to the same payee. */
export interface SimilarPayment {
  readonly workflowId: string;
  readonly reference: string | null;
  /** State of its payout; null before there is one. */
  readonly state: WriteState | null;
  readonly at: number;
}

/** Everything at a glance. */
export interface Overview {
  readonly state: LedgerState;
  readonly writes: ReadonlyArray<WriteCount>;
  /** Open waits by kind, with the number of them and the start of the longest. */
  readonly waits: ReadonlyArray<RowOf<typeof WAIT_COUNT>>;
  readonly runs: number;
  /** Rows whose run has yet to be notified. */
  readonly untold: number;
}

/** Everything that decides about a write, read in one transaction. */
export interface Look {
  readonly row: WriteRow | undefined;
  /** The ledger's clock. */
  readonly now: number;
  /** One more with each recovery. A row of an earlier epoch does not prove that nothing was sent. */
  readonly epoch: number;
  /** The highest sequence number of all entries and decisions. */
  readonly sequence: number;
  /** Oldest build that may send. */
  readonly leastBuild: number;
  /** Set while the ledger was restored and `recover` has not run: nothing is sent. */
  readonly stopped: string | null;
  /** The workflow id was ended by a person, and not overruled since. */
  readonly end: Decision | undefined;
  /** Another account has a row of this workflow id and step: nothing is sent under two accounts. */
  readonly isOfOtherAccount: boolean;
  /** Whoever started the workflow id first, where that is known. */
  readonly startedBy: string | null;
  readonly pause: Pause | undefined;
  readonly limits: Limits;
  /** Decisions about this write, or its workflow id as a whole, after `row.decisionsAfter`, oldest first. */
  readonly decisions: ReadonlyArray<Decision>;
  /** A batch's approval that covers this run. */
  readonly batch: { readonly id: string; readonly approvedBy: string | null } | undefined;
}

/** What a transaction changes. */
export interface Change {
  /** The row as it is to be: its version is set by the store, and `facts` go once the outcome is known. */
  readonly row?: WriteRow;
  readonly entries?: ReadonlyArray<NewEntry>;
  readonly decision?: NewDecision;
  /** Type of the workflow, where nobody may have recorded its run: recorded with a new row, in the same commit. */
  readonly workflowType?: string | undefined;
}

/** Another write has made what this one is said to have made. Nothing was changed. */
export class MadeByAnother extends Error {
  override readonly name = "MadeByAnother";
  readonly owner: WriteName;
  constructor(owner: WriteName, id: string) {
    super(`${id} was made by ${owner.workflowId} (${owner.step}).`);
    this.owner = owner;
  }
}

/** What is read at once when a person decides. */
export interface DecisionLook extends Pick<Look, "end" | "startedBy" | "now" | "epoch"> {
  /** All writes of the workflow id, of all accounts. */
  readonly rows: ReadonlyArray<WriteRow>;
  /** Decisions on the workflow id so far, oldest first. */
  readonly decisions: ReadonlyArray<Decision>;
  /** The sequence number that the decision gets. */
  readonly sequence: number;
}

/** A row that a decision changes. */
export type RowChange = Pick<Change, "entries"> & Required<Pick<Change, "row">>;

/**
 * The truth about writes. Every method rejects with `LedgerUnavailable` where the ledger cannot be reached; then
 * nothing is sent. One instance serves all accounts of a namespace.
 */
export interface Ledger {
  /** Where it is, without user and password. */
  readonly place: string;
  /** Whether it serves the workers of this host alone. */
  readonly isOfOneHost: boolean;
  /** Reads everything that decides about a write. */
  readonly look: (name: WriteName) => Promise<Look>;
  /**
   * Changes a row: looks, decides and writes in one transaction, durable when it resolves. Ends, pauses and epochs that
   * are committed before are seen. `decide` is pure: it may be called again.
   *
   * @returns the look, with the row as it is now.
   * @throws MadeByAnother where another write owns `row.madeId` (payouts, cardholders, cards); what `decide` throws.
   */
  readonly transact: (name: WriteName, decide: (look: Look) => Change) => Promise<Look>;

  // Identity and witness

  /** Returns the ledger's identity, how far it has got, and what is set for all workers. */
  readonly state: () => Promise<LedgerState>;
  /** Returns what a witness remembers: a part of `state`. */
  readonly mark: () => Promise<LedgerMark>;
  /**
   * Compares the ledger with what a witness remembers. Where it has less, or is another one, it was restored: sends
   * are stopped until `recover`.
   *
   * @returns whether all is well.
   */
  readonly expect: (mark: LedgerMark) => Promise<boolean>;
  /** Begins a new epoch, in which no earlier row proves that nothing was sent, and lets sends go on. */
  readonly recover: (actor: Actor) => Promise<LedgerMark>;
  /** Binds the ledger to a Temporal namespace, once. @throws LedgerUnavailable where it is bound to another. */
  readonly pin: (namespace: string) => Promise<void>;
  readonly setLimits: (limits: AccountLimits) => Promise<void>;
  /** Keeps older builds from sending; never lowers it. */
  readonly setLeastBuild: (build: number) => Promise<void>;

  // Runs

  /**
   * Records a run. What is known of its workflow id already stays (above all who started it first), but for the run
   * id; what was null is filled in.
   */
  readonly noteRun: (run: NewRun) => Promise<void>;
  /** Records many runs at once, as `noteRun` does. */
  readonly noteRuns: (runs: ReadonlyArray<NewRun>) => Promise<void>;
  /** Returns runs, newest first. */
  readonly runs: (filter: {
    readonly workflowIds?: ReadonlyArray<string>;
    readonly account?: string;
    readonly batch?: string;
    readonly startedBefore?: number;
    readonly limit?: number;
  }) => Promise<ReadonlyArray<Run>>;

  // Writes

  /** Returns all writes of a workflow id in the order of their making. */
  readonly rowsOf: (workflowId: string) => Promise<ReadonlyArray<WriteRow>>;
  /** Returns writes of which everything holds that is given; the longest unchanged come first. */
  readonly rows: (filter: {
    readonly account?: string;
    readonly operation?: string;
    readonly states?: ReadonlyArray<WriteState>;
    /** Rows with an open question: an outcome to be decided, or an approval. */
    readonly needsPerson?: boolean;
    /** Rows whose run has yet to be notified. */
    readonly isUntold?: boolean;
    /** Milliseconds since 1970 by the ledger's clock. */
    readonly changedBefore?: number;
    readonly limit?: number;
  }) => Promise<ReadonlyArray<WriteRow>>;
  /** Returns which of these ids the ledger has as made, also of pruned writes. */
  readonly owners: (
    account: string,
    operation: string,
    ids: ReadonlyArray<string>,
  ) => Promise<ReadonlyMap<string, WriteName>>;
  /** Returns other writes that may have made what is looked for: sending, unknown, asking, ended with doubt. */
  readonly rivals: (
    account: string,
    operation: string,
    except: WriteName,
  ) => Promise<ReadonlyArray<WriteRow>>;
  /** Returns the latest write that was carried out with the same request. */
  readonly doneWith: (
    account: string,
    operation: string,
    hash: string,
  ) => Promise<WriteRow | undefined>;
  /** Returns writes of the same workflow id that have, or may have, carried out the same request under another step. */
  readonly sameRequestElsewhere: (
    name: WriteName,
    operation: string,
    hash: string,
  ) => Promise<ReadonlyArray<WriteRow>>;
  /**
   * Returns for each payment what is likely the same under another workflow id: same payee, amount and currency, and
   * the same reference, or started within a day where one of them has none.
   */
  readonly similarPayments: (
    account: string,
    payments: ReadonlyArray<PlannedPayment>,
  ) => Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>>;

  // Decisions and log

  /**
   * Records a decision, and changes writes with it, in one transaction.
   *
   * An `end` or `overrule` is applied to every row that `change` does not give, as `endedRow` and `overruledRow` say. An
   * end holds for the workflow id, also before it has any row.
   *
   * @param change gives the rows that change; it throws to refuse the decision, and is pure.
   * @returns the decision as recorded.
   */
  readonly decide: (
    decision: NewDecision,
    change?: (look: DecisionLook) => ReadonlyArray<RowChange>,
  ) => Promise<Decision>;
  /** Returns the decisions on a workflow id; with "" those that concern everything. */
  readonly decisionsOf: (workflowId: string) => Promise<ReadonlyArray<Decision>>;
  /** Returns entries and decisions of a workflow id in order. */
  readonly logOf: (workflowId: string) => Promise<ReadonlyArray<LogLine>>;
  /** Checks the chain of hashes over the log of a workflow id. */
  readonly verify: (workflowId: string) => Promise<Verification>;

  // Pauses

  /** Stops sends; kept as a decision, too. */
  readonly pause: (scope: Pause["scope"], of: string, actor: Actor) => Promise<Pause>;
  /** @returns whether it was paused. */
  readonly resume: (scope: Pause["scope"], of: string, actor: Actor) => Promise<boolean>;
  readonly pauses: () => Promise<ReadonlyArray<Pause>>;

  // Waits and leases

  /** Opens a wait, or opens it again. */
  readonly openWait: (wait: NewWait) => Promise<void>;
  /** Returns waits, longest waiting first. */
  readonly waits: (
    filter: Partial<Pick<Wait, "account" | "workflowId" | "runId" | "kind">> & {
      /** Only those that nobody has closed. */
      readonly isOpen?: boolean;
      readonly limit?: number;
    },
  ) => Promise<ReadonlyArray<RecordedWait>>;
  /** Closes a wait and keeps its outcome. @returns whether it was open. */
  readonly closeWait: (
    name: Omit<NewWait, "kind" | "thing">,
    outcome: JsonObject,
  ) => Promise<boolean>;
  /**
   * Takes or renews a lease where nobody else holds it; 0 ms gives it back.
   *
   * @returns who holds it now, and until when by the ledger's clock.
   */
  readonly lease: (
    name: string,
    holder: string,
    ms: number,
  ) => Promise<{ readonly holder: string; readonly until: number }>;

  // Batches

  /**
   * Makes or changes a batch in one transaction. `change` is pure, and throws to refuse.
   *
   * @returns the batch as it is now.
   */
  readonly saveBatch: (
    id: string,
    change: (batch: Batch | undefined) => {
      readonly batch: Batch;
      readonly decision?: NewDecision;
    },
  ) => Promise<Batch>;
  /** Saves rows of a batch, many at once; a row that is there is replaced. */
  readonly saveRows: (batch: string, rows: ReadonlyArray<BatchRow>) => Promise<void>;
  readonly changeRows: (batch: string, changes: ReadonlyArray<BatchRowChange>) => Promise<void>;
  readonly batch: (id: string) => Promise<Batch | undefined>;
  /** Returns all batches, newest first. */
  readonly batches: () => Promise<ReadonlyArray<Batch>>;
  readonly batchCounts: (id: string) => Promise<ReadonlyArray<BatchCount>>;
  /** Returns rows of a batch in the order of their numbers, those after a number. */
  readonly batchRows: (
    id: string,
    filter: {
      readonly states?: ReadonlyArray<BatchRowState>;
      readonly after?: number;
      readonly limit: number;
    },
  ) => Promise<ReadonlyArray<BatchRow>>;
  /** Returns rows of any batch of the account with one of these fingerprints. */
  readonly rowsWithFingerprints: (
    account: string,
    fingerprints: ReadonlyArray<string>,
  ) => Promise<ReadonlyArray<FoundBatchRow>>;

  // The whole

  readonly overview: () => Promise<Overview>;
  /**
   * Removes the texts, amounts and log of workflow ids all of whose writes were settled before a time. Their writes
   * keep account, ids, step, operation, state, generation, request hash and made id, and ends stay.
   *
   * @param before milliseconds since 1970 by the ledger's clock.
   */
  readonly prune: (
    before: number,
    actor: Actor,
  ) => Promise<{ readonly workflowIds: number; readonly writes: number }>;
  /** Copies the ledger to a new file, while it is in use. @throws LedgerUnavailable with the command, on PostgreSQL. */
  readonly backup: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
