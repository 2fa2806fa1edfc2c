import type { JsonObject, WriteRow, WriteState } from "../model/row.ts";
import type { Seal } from "./seal.ts";
import { MAKES_ITS_OWN } from "./schema.ts";
import { numberOf, query, type Query, type SqlRow, textOf, textOrNull } from "./sql.ts";

/** What has a column of its own. */
type Indexed =
  | "account"
  | "workflowId"
  | "step"
  | "version"
  | "operation"
  | "state"
  | "generation"
  | "doubt"
  | "madeId"
  | "runId"
  | "isUntold"
  | "createdAt"
  | "changedAt";

/** What no query asks for: one sealed column. */
type Rest = Omit<WriteRow, Indexed | "request"> & { readonly facts: JsonObject };

/** What is left of it in a pruned row: its outcome is known, so nothing of it matters any more. */
const PRUNED: Rest = {
  knownFrom: 0,
  epoch: 0,
  facts: {},
  token: null,
  sends: 0,
  firstSentAt: null,
  from: null,
  until: null,
  absences: 0,
  unprovableSince: null,
  result: null,
  knownBy: null,
  message: null,
  question: null,
  decisionsAfter: 0,
};

const COLUMNS = [
  "workflow_id",
  "step",
  "account",
  "version",
  "operation",
  "state",
  "generation",
  "doubt",
  "made_id",
  "made_for",
  "request_hash",
  "amount",
  "currency",
  "payee",
  "reference",
  "run_id",
  "question_id",
  "question_kind",
  "is_untold",
  "is_open",
  "created_at",
  "changed_at",
  "rest",
];

const KEY = ["workflow_id", "step", "account"];

/** A version other than the next one is null, which the column refuses: nothing overwrites what it has not read. */
const SAVE = `INSERT INTO writes (${COLUMNS.join(", ")})
VALUES (${COLUMNS.map((_, index) => `$${index + 1}`).join(", ")})
ON CONFLICT (${KEY.join(", ")}) DO UPDATE SET
version = CASE WHEN writes.version = excluded.version - 1 THEN excluded.version END,
${COLUMNS.filter((name) => !KEY.includes(name) && name !== "version")
  .map((name) => `${name} = excluded.${name}`)
  .join(", ")}`;

/** States in which the outcome is known, where no send is in doubt. */
const SETTLED: ReadonlySet<WriteState> = new Set(["refused", "done", "ended", "undone"]);

/** Returns whether what became of a write is certain. */
const isSettled = ({ doubt, state }: WriteRow): boolean =>
  SETTLED.has(state) && !(state === "ended" && doubt > 0);

/** Returns the row as it is kept: what names people goes once the outcome is known. */
export const kept = (row: WriteRow): WriteRow =>
  isSettled(row) ? { ...row, request: { ...row.request, facts: {} } } : row;

/** Returns the statement that saves a row, whose version is one more than that which is there. */
export const saveRow = (row: WriteRow, seal: Seal): Query => {
  const {
    account,
    changedAt,
    createdAt,
    doubt,
    generation,
    isUntold,
    madeId,
    operation,
    request: { facts, ...request },
    runId,
    state,
    step,
    version,
    workflowId,
    ...others
  } = row;
  const rest: Rest = { ...others, facts };
  const isOpen = !isSettled(row) || row.question !== null || row.isUntold;
  return query(
    SAVE,
    workflowId,
    step,
    account,
    version,
    operation,
    state,
    generation,
    doubt,
    madeId,
    MAKES_ITS_OWN.has(operation) ? "" : `${workflowId}\n${step}`,
    request.hash,
    request.amount,
    request.currency,
    request.payee,
    request.reference,
    runId,
    row.question?.id ?? null,
    row.question?.kind ?? null,
    isUntold ? 1 : 0,
    isOpen ? 1 : 0,
    createdAt,
    changedAt,
    seal.seal(JSON.stringify(rest)),
  );
};

/** Reads a row. */
export const readRow = (columns: SqlRow, seal: Seal): WriteRow => {
  const sealed = textOrNull(columns, "rest");
  // Written by `saveRow`, of this schema version.
  const rest: Rest = sealed === null ? PRUNED : (JSON.parse(seal.open(sealed)) as Rest);
  const { facts, ...others } = rest;
  return {
    ...others,
    account: textOf(columns, "account"),
    workflowId: textOf(columns, "workflow_id"),
    step: textOf(columns, "step"),
    operation: textOf(columns, "operation"),
    // Only `saveRow` writes it.
    state: textOf(columns, "state") as WriteState,
    version: numberOf(columns, "version"),
    generation: numberOf(columns, "generation"),
    request: {
      hash: textOf(columns, "request_hash"),
      amount: textOrNull(columns, "amount"),
      currency: textOrNull(columns, "currency"),
      payee: textOrNull(columns, "payee"),
      reference: textOrNull(columns, "reference"),
      facts,
    },
    doubt: numberOf(columns, "doubt"),
    runId: textOf(columns, "run_id"),
    madeId: textOrNull(columns, "made_id"),
    isUntold: numberOf(columns, "is_untold") === 1,
    createdAt: numberOf(columns, "created_at"),
    changedAt: numberOf(columns, "changed_at"),
  };
};
