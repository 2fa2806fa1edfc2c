/**
 * The state of a write in reports, in one word. A write has eight states, a question of one of two kinds, and a number of
 * sends without an outcome; only the service knows the later outcome of a payout. Every list, sum and status uses this
 * word, so that all screens judge a write in the same way.
 */
import type { EndState, WriteRow } from "./row.ts";

/** Standing of a write. */
export type Standing =
  /** Not sent, or being sent. */
  | "open"
  /** A person is asked for its outcome. */
  | "asking"
  /** A second person must approve it. */
  | "approval"
  /** It was sent, or an earlier ledger may have sent it: it may have taken effect. */
  | "unknown"
  | "refused"
  /** Ended by a person: it had no effect. */
  | "stopped"
  /** It succeeded, and its result was removed. */
  | "undone"
  /** A payout that the service has accepted, and whose outcome is not known yet. */
  | "made"
  /** Done; a payout has been paid. */
  | "completed"
  /** A payout that was made and not paid. */
  | "failed"
  /** A payout whose money came back. */
  | "returned";

/** The outcome of a payout at the service. */
export type PayoutOutcome = Extract<Standing, "completed" | "failed" | "returned">;

/**
 * Returns the standing of a payout once an outcome was seen; null changes nothing. Money that had left and
 * did not stay came back, so a failure after a completion is a return.
 */
export const standingAfter = (standing: Standing, outcome: PayoutOutcome | null): Standing => {
  const wasPaid = standing === "completed" || standing === "returned";
  return outcome === "failed" && wasPaid ? "returned" : (outcome ?? standing);
};

/** Whether a question waits for the approval of a second person. */
export const awaitsApproval = (question: WriteRow["question"]): boolean =>
  question?.kind === "approval" && question.approvedBy === undefined;

/**
 * Returns the standing of a write by its row and the end of its run: a payout that is done may have an outcome besides. A send
 * without an outcome counts for more than an approval or a further send: its money may have left. So does a send that was under
 * way when the run ended. A send that was never made will not be made. A write that was never sent, and is checked at the
 * service because its id may have run before, is open.
 *
 * @param end how its run has ended; null while it is open.
 * @param isWhole whether the ledger has all that it has sent: it was never restored or recovered, and nobody has ended the
 *   write.
 */
export const standingOfRow = (
  {
    doubt,
    operation,
    question,
    sends,
    state,
  }: Pick<WriteRow, "doubt" | "operation" | "question" | "sends" | "state">,
  end: EndState | null,
  isWhole = false,
): Standing => {
  switch (state) {
    case "done":
      return operation === "createPayout" ? "made" : "completed";
    case "ended":
      return doubt > 0 ? "unknown" : "stopped";
    case "refused":
    case "undone":
      return awaitsApproval(question) ? "approval" : state;
    case "asking":
      if (question?.approvedBy === undefined) return state;
      return doubt > 0 ? "unknown" : "open";
    case "unknown":
      return isWhole && sends === 0 && end === null ? "open" : state;
    case "ready":
    case "sending":
      if (doubt > 0) return "unknown";
      if (awaitsApproval(question)) return "approval";
      if (end === null) return "open";
      if (state === "sending") return "unknown";
      return end === "missing" ? "open" : "stopped";
  }
};

/** Returns why an accepted payout was not paid, by the service's own word: the same in each list, however its run ended. */
export const outcomeReason = ({
  standing,
  word,
}: {
  readonly standing: Standing | null;
  readonly word: string | null;
}): string | undefined => {
  if (standing !== "failed" && standing !== "returned") return undefined;
  const outcome = standing === "failed" ? "its payout has failed" : "its payout came back";
  return word === null ? outcome : `${outcome}: the service says "${word}"`;
};

/** State of money, in the words of a report. */
export type MoneyState =
  | "paid"
  /** Accepted by the service, which has not said yet that it was paid. */
  | "underWay"
  | "unknown"
  | "failed"
  /** It was paid or accepted, and the money came back. */
  | "cameBack"
  /** Refused or stopped, or its run has ended without it. */
  | "notPaid"
  | "planned";

const STATE_OF: Readonly<Record<Standing, MoneyState>> = {
  open: "planned",
  approval: "planned",
  asking: "unknown",
  unknown: "unknown",
  refused: "notPaid",
  stopped: "notPaid",
  undone: "notPaid",
  made: "underWay",
  completed: "paid",
  failed: "failed",
  returned: "cameBack",
};

/** Whether the money of a write was certainly not paid, or came back: nothing but a retry changes that. */
export const isNotPaid = (standing: Standing): boolean =>
  ["failed", "cameBack", "notPaid"].includes(STATE_OF[standing]);

/** Standings of money that was not paid. */
export const NOT_PAID = (Object.keys(STATE_OF) as ReadonlyArray<Standing>).filter(isNotPaid);

/** Returns the outcome of the money of a write. */
export const moneyStateOf = (standing: Standing): MoneyState => STATE_OF[standing];
