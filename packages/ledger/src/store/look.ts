import type { WriteName } from "../model/row.ts";
import type { Limits, Look, Pause } from "./ledger.ts";
import { endAmong, readDecision, selectDecisions } from "./log.ts";
import { readRow } from "./rows.ts";
import type { Seal } from "./seal.ts";
import {
  type Database,
  numberOf,
  query,
  type Query,
  type SqlRow,
  textOf,
  textOrNull,
} from "./sql.ts";

/** Returns the statements that read everything that decides about a write. */
export const selectLook = (
  { account, step, workflowId }: WriteName,
  { now }: Database["dialect"],
): ReadonlyArray<Query> => [
  query(
    `SELECT ${now} AS now, meta.epoch, meta.least_build, meta.stopped,
     (SELECT coalesce(max(sequence), 0) FROM log) AS sequence,
     limits.max_amounts, limits.approve_above, runs.started_by, batches.id AS batch, batches.approved_by
     FROM meta LEFT JOIN limits ON limits.account = $1 LEFT JOIN runs ON runs.workflow_id = $2
     LEFT JOIN batches ON batches.id = runs.batch`,
    account,
    workflowId,
  ),
  query("SELECT * FROM writes WHERE workflow_id = $1 AND step = $2", workflowId, step),
  SELECT_PAUSES,
  selectDecisions(workflowId),
];

/** The statement that reads all pauses: there are few. */
export const SELECT_PAUSES = query("SELECT * FROM pauses ORDER BY since");

/** Reads a pause. */
export const readPause = (found: SqlRow, seal: Seal): Pause => ({
  // Only `pause` writes it.
  scope: textOf(found, "scope") as Pause["scope"],
  of: textOf(found, "of"),
  by: textOf(found, "made_by"),
  reason: seal.open(textOf(found, "reason")),
  since: numberOf(found, "since"),
});

const amounts = (found: SqlRow, column: string): Limits["maxAmounts"] => {
  const text = textOrNull(found, column);
  return text === null ? null : (JSON.parse(text) as Limits["maxAmounts"]);
};

const NO_CONTEXT: SqlRow = {};

/** Reads what `selectLook` found. */
export const readLook = (
  { account, step, workflowId }: WriteName,
  [contexts = [], writes = [], pauses = [], lines = []]: ReadonlyArray<ReadonlyArray<SqlRow>>,
  seal: Seal,
): Look => {
  const context = contexts[0] ?? NO_CONTEXT;
  const own = writes.find((found) => found["account"] === account);
  const row = own && readRow(own, seal);
  const decisions = lines.map((line) => readDecision(line, seal));
  const batch = textOrNull(context, "batch");
  const pause = pauses.find(
    ({ of, scope }) =>
      scope === "all" ||
      (scope === "run" && of === workflowId) ||
      (scope === "batch" && of === batch),
  );
  return {
    row,
    now: numberOf(context, "now"),
    epoch: numberOf(context, "epoch"),
    sequence: numberOf(context, "sequence"),
    leastBuild: numberOf(context, "least_build"),
    stopped: textOrNull(context, "stopped"),
    end: endAmong(decisions),
    isOfOtherAccount: writes.some((found) => found["account"] !== account),
    startedBy: textOrNull(context, "started_by"),
    pause: pause && readPause(pause, seal),
    limits: {
      maxAmounts: amounts(context, "max_amounts"),
      approveAbove: amounts(context, "approve_above"),
    },
    decisions: decisions.filter(
      (decision) =>
        (decision.step === null || decision.step === step) &&
        decision.sequence > (row?.decisionsAfter ?? 0),
    ),
    batch:
      batch === null ? undefined : { id: batch, approvedBy: textOrNull(context, "approved_by") },
  };
};
