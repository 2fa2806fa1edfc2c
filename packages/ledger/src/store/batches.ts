/** What became of a row of a batch, as whoever runs the batch records it. */
export type BatchRowState =
  /** Uploaded, and not started. */
  | "waiting"
  /** Never to be started: a person rejected it, or it was invalid. */
  | "rejected"
  /** Its run was started, or is about to be. */
  | "started"
  | "succeeded"
  | "failed";

/** A file of payments or cardholders. */
export interface Batch {
  readonly id: string;
  readonly account: string;
  /** The workflow type that its rows start. */
  readonly type: string;
  readonly file: string;
  /** Hash of the file's bytes. */
  readonly fileHash: string;
  /** Hash of everything that its rows send: an approval names it. */
  readonly contentHash: string;
  readonly rows: number;
  readonly state: "uploading" | "needsApproval" | "approved" | "rejected" | "running" | "finished";
  readonly createdBy: string;
  /** Milliseconds since 1970 by the ledger's clock; set by the store. */
  readonly createdAt: number;
  readonly approvedBy: string | null;
  /** Anything else that belongs to it, sealed where there is a keyring. */
  readonly details: string;
}

/** A row of a batch. No account number, name or secret: its input is encrypted elsewhere. */
export interface BatchRow {
  /** Line of the file, from 1. */
  readonly number: number;
  readonly workflowId: string;
  /** Hash of what it is, in whichever file: no row is started twice. */
  readonly fingerprint: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string | null;
  readonly currency: string | null;
  readonly reference: string | null;
  readonly payee: string | null;
  readonly state: BatchRowState;
  /** Why it failed or was rejected, for a person; sealed where there is a keyring. */
  readonly message: string | null;
}

/** A change of a row of a batch. */
export type BatchRowChange = Pick<BatchRow, "number" | "state" | "message">;

/** Rows and money of one state and currency. */
export interface BatchCount {
  readonly state: BatchRowState;
  readonly currency: string | null;
  readonly rows: number;
  /** Exact sum as a decimal string. */
  readonly amount: string;
}

/** Which rows of a batch are read: in the order of their numbers. */
export interface BatchRowFilter {
  readonly states?: ReadonlyArray<BatchRowState>;
  /** Rows after this number. */
  readonly after?: number;
  readonly limit: number;
}

/** A row of a batch with its batch. */
export interface FoundBatchRow extends BatchRow {
  readonly batch: string;
}
