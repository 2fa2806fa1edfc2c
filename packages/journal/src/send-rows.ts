import type { RecordedSend, SendOutcome } from "./journal.ts";

/** A send as the tables of both databases have it. */
export interface SendRow {
  readonly workflow_id: string;
  readonly step: string;
  /** Node's SQLite gives a number, PostgreSQL a text. */
  readonly number: number | string;
  readonly operation: string;
  readonly run_id: string;
  readonly request_key: string | null;
  readonly payload_hash: string;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly payee: string | null;
  readonly is_undone: number | boolean;
  /** Identifies the call of `begin` that wrote it. */
  readonly begun_by: string;
  readonly begun_at: number | string;
  readonly outcome: string;
  readonly settled_at: number | string | null;
  /** A JSON object of texts. */
  readonly ids: string;
}

/** The columns of a send, without the account. */
export const SEND_COLUMNS =
  "workflow_id, step, number, operation, run_id, request_key, payload_hash, amount, currency, payee, is_undone, begun_by, begun_at, outcome, settled_at, ids";

const OUTCOMES: ReadonlyArray<SendOutcome> = [
  "begun",
  "carriedOut",
  "notCarriedOut",
  "unknown",
  "undone",
];

const idsOf = (json: string): Readonly<Record<string, string>> => {
  const parsed: unknown = JSON.parse(json);
  return Object.fromEntries(
    Object.entries(typeof parsed === "object" && parsed !== null ? parsed : {}).flatMap(
      ([name, id]: [string, unknown]) => (typeof id === "string" ? [[name, id]] : []),
    ),
  );
};

/** Read a row; an outcome that this version does not know is unknown. */
export const recordedSendOf = (row: SendRow): RecordedSend => ({
  workflowId: row.workflow_id,
  step: row.step,
  number: Number(row.number),
  operation: row.operation,
  runId: row.run_id,
  payloadHash: row.payload_hash,
  isUndone: Boolean(row.is_undone),
  ...(row.request_key !== null && { key: row.request_key }),
  ...(row.amount !== null && { amount: row.amount }),
  ...(row.currency !== null && { currency: row.currency }),
  ...(row.payee !== null && { payee: row.payee }),
  begunAt: Number(row.begun_at),
  outcome: OUTCOMES.find((outcome) => outcome === row.outcome) ?? "unknown",
  ...(row.settled_at !== null && { outcomeAt: Number(row.settled_at) }),
  ids: idsOf(row.ids),
});
