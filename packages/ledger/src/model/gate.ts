import { isSamePerson } from "./person.ts";
import { compareDecimals } from "./decimal.ts";
import { needsApproval, overLimit } from "./limits.ts";
import { questionOf } from "./rows.ts";
import type { Call, Effect, Testimony } from "./events.ts";
import type { Question, WriteRequest, WriteRow } from "./row.ts";
import type { DecisionKind, FiledPayment, Look } from "../store/ledger.ts";

/** How long a newer worker has to take over before this one looks again. */
const NEWER_WORKER_WAIT_MS = 30_000;
const STOPPED_WAIT_MS = 60_000;

/** By these a person decides about a payment that its file's approval knew nothing of. */
const DECIDED_ANEW: ReadonlySet<DecisionKind> = new Set(["amend", "overrule", "resend"]);

/** Whether a request pays what the row of a file says. */
const paysAsFiled = (file: FiledPayment, { amount, currency, payee }: WriteRequest): boolean =>
  amount !== null &&
  file.amount !== null &&
  compareDecimals(amount, file.amount) === 0 &&
  currency === file.currency &&
  payee !== null &&
  file.payees.includes(payee);

const isStarted = ({ state }: FiledPayment): boolean => state !== "waiting" && state !== "rejected";

/** Why nothing is sent under the id of a file's row: it is not its turn, or is not what the file says. */
const notAsFiled = ({ filed, isAmended }: Look, request: WriteRequest): string | undefined => {
  const started = filed.filter(isStarted);
  if (filed.length === 0 || request.amount === null) return undefined;
  if (started.length === 0) return "This id is a row of a file, and was not started by it.";
  return isAmended || started.some((file) => paysAsFiled(file, request))
    ? undefined
    : "This id is a row of a file that pays something else: amend it.";
};

/** Whether somebody other than the requester has approved exactly what `row` would send. */
const isApproved = (look: Look, row: WriteRow, call: Call, account: string | null): boolean => {
  const { decisions, filed } = look;
  // A run that does not say who started it has no requester that anybody can be told apart from.
  if (call.startedBy === undefined) return false;
  const requesters = [call.startedBy, look.startedBy ?? call.startedBy];
  const isOther = (by: string) => !requesters.some((requester) => isSamePerson(by, requester));
  // A file's approval covers what its row says, not an amendment, an overrule or a resend.
  const isDecided = decisions.some(({ kind }) => DECIDED_ANEW.has(kind));
  const isNew = row.generation === 1 && row.decisionsAfter === 0 && !isDecided;
  const isFiled = filed.some(
    (file) =>
      file.approvedBy !== null && isOther(file.approvedBy) && paysAsFiled(file, row.request),
  );
  if (isNew && isFiled) return true;
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
  if (isApproved(look, row, call, account)) return undefined;
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
  const wait = (afterMs: number, why: string): Held => ({
    effect: { is: "wait", at: look.now + afterMs, why, isUnsent: row.doubt === 0 },
  });
  if (look.isOutdated) return wait(NEWER_WORKER_WAIT_MS, "A newer worker has changed the ledger.");
  // Nobody answers a run about it: it looks again after `recover`, or by another worker with the right ledger.
  if (look.stopped !== null) return wait(STOPPED_WAIT_MS, `Sends are stopped: ${look.stopped}`);
  if (look.pause !== undefined) return person(`Paused by ${look.pause.by}: ${look.pause.reason}`);
  const refused = (message: string, reason: string): Held => ({
    effect: { is: "fail", type: "Refused", message, details: { reason } },
  });
  const other = notAsFiled(look, row.request);
  if (other !== undefined) return refused(other, "amend");
  const over = overLimit(row.request, look.limits.maxAmounts);
  if (over !== undefined) return refused(over, "limit");
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
