import { isSamePerson } from "./person.ts";
import { compareDecimals } from "./decimal.ts";
import { needsApproval, overLimit } from "./limits.ts";
import { questionOf } from "./rows.ts";
import type { Call, Effect, Testimony } from "./events.ts";
import type { Question, WriteRequest, WriteRow } from "./row.ts";
import type { BatchPayment, DecisionKind, Look } from "../store/ledger.ts";

/** How long a newer worker has to take over before this one looks again. */
const NEWER_WORKER_WAIT_MS = 30_000;

/** By these a person decides about a payment that its file's approval knew nothing of. */
const DECIDED_ANEW: ReadonlySet<DecisionKind> = new Set(["amend", "overrule", "resend"]);

/** Whether a request pays what the row of a file says. */
const paysAsFiled = (file: BatchPayment, { amount, currency, payee }: WriteRequest): boolean =>
  amount !== null &&
  file.amount !== null &&
  compareDecimals(amount, file.amount) === 0 &&
  currency === file.currency &&
  payee !== null &&
  file.payees.includes(payee);

/** Whether somebody other than the requester has approved exactly what `row` would send. */
const isApproved = (look: Look, row: WriteRow, account: string | null): boolean => {
  const { batch, decisions } = look;
  const requester = look.startedBy ?? row.startedBy;
  // Of an unknown requester nobody can be told apart.
  if (requester === null) return false;
  const isOther = (by: string) => !isSamePerson(by, requester);
  // A batch's approval covers what its file says, not an amendment, an overrule or a resend.
  const isDecided = decisions.some(({ kind }) => DECIDED_ANEW.has(kind));
  const isNew = row.generation === 1 && row.decisionsAfter === 0 && !isDecided;
  const batchBy = batch?.approvedBy ?? null;
  if (isNew && batchBy !== null && isOther(batchBy) && batch && paysAsFiled(batch, row.request))
    return true;
  return decisions.some(
    ({ by, kind, sequence, value }) =>
      kind === "approve" &&
      sequence > row.decisionsAfter &&
      isOther(by) &&
      value["generation"] === row.generation &&
      value["hash"] === row.request.hash &&
      value["account"] === account,
  );
};

/** The question that has to be approved before `row` may be sent; undefined where none is needed. */
const approvalFor = (look: Look, row: WriteRow, call: Call): Question | undefined => {
  const { approveAbove, payee } = call;
  const why = needsApproval(row.request, approveAbove, look.limits.approveAbove);
  if (why === undefined) return undefined;
  const account = payee?.mark ?? null;
  if (isApproved(look, row, account)) return undefined;
  const { question } = row;
  return question?.kind === "approval" && question.account === account
    ? question
    : questionOf(look, "approval", payee ? `${why} It pays ${payee.shown}.` : why, { account });
};

/** What keeps a row from being sent now. `question` is what it has to keep for that. */
export interface Held {
  readonly effect: Effect;
  readonly question?: Question;
}

/** Returns what keeps a row, as it would be sent, from being sent. Asked when an attempt looks, and again by the fence. */
export const heldBy = (look: Look, row: WriteRow, call: Call): Held | undefined => {
  const person = (why: string): Held => ({
    effect: { is: "person", needs: "resume", question: null, why },
  });
  if (look.isOfOtherAccount) {
    const message = "This workflow id belongs to another account.";
    return { effect: { is: "fail", type: "Refused", message, details: {} } };
  }
  if (look.isOutdated) {
    const [at, why] = [look.now + NEWER_WORKER_WAIT_MS, "A newer worker has changed the ledger."];
    return { effect: { is: "wait", at, why, isUnsent: row.doubt === 0 } };
  }
  if (look.stopped !== null) return person(`Sends are stopped: ${look.stopped}`);
  if (look.pause !== undefined) return person(`Paused by ${look.pause.by}: ${look.pause.reason}`);
  const message = overLimit(row.request, look.limits.maxAmounts);
  if (message !== undefined)
    return { effect: { is: "fail", type: "Refused", message, details: { reason: "limit" } } };
  const question = approvalFor(look, row, call);
  return question === undefined
    ? undefined
    : {
        question,
        effect: { is: "person", needs: "approval", question, why: question.reason },
      };
};

/**
 * Returns whether a ledger that says "not sent" may be believed. It may be lost or behind, so Temporal has to name the
 * version that it knows. Everything else is reconciled first.
 */
export const mayBelieveNotSent = (
  row: WriteRow | undefined,
  epoch: number,
  testimony: Testimony,
): boolean => {
  if (row === undefined) return testimony?.is === "none";
  return (
    (row.state === "ready" || row.state === "refused" || row.state === "undone") &&
    row.epoch === epoch &&
    testimony?.is === "version" &&
    testimony.version >= row.knownFrom &&
    testimony.version <= row.version
  );
};
