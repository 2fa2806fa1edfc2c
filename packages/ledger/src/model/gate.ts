/**
 * Everything that can hold a send: a stopped ledger, a pause, the rules of a file, a limit, an approval; and belief.
 *
 * Belief is the heart of the promise "exactly once". A ledger that was lost or restored also says "not sent", and then it
 * is wrong. So its word alone never permits a send: see `mayBelieveNotSent`.
 */
import { approvalReason, isApproved } from "./approvals.ts";
import { limitsId, overLimit } from "./limits.ts";
import type { JsonObject, Question, WriteName, WriteRequest, WriteRow } from "./row.ts";
import { failing, isHarmless, questionOf, waiting } from "./row-changes.ts";
import type { Call, WriteAction, WritePolicy } from "./events.ts";
import type { Decision, Look } from "../store/ledger.ts";

/** Time for a newer worker to take over, before this one checks again. */
const NEWER_WORKER_WAIT_MS = 30_000;
const STOPPED_WAIT_MS = 60_000;

/** Returns the id under which the log has the decisions about a file. */
export const batchLogId = (id: string): string => `batch:${id}`;

/** Whether an id belongs to a row, and no file has started it. */
const isNotStarted = ({ filed }: Look): boolean => filed.length > 0 && !filed.includes("started");

/** The reason why nothing is sent under an id: its file has not started it, or its start says that something else is paid. */
const notAsStarted = (
  look: Look,
  { payee, amount, terms }: WriteRequest,
  { workflowId }: WriteName,
): string | undefined => {
  const { created, decisions, recoveredAt } = look;
  // A payee too: a row whose payee another run has created cannot be paid as the file says.
  if (isNotStarted(look))
    return "This id belongs to a row of a file, and the file has not started it.";
  if (amount === null) return undefined;
  const own = decisions.filter((decision) => decision.workflowId === workflowId);
  const said = own.filter(
    ({ kind, value }) => (kind === "start" || kind === "amend") && "terms" in value,
  );
  // The key of a rejected row may be started with another payment, which is then the only one.
  const latest = said.findLastIndex(({ kind }) => kind === "start");
  const starts = said.slice(Math.max(0, latest));
  const payees = [payee, ...created.filter(({ id }) => id === payee).map(({ mark }) => mark)];
  const isSaid = starts.some(
    ({ at, value }) =>
      value["terms"] === terms &&
      // A restored ledger may have forgotten that its run created the payee.
      (at < (recoveredAt ?? 0) ||
        value["payee"] === undefined ||
        payees.some((one) => one === value["payee"])),
  );
  return starts.length === 0 || isSaid
    ? undefined
    : "This id was started with another payment, for example by the row of a file: amend it.";
};

/** Returns the answer or the approval of the open question of a write, which its run has not followed yet. */
export const answerTo = (
  { decisionsAfter, question, workflowId }: WriteRow,
  decisions: ReadonlyArray<Decision>,
): Decision | undefined =>
  decisions.find(
    (one) =>
      one.workflowId === workflowId &&
      one.question === question?.id &&
      one.sequence > decisionsAfter &&
      (one.kind === "found" || one.kind === "resend" || one.kind === "approve"),
  );

/** The question that has to be approved before `row` may be sent; undefined if none is needed. */
const approvalFor = (look: Look, row: WriteRow, call: Call): Question | undefined => {
  const { payee, root } = call;
  const why = approvalReason(look, row, call);
  if (why === undefined || isApproved(look, row, call)) return undefined;
  const account = payee?.mark ?? null;
  const { question } = row;
  // A question whose approval is void is asked again, or nobody could approve it.
  const isAnswered = look.decisions.some((decision) => decision.question === question?.id);
  const isSame = question?.account === account && question.root?.firstRunId === root?.firstRunId;
  return question?.kind === "approval" && isSame && !isAnswered
    ? question
    : questionOf(look, "approval", payee ? `${why} It pays ${payee.shown}.` : why, {
        account,
        ...(root && { root }),
      });
};

/** Why a row may not be sent, if anything forbids it: asked at the start of an attempt, and again by the fence. */
export const heldBy = (look: Look, row: WriteRow, call: Call): WriteAction | undefined => {
  const refused = (message: string, details: JsonObject = {}) =>
    failing("Refused", message, details);
  const wait = (afterMs: number, why: string) => waiting(look.now + afterMs, why, row.doubt === 0);
  if (look.isOfOtherAccount) return refused("This workflow id belongs to another account.");
  const { name, ownerId, rootId } = call;
  // Its stop order would be a line about the limits or the file.
  const isOfLog = (id: string) => id === limitsId(name.account) || id.startsWith(batchLogId(""));
  if ([name.workflowId, ownerId, rootId].some(isOfLog))
    return refused("This workflow id is reserved for limits and files: choose another one.");
  if (look.isOutdated) return wait(NEWER_WORKER_WAIT_MS, "A newer release has changed the ledger.");
  // No person answers this: the run checks again after `recover`, or on a worker with the right ledger.
  if (look.stopped !== null) return wait(STOPPED_WAIT_MS, `Sends are stopped: ${look.stopped}`);
  const { pause } = look;
  if (pause !== undefined) {
    const why = `Paused by ${pause.by}: ${pause.reason}`;
    return { is: "person", needs: "resume", question: null, why };
  }
  // Its run was open when its file was uploaded again to a lost ledger. A refusal would claim that nothing was sent.
  if (row.doubt > 0 && isNotStarted(look) && look.filed.includes("waiting"))
    return wait(STOPPED_WAIT_MS, "Its file has not been approved, or has not started it yet.");
  const other = notAsStarted(look, row.request, row);
  if (other !== undefined) return refused(other, { reason: "amend" });
  const over = overLimit(row.request, [look.limits.maxAmounts, call.limits?.maxAmounts ?? null]);
  if (over !== undefined) return refused(over, { reason: "limit" });
  const question = approvalFor(look, row, call);
  return question && { is: "person", needs: "approval", question, why: question.reason };
};

/** Whether Temporal says that nothing was sent before: of a key it cannot, because another workflow may have used it. */
export const isFirstOf = ({ name, ownerId, testimony }: Call): boolean =>
  testimony?.is === "none" && ownerId === name.workflowId;

/**
 * Returns whether a ledger that says "not sent" may be believed. It may be lost or behind, so Temporal must name the
 * version that it knows. After a recovery Temporal may have forgotten as well, so an id without a row may have sent:
 * only a harmless repeat is believed. Everything else is reconciled first.
 */
export const mayBelieveNotSent = (
  row: WriteRow | undefined,
  epoch: number,
  call: Call,
  policy: WritePolicy,
): boolean => {
  if (row === undefined) return isFirstOf(call) && (epoch === 1 || isHarmless(policy));
  const { testimony } = call;
  return (
    (row.state === "ready" || row.state === "refused" || row.state === "undone") &&
    row.epoch === epoch &&
    testimony?.is === "version" &&
    testimony.version >= row.knownFrom &&
    testimony.version <= row.version
  );
};
