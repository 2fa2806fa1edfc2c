import { changed, mayEndNow, nowEnded, noted } from "./rows.ts";
import type { Question, WriteRow } from "./row.ts";
import type { Change, Look, NewDecision } from "../store/ledger.ts";

/** A decision that answers another question than the one that is open now. Nothing was changed. */
export class AnotherQuestion extends Error {
  override readonly name = "AnotherQuestion";
  /** The question that is open now; null where none is. */
  readonly present: Question | null;
  constructor(present: Question | null) {
    super(
      present === null
        ? "No question is open."
        : `Question ${present.id} is open: ${present.reason}`,
    );
    this.present = present;
  }
}

/** A decision that nobody may take, or that says too little. Nothing was changed. */
export class InvalidDecision extends Error {
  override readonly name = "InvalidDecision";
}

/** How long what was ended without a known end of its send may still be carried out: longer than any request takes. */
const OVERRULED_WAIT_MS = 60_000;

const changeOf = (row: WriteRow, decision: NewDecision): Change => ({ decision, row });

/**
 * Returns what a person's answer (`found`, `resend`) or verdict (`approve`, `reject`) changes, to be called inside
 * `transact`. The attempt that is called next takes it up.
 *
 * @throws AnotherQuestion where another question is open, or none.
 * @throws InvalidDecision where it was answered already, lacks the id, or the requester approves.
 */
export const decide = (look: Look, decision: NewDecision): Change => {
  const { row } = look;
  const { by, kind, value } = decision;
  const question = row?.question ?? null;
  const wanted = kind === "approve" || kind === "reject" ? "approval" : "outcome";
  if (row === undefined || question?.kind !== wanted || question.id !== decision.question)
    throw new AnotherQuestion(question);
  if (look.decisions.some((one) => one.question === question.id))
    throw new InvalidDecision("The question was answered already.");
  const untold = noted(row, { isUntold: true });
  switch (kind) {
    case "found":
      if (typeof value["id"] !== "string" || value["id"] === "")
        throw new InvalidDecision("Name the id of what was made.");
      return changeOf(untold, decision);
    case "resend":
      return changeOf(untold, decision);
    case "approve": {
      if (by === look.startedBy)
        throw new InvalidDecision("Whoever asked for a payment cannot approve it.");
      const { generation, request } = row;
      const approved = { ...value, generation, hash: request.hash, account: question.account };
      return changeOf(untold, { ...decision, value: approved });
    }
    case "reject":
      return changeOf(
        changed(row, look, { ...nowEnded(row, decision.reason), isUntold: true }),
        decision,
      );
    default:
      throw new InvalidDecision(`"${kind}" does not answer a question.`);
  }
};

/**
 * Returns a row as the end of its workflow id leaves it. Where its outcome is unknown the row stays: the fence and the
 * next attempt see the end in their look.
 *
 * @returns the row as it is to be, or undefined where nothing changes.
 */
export const endedRow = (
  row: WriteRow,
  look: Pick<Look, "epoch" | "now">,
  reason: string | null,
): WriteRow | undefined =>
  mayEndNow(row) ? changed(row, look, { ...nowEnded(row, reason), isUntold: true }) : undefined;

/**
 * Returns a row as the overrule of an end leaves it. What was approved or answered before is void.
 *
 * @returns the row as it is to be, or undefined where nothing changes.
 */
export const overruledRow = (
  row: WriteRow,
  look: Pick<Look, "epoch" | "now" | "sequence">,
): WriteRow | undefined => {
  const decisionsAfter = look.sequence;
  if (row.state === "ended") {
    const to = { decisionsAfter, message: null, epoch: row.epoch };
    if (row.doubt === 0) return changed(row, look, { ...to, state: "ready" });
    const until = row.until ?? look.now + OVERRULED_WAIT_MS;
    return changed(row, look, { ...to, state: "unknown", until });
  }
  if (row.state === "done" || row.state === "undone") return undefined;
  return { ...row, decisionsAfter };
};
