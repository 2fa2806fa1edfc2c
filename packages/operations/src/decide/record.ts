import type {
  Actor,
  Decision,
  DecisionLook,
  NewDecision,
  RowChange,
  WriteName,
  WriteRow,
} from "@durable-payments/ledger";
import type { Operations } from "../connection/operations.ts";
import { nudge, type Nudged } from "./nudge.ts";

/** What a decision needs: the ledger, which records it, and Temporal, whose run is asked to look. */
export type Deciding = Pick<Operations, "client" | "ledger">;

/** A decision as recorded, and whether the run knows of it. */
export interface Decided {
  readonly decision: Decision;
  readonly nudged: Nudged;
}

/** Makes a decision; of the workflow id as a whole where no step is given. */
export const decisionOn = (
  { account, workflowId }: Pick<WriteName, "account" | "workflowId">,
  kind: NewDecision["kind"],
  actor: Actor,
  more: Partial<Pick<NewDecision, "question" | "step" | "value">> = {},
): NewDecision => ({
  account,
  workflowId,
  kind,
  step: null,
  question: null,
  value: {},
  ...actor,
  ...more,
});

/** The rows with a note that their run has yet to look: the tracker's sweep notifies it where the nudge is lost. */
const untold = (rows: ReadonlyArray<WriteRow>): ReadonlyArray<RowChange> =>
  rows.map((row) => ({ row: { ...row, isUntold: true } }));

/** Records a decision in one transaction with the rows that `check` gives, or that it refuses; then nudges the run. */
export const record = async (
  { client, ledger }: Deciding,
  decision: NewDecision,
  check: (look: DecisionLook) => ReadonlyArray<WriteRow>,
): Promise<Decided> => {
  let rows: ReadonlyArray<WriteRow> = [];
  const recorded = await ledger.decide(decision, (look) => {
    rows = check(look);
    return decision.kind === "end" ? [] : untold(rows);
  });
  return { decision: recorded, nudged: await nudge(client, decision.workflowId, rows) };
};
