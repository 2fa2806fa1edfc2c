/*
 * The types that the methods of the ledger take and return. The methods are in the files of this folder, by subject, and
 * `open-ledger.ts` puts them together. `Look` is the one to know: all facts by which `advance` decides.
 */
import type { JsonObject, WriteName, WriteRow, WriteState } from "../model/row.ts";
import type { Standing } from "../model/standing.ts";
import type { AccountLimits } from "../model/limits.ts";
import type { Decision, NewDecision, NewEntry, StartFacts } from "./log.ts";
import type {
  Batch,
  BatchRowState,
  FoundBatchRow,
  META,
  Pause,
  RecordedWait,
  ROW_OUTCOME,
  Run,
  FAILURE_COUNT,
  WAIT_COUNT,
  WriteCount,
} from "./schema.ts";
import type { RowOf } from "./table.ts";

export type * from "./log.ts";
export type * from "./schema.ts";

/** A run as it is started. */
export interface NewRun extends PlannedOfRun {
  readonly workflowId: string;
  readonly account: string | null;
  readonly runId: string | null;
  readonly type: string;
  readonly batch: string | null;
  readonly batchRow: number | null;
}
/** Planned payment of a run, before it has a write. */
export type PlannedOfRun = Pick<Run, "amount" | "currency" | "payee" | "reference"> &
  Partial<Pick<Run, "alias">> & {
    /** Description of the payee, for the directory of payees. */
    readonly shown?: string | null;
  };
/** The state of the latest run of a workflow id in Temporal; `endState` null: it is open. */
export type RunEnd = Pick<
  Run,
  "workflowId" | "runId" | "endState" | "endedAt" | "endType" | "endReason"
> &
  Partial<Pick<Run, "endStep" | "endFacts" | "startedAt">>;
/** The start of a run: a decision on its workflow id. */
export interface NewStart extends Pick<NewDecision, "by" | "how"> {
  readonly value: StartFacts;
}
/** A batch as it is created or changed. */
export type NewBatch = Omit<Batch, "finishedAt" | "notifyOf">;
/** A row as it is saved; only a repair has failed runs. */
export type BatchRow = Omit<FoundBatchRow, "batch" | "repair" | "run"> &
  Partial<Pick<FoundBatchRow, "repair" | "run">>;
/**
 * A row of a batch with the outcome of it. `amount`, `currency`, `payee` and `reference` are those that were sent, or
 * are to be sent after an amendment; `shown` is null if the file does not describe that payee.
 */
export interface ListedRow
  extends Omit<FoundBatchRow, "batch">, Omit<RowOf<typeof ROW_OUTCOME>, "rest"> {
  /** Why it was not paid, or the question to a person; null if neither applies. */
  readonly reason: string | null;
}
/** A wait as long as it is open. */
export type Wait = Omit<RecordedWait, "closedAt" | "endedAs" | "isLeft" | "outcome">;
/** A wait that has ended, with its outcome. */
export interface EndedWait extends NewWait {
  readonly outcome: JsonObject;
}
/** A wait as it is opened. */
export type NewWait = Omit<Wait, "since" | "readAfter">;

/** The person who acts, and the source of the name. */
export type Actor = Pick<NewDecision, "by" | "how" | "reason">;

/** Identity and latest entry of a ledger, as a witness remembers them. */
export interface LedgerMark {
  readonly ledgerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** Identity and state of the ledger. */
export interface LedgerState
  extends LedgerMark, Pick<RowOf<typeof META.fields>, "namespace" | "stopped"> {
  readonly now: number;
}

/** A planned payment, or the card of a new cardholder, for the check of likely duplicates. */
export interface PlannedPayment {
  readonly workflowId: string;
  /** A `beneficiary_id`, or the mark of the payee's account or of a person. */
  readonly payee: string;
  /** A second mark of the same account or person. */
  readonly alias?: string | null;
  /** Decimal string in units of `currency`; 250 and 250.00 are equal. */
  readonly amount: string;
  readonly currency: string;
  readonly reference: string | null;
}

/** A run of another workflow id with the same payment to the same payee. */
export interface SimilarPayment {
  readonly workflowId: string;
  readonly reference: string | null;
  /** Account or person, as a mark or an id. */
  readonly payee: string;
  /** Standing of its payout or cardholder; null before there is one. */
  readonly standing: Standing | null;
  readonly at: number;
}

/** The overview. */
export interface Overview {
  readonly state: LedgerState;
  /** Open writes: without a certain outcome, with a question, or whose run has not been notified. */
  readonly writes: ReadonlyArray<WriteCount>;
  /** Open waits by account and kind, with the number of them and the start of the longest. */
  readonly waits: ReadonlyArray<RowOf<typeof WAIT_COUNT>>;
  /** Runs that ended in the last 24 hours without success, and payouts that came back. */
  readonly failures: ReadonlyArray<RowOf<typeof FAILURE_COUNT>>;
  /** Rows whose run has not been notified yet. */
  readonly toNotify: number;
}

/** All facts that decide about a write, read in one transaction. */
export interface Look {
  readonly row: WriteRow | undefined;
  /** The ledger's clock. */
  readonly now: number;
  /** Grows by one with each recovery. A row of an earlier epoch does not prove that nothing was sent. */
  readonly epoch: number;
  /** Time of the latest recovery; null before the first. */
  readonly recoveredAt: number | null;
  /** Whether the latest recovery was of a ledger that had less than its witness, and not of Temporal alone. */
  readonly wasBehind: boolean;
  /** The highest sequence number of all entries and decisions. */
  readonly sequence: number;
  /** A newer version has migrated the ledger since it was opened: nothing is sent. */
  readonly isOutdated: boolean;
  /** Set while the ledger was restored and `recover` has not run: nothing is sent. */
  readonly stopped: string | null;
  /** A person ended its workflow id, that of the workflow that asks, or its root, and nobody has overridden that. */
  readonly end: Decision | undefined;
  /**
   * Another account has a row of this workflow id and step: a workflow's own step is not sent under two accounts. A write
   * that another workflow asks for by its key is: a key is one of an account.
   */
  readonly isOfOtherAccount: boolean;
  readonly pause: Pause | undefined;
  readonly limits: AccountLimits;
  /**
   * Decisions about this write, and on the ids of its name, owner and root as a whole, oldest first. Those up to
   * `row.decisionsAfter` are void as answers and approvals; as starts, amendments and overrides they still count.
   */
  readonly decisions: ReadonlyArray<Decision>;
  /** States of the rows of files with this workflow id: nothing is sent under it before their start. */
  readonly filed: ReadonlyArray<BatchRowState>;
  /** Beneficiaries and cardholders that the workflow has created, with the marks of their accounts or persons. */
  readonly created: ReadonlyArray<{ readonly id: string; readonly mark: string }>;
}

/** The changes of a transaction. */
export interface Change {
  /** The new row: the store sets its version, and removes `facts` once the outcome is known. */
  readonly row?: WriteRow;
  readonly entries?: ReadonlyArray<NewEntry>;
  /** Type of the workflow, to record its run in the same commit if it is not recorded yet. */
  readonly workflowType?: string | undefined;
}

/** The result belongs to another write. Nothing was changed. */
export class MadeByAnother extends Error {
  override readonly name = "MadeByAnother";
  readonly owner: WriteName;
  constructor(owner: WriteName, id: string) {
    super(`${id} was made by ${owner.workflowId} (${owner.step}).`);
    this.owner = owner;
  }
}

/** Everything that is read when a person decides. */
export interface DecisionLook extends Pick<Look, "now" | "epoch" | "sequence" | "stopped"> {
  /** All writes with the id as their own, their owner or their root, of all accounts. */
  readonly rows: ReadonlyArray<WriteRow>;
  /** Decisions so far on the workflow id, and on the owners and roots of its own writes, oldest first. */
  readonly decisions: ReadonlyArray<Decision>;
}

/** Filter of writes. */
export interface RowFilter {
  readonly account?: string;
  /** Its own id, not the id of an owner or a root. */
  readonly workflowId?: string;
  readonly operations?: ReadonlyArray<string>;
  readonly states?: ReadonlyArray<WriteState>;
  /** Rows without a certain outcome, with a question, or whose run has not been notified. */
  readonly isOpen?: true;
  /** Rows with an open question or approval. */
  readonly needsPerson?: true;
  /** Rows whose run has not been notified yet. */
  readonly mustNotify?: true;
  /** Rows whose run has ended, or is missing in Temporal. */
  readonly isRunEnded?: true;
  /** Milliseconds since 1970 by the ledger's clock. */
  readonly changedBefore?: number;
  /** The last row of the page before, in the order of the result. */
  readonly after?: WriteRow | undefined;
  readonly limit?: number;
}
