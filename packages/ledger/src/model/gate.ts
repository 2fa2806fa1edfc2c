import { isAtLeast } from "@durable-payments/api-core/decimal";
import { canonicalDecimal } from "@durable-payments/api-core/values";
import type { JsonObject, WriteRequest, Question, WriteRow } from "./row.ts";
import { isHarmless, questionOf } from "./rows.ts";
import type { Call, Effect, Testimony, WritePolicy } from "./events.ts";
import { isSamePerson } from "./person.ts";
import type { DecisionKind, FiledPayment, Look } from "../store/ledger.ts";

/** Amounts by currency: decimal strings in units of it. */
type Amounts = Readonly<Record<string, string>>;
type Money = Pick<WriteRequest, "amount" | "currency">;

/** Names a currency and an exact amount: 250, 250.0 and 250.00 are one. */
export const moneyOf = ({ amount, currency }: Money): string =>
  `${currency} ${canonicalDecimal(amount ?? "") ?? amount}`;

/** Whether an unsigned decimal string is more than another; an invalid string is more than any. */
const isAbove = (amount: string, limit: string): boolean =>
  !isAtLeast(canonicalDecimal(limit) ?? "", canonicalDecimal(amount) ?? "");

const limitOf = (limits: Amounts, currency: string): string | undefined =>
  Object.hasOwn(limits, currency) ? limits[currency] : undefined;

/**
 * Returns why a request is above the limits of its account: a currency that they do not list is not paid.
 *
 * @param limits - null if the account has none.
 * @returns a sentence; undefined if it may be sent.
 */
export const overLimit = (
  { amount, currency }: Money,
  limits: Amounts | null,
): string | undefined => {
  if (limits === null || amount === null || currency === null) return undefined;
  const limit = limitOf(limits, currency);
  if (limit === undefined) return `The account's limits do not list ${currency}.`;
  return isAbove(amount, limit)
    ? `${amount} ${currency} is above the limit of ${limit} ${currency}.`
    : undefined;
};

/**
 * Returns why a second person has to approve a request: a currency that the limits do not list needs approval.
 *
 * @param given - limit of the step itself, in the currency of the request.
 * @param limits - those of the account; null if it has none.
 * @returns a sentence; undefined if nobody has to.
 */
export const needsApproval = (
  { amount, currency }: Money,
  given: string | undefined,
  limits: Amounts | null,
): string | undefined => {
  if (amount === null || currency === null) return undefined;
  const listed = limits === null ? undefined : limitOf(limits, currency);
  const above = [given, listed].find((limit) => limit !== undefined && isAbove(amount, limit));
  const asks = "A second person has to approve it:";
  if (above !== undefined) return `${asks} ${amount} ${currency} is above ${above} ${currency}.`;
  return limits !== null && listed === undefined && given === undefined
    ? `${asks} no limit is set for payments in ${currency}.`
    : undefined;
};

/** How long a newer worker has to take over before this one looks again. */
const NEWER_WORKER_WAIT_MS = 30_000;
const STOPPED_WAIT_MS = 60_000;

/** Decisions about a payment that its file's approval did not cover. */
const DECIDED_ANEW: ReadonlySet<DecisionKind> = new Set(["amend", "overrule", "resend"]);

/** Whether a request is the payment of a file's row. */
const paysAsFiled = (file: FiledPayment, request: WriteRequest): boolean =>
  request.amount !== null &&
  moneyOf(request) === moneyOf(file) &&
  request.payee !== null &&
  file.payees.includes(request.payee);

const isStarted = ({ state }: FiledPayment): boolean =>
  state === "started" || state === "succeeded" || state === "failed";

/** The reason why nothing is sent under the id of a file's row: the file has not started it, or says something else. */
const notAsFiled = ({ filed, isAmended }: Look, request: WriteRequest): string | undefined => {
  const started = filed.filter(isStarted);
  if (filed.length === 0 || request.amount === null) return undefined;
  if (started.length === 0)
    return "This id belongs to a row of a file, and the file has not started it.";
  return isAmended || started.some((file) => paysAsFiled(file, request))
    ? undefined
    : "This id belongs to a row of a file with another payment: amend the row.";
};

/** Whether somebody other than the requester has approved exactly what `row` would send. */
const isApproved = (look: Look, row: WriteRow, call: Call, account: string | null): boolean => {
  const { decisions, filed } = look;
  // A run that does not say who started it has no requester to compare the approver with.
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

/** The question that has to be approved before `row` may be sent; undefined if none is needed. */
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

/** The reason why a row is not sent now. `question` is the question to keep in the row. */
export interface Held {
  readonly effect: Effect;
  readonly question?: Question;
}

/** Returns the reason why a row may not be sent, if any. Asked at the start of an attempt, and again by the fence. */
export const heldBy = (look: Look, row: WriteRow, call: Call): Held | undefined => {
  const person = (why: string): Held => ({
    effect: { is: "person", needs: "resume", question: null, why },
  });
  const refused = (message: string, details: JsonObject = {}): Held => ({
    effect: { is: "fail", type: "Refused", message, details },
  });
  if (look.isOfOtherAccount) return refused("This workflow id belongs to another account.");
  const wait = (afterMs: number, why: string): Held => ({
    effect: { is: "wait", at: look.now + afterMs, why, isUnsent: row.doubt === 0 },
  });
  if (look.isOutdated) return wait(NEWER_WORKER_WAIT_MS, "A newer release has changed the ledger.");
  // No person answers this: the run looks again after `recover`, or on a worker with the right ledger.
  if (look.stopped !== null) return wait(STOPPED_WAIT_MS, `Sends are stopped: ${look.stopped}`);
  if (look.pause !== undefined) return person(`Paused by ${look.pause.by}: ${look.pause.reason}`);
  const other = notAsFiled(look, row.request);
  if (other !== undefined) return refused(other, { reason: "amend" });
  const over = overLimit(row.request, look.limits.maxAmounts);
  if (over !== undefined) return refused(over, { reason: "limit" });
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
 * version that it knows. After a recovery Temporal may have forgotten as well, so an id without a row may have sent: only a
 * harmless repeat is believed. Everything else is reconciled first.
 */
export const mayBelieveNotSent = (
  row: WriteRow | undefined,
  epoch: number,
  testimony: Testimony,
  policy: WritePolicy,
): boolean => {
  if (row === undefined) return testimony?.is === "none" && (epoch === 1 || isHarmless(policy));
  return (
    (row.state === "ready" || row.state === "refused" || row.state === "undone") &&
    row.epoch === epoch &&
    testimony?.is === "version" &&
    testimony.version >= row.knownFrom &&
    testimony.version <= row.version
  );
};
