import type { WriteName, WriteRow, WriteState } from "../model/row.ts";
import type { Decision, NewDecision, NewEntry } from "./log.ts";
import type {
  AccountLimits,
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
  extends LedgerMark, Pick<RowOf<typeof META.fields>, "namespace" | "stopped"> {
  readonly now: number;
}

/** A payment that is to be started, for the check of likely duplicates. */
export interface PlannedPayment {
  readonly workflowId: string;
  /** A `beneficiary_id`, or the mark of the payee's account. */
  readonly payee: string;
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

/** What a file pays under a workflow id. */
export interface FiledPayment {
  readonly state: BatchRowState;
  readonly approvedBy: string | null;
  /** Decimal string in units of `currency`. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** Its `beneficiary_id`: that of the file, or the one that its run has created for the file's account. */
  readonly payees: ReadonlyArray<string>;
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
  /** A newer version has migrated the ledger since it was opened: nothing is sent. */
  readonly isOutdated: boolean;
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
  /** The rows of files with this workflow id: only what they say is sent under it, and nothing before its turn. */
  readonly filed: ReadonlyArray<FiledPayment>;
  /** A person has permitted another request than the first. */
  readonly isAmended: boolean;
}

/** What a transaction changes. */
export interface Change {
  /** The row as it is to be: its version is set by the store, and `facts` go once the outcome is known. */
  readonly row?: WriteRow;
  readonly entries?: ReadonlyArray<NewEntry>;
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
export interface DecisionLook extends Pick<Look, "startedBy" | "now" | "epoch" | "sequence"> {
  /** All writes of the workflow id, of all accounts. */
  readonly rows: ReadonlyArray<WriteRow>;
  /** Decisions on the workflow id so far, oldest first. */
  readonly decisions: ReadonlyArray<Decision>;
}
