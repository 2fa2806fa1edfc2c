/**
 * The state machine of a write: its states are in `row.ts`, its events and actions in `events.ts`.
 *
 * A send may be lost without a trace, and an attempt may freeze, be repeated or work with a restored ledger. So the state
 * of a row says only what the ledger knows: `unknown` and `asking` mean that the write may have taken effect. Each event is
 * decided here, by all facts of one `Look`, in the transaction that reads and writes the row.
 *
 * The transition to `sending` is not obvious: `called` only plans the send. At the last moment before
 * the first byte, the client brings `dispatching`: it repeats the decision with the facts of that moment, and saves the plan.
 *
 * `outcomes.ts` has the events after a send, `gate.ts` everything that can hold a send, and `row-changes.ts` the changes of a
 * row. The page docs/contributors/ledger-states.md is generated from this function, and test/model explores it.
 */
import { answered, checked, type EventOf, evidence, reread } from "./outcomes.ts";
import { answerTo, heldBy, isFirstOf, mayBelieveNotSent } from "./gate.ts";
import {
  again,
  type Become,
  becoming,
  changed,
  failing,
  isHarmless,
  isRestored,
  LEAVES_WITHIN_MS,
  mayEndNow,
  newRow,
  nextGeneration,
  nothing,
  nowAsking,
  nowEnded,
  nowUnknown,
  recoveryText,
  returning,
  waiting,
  withoutFacts,
} from "./row-changes.ts";
import type { Advanced, Call, WriteAction, WriteEvent, WritePolicy } from "./events.ts";
import type { WriteRow } from "./row.ts";
import type { Look } from "../store/ledger.ts";

/** The decision about a call; `plan` is the row that a dispatch would send: only `dispatching` reads it. */
interface Planned extends Advanced {
  readonly plan?: WriteRow;
}

/** The facts behind the transitions of a call. */
interface Context {
  readonly look: Look;
  readonly call: Call;
  readonly policy: WritePolicy;
  readonly become: Become;
}

/** The row to send. A changed request starts the next generation, unless the current one was never sent. */
const withRequest = (row: WriteRow, { look, call }: Context): WriteRow =>
  row.request.hash === call.request.hash
    ? { ...row, request: call.request }
    : changed(row, look, nextGeneration(row, call.request));

/** The failure of a step that a person has ended. Its details name the person, for a recovery of a lost ledger. */
const failedBy = ({ end }: Look, message = end?.reason ?? null): WriteAction => {
  const type = end?.value["rejected"] === true ? "Rejected" : "Ended";
  return failing(type, message ?? "", end === undefined ? {} : { by: end.by });
};

const ended = (row: WriteRow, { become, look }: Context): Planned => {
  const message = look.end?.reason ?? row.message;
  return become(row, nowEnded(row, look, message), "ended", failedBy(look, message));
};

/** The run that asks for the write, with its workflow. */
const askedBy = ({ ownerId, rootId, runId }: Call): Partial<WriteRow> => ({
  ownerId,
  rootId,
  runId,
});

/** Sends `plan`, unless something forbids it. `row` is the stored row. */
const toSend = (row: WriteRow | undefined, plan: WriteRow, context: Context): Planned => {
  const { become, call, look } = context;
  const isUnsent = plan.state === "ready";
  const isClosed = call.mode === "close" ? isUnsent : row?.closedBy === call.runId;
  if (call.mode === "settle" || isClosed)
    return nothing(failing("Cancelled", "Cancelled before it was sent."));
  const held = heldBy(look, plan, call);
  if (held === undefined) {
    const action = { is: "send", generation: plan.generation, isResend: plan.doubt > 0 } as const;
    return { ...nothing(action), plan };
  }
  const question = questionIn(held) ?? plan.question;
  const isSame = row?.generation === plan.generation && row.state === plan.state;
  if (isSame && row.question?.id === question?.id) return nothing(held);
  const why = whyOf(held);
  return become(plan, { ...askedBy(call), question, message: why }, "held", held, { why });
};

/** The question that a person must approve before a send, if the send is held for that reason. */
const questionIn = (held: WriteAction | undefined) =>
  held?.is === "person" ? held.question : undefined;

/** The reason why an attempt does not send. */
const whyOf = (action: WriteAction): string =>
  "why" in action ? action.why : "message" in action ? action.message : "Not permitted.";

/** Asks a person. If the run now gives another request, the answer `resend` sends that one. */
const asks = (row: WriteRow, why: string, { become, call, look }: Context): Planned => {
  const { amount, currency, hash } = call.request;
  const isOther = row.request.hash !== hash;
  const sum = amount === null ? "" : ` of ${amount} ${currency}`;
  const reason = isOther ? `${why} A resend sends the present request${sum}.` : why;
  const more = isOther ? { request: hash } : {};
  return become(row, nowAsking(look, reason, more), "asks", again, { reason });
};

/** Wait of an attempt while another one may send. */
const UNDER_WAY_WAIT_MS = 5_000;

/**
 * Returns a wait while another attempt may be about to send, or is sending. Workflows that ask for the same key wait for
 * the same list, so at the same moment each finds that nothing was sent. If one took over from the other, nothing would be
 * sent, and both would wait for the list again: time after time on a slow machine.
 */
const underWay = (row: WriteRow, { call, look, policy }: Context): Planned | undefined => {
  const isSending = row.state === "sending";
  // A row that is sent has the owner who sends it. An attempt that finds that nothing was sent is not the owner yet.
  const isContested = isSending
    ? row.ownerId !== call.ownerId
    : row.state === "ready" && [row, call].some(({ ownerId }) => ownerId !== call.name.workflowId);
  const endsAfterMs = LEAVES_WITHIN_MS + (isSending ? policy.requestTimeoutMs : 0);
  const isOver = Math.abs(look.now - row.changedAt) >= endsAfterMs;
  if (!isContested || isOver || row.epoch !== look.epoch || isHarmless(policy)) return undefined;
  return nothing(
    waiting(look.now + UNDER_WAY_WAIT_MS, "Another attempt may be sending it.", false),
  );
};

/** The row is not vouched for: it is reconciled first. */
const mistrusted = (row: WriteRow | undefined, context: Context): Planned => {
  const { become, call, look, policy } = context;
  const found = row ?? newRow(look, call);
  // An undone write is made again under another key, and can again be undone.
  const isUndone = found.state === "undone";
  const known = isUndone ? { ...found, ...nextGeneration(found, call.request) } : found;
  const isForgotten = row === undefined ? look.epoch > 1 : row.epoch < look.epoch;
  const isFirst = row === undefined && isFirstOf(call);
  const isOther = known.request.hash !== call.request.hash;
  const request = isOther ? known.request : call.request;
  const doubt = Math.max(1, known.doubt);
  if (!isHarmless(policy)) {
    const doubted = { ...known, doubt, from: null };
    if (isUndone)
      return asks(doubted, "It was undone, and may have been made again since.", context);
    if (call.mode !== "send" && !policy.isListed)
      return asks(
        doubted,
        "It is no longer certain that it was not sent, and no list shows it.",
        context,
      );
    if (isOther && (isForgotten || known.state === "refused"))
      return asks(doubted, "Another request may have been sent under this step.", context);
    // A first attempt sends the first key again: a repeat is ignored, and a refusal of it proves nothing.
    if (isForgotten && policy.repeat === "keyed" && !isFirst)
      return asks(doubted, `${recoveryText(look)}, and another key may have been sent.`, context);
  }
  // `from: null`: no response was lost; the message says why the write is checked.
  const message = isForgotten ? recoveryText(look) : "This id may have run before";
  const unmade = { madeId: null, result: null, knownBy: null };
  // A first run has sent nothing since the recovery, so the wait began with it.
  const since = isFirst ? (look.recoveredAt ?? look.now) : look.now;
  const sent = { ...askedBy(call), request, doubt, from: null, message };
  const to = { ...nowUnknown(since, policy), ...sent, ...unmade };
  return become(known, to, "not vouched for", again);
};

const unsent = (row: WriteRow | undefined, context: Context): Planned => {
  const { call, look, policy } = context;
  const isBelieved = mayBelieveNotSent(row, look.epoch, call, policy);
  // An end of what nothing vouches for proves nothing about earlier sends: the list does.
  const isVouched = row === undefined ? isBelieved : !isRestored(row, look);
  // Without a row, only a run that a restored ledger has forgotten is settled: a person says whether it was sent.
  const isForgotten = row === undefined && call.mode === "settle";
  if (look.end !== undefined && (isVouched || !(policy.isListed || isForgotten))) {
    if (row === undefined) return nothing(failedBy(look));
    if (mayEndNow(row)) return ended(row, context);
  }
  const isOther = row !== undefined && row.request.hash !== call.request.hash;
  const isOfThisRun = row !== undefined && row.runId === call.runId;
  if (row?.state === "refused" && isOfThisRun && !isOther)
    return nothing(failing("Refused", row.message ?? ""));
  if (row?.state === "undone" && isOfThisRun)
    return nothing(failing("Cancelled", "It was undone."));
  if (!isBelieved) return (row && underWay(row, context)) ?? mistrusted(row, context);
  const current = row ?? newRow(look, call);
  const plan =
    current.state === "ready"
      ? withRequest(current, context)
      : changed(current, look, nextGeneration(current, call.request));
  return toSend(row, plan, context);
};

const unknown = (row: WriteRow, context: Context): Planned => {
  const { call, look, policy } = context;
  if (policy.isListed) return nothing({ is: "reconcile" });
  if (look.end !== undefined) return ended(row, context);
  if (isHarmless(policy)) {
    const isOther = row.request.hash !== call.request.hash;
    return call.mode === "send"
      ? toSend(row, isOther ? withRequest(row, context) : row, context)
      : nothing(failing("Cancelled", "Its response was lost."));
  }
  if (row.request.hash !== call.request.hash)
    return asks(row, "Another request of this step may have succeeded.", context);
  if (policy.repeat !== "keyed")
    return asks(row, "Its response was lost, and no list shows it.", context);
  if (look.now - (row.firstSentAt ?? row.createdAt) > policy.keyLifetimeMs)
    return asks(row, "Its response was lost, and the service may have forgotten its key.", context);
  return toSend(row, row, context);
};

const asking = (row: WriteRow, context: Context): Planned => {
  const { become, call, look, policy } = context;
  // An end from before the question does not answer it.
  if (look.end !== undefined && look.end.sequence > row.decisionsAfter) return ended(row, context);
  const { question } = row;
  const decision = answerTo(row, look.decisions);
  if (look.end !== undefined && decision?.kind !== "found") return nothing(failedBy(look));
  if (decision === undefined) {
    const needs = question?.kind === "approval" ? "approval" : "answer";
    const why = question?.reason ?? row.message ?? "";
    return nothing({ is: "person", needs, question, why });
  }
  if (decision.kind === "found") return nothing({ is: "check", decision });
  const plan: WriteRow = { ...withRequest(row, context), state: "asking", question };
  const cancelled = failing("Cancelled", "Cancelled before it was sent again.");
  const isClosed = row.closedBy === call.runId;
  if (call.mode === "close" && !isClosed)
    return become(row, { closedBy: call.runId }, "cancelled", cancelled);
  // The decision waits for a retry.
  if (call.mode !== "send" || isClosed) return nothing(cancelled);
  const isMeant =
    call.mayAmend ||
    look.decisions.some(
      ({ kind, sequence }) => kind === "amend" && sequence > row.decisionsAfter,
    ) ||
    question?.request === call.request.hash;
  if (row.request.hash !== call.request.hash && !isMeant)
    return asks(row, "The request has changed since this was answered.", context);
  if (policy.isListed && call.reread !== decision.sequence)
    return nothing({ is: "check", decision });
  // An approval from before the question is void.
  const held = heldBy(look, plan, call);
  const asked = questionIn(held);
  if (held && asked) return become(plan, { question: asked }, "needs approval", held);
  if (held !== undefined) return nothing(held);
  return { ...nothing({ is: "send", generation: plan.generation, isResend: true }), plan };
};

const called = (context: Context): Planned => {
  const { become, call, look, policy } = context;
  const { row } = look;
  if (row === undefined) return unsent(row, context);
  switch (row.state) {
    case "ready":
    case "refused":
    case "undone":
      return unsent(row, context);
    case "sending": {
      if (row.epoch !== look.epoch) return mistrusted(row, context);
      const other = underWay(row, context);
      if (other !== undefined) return other;
      // Another attempt may dispatch, or has. From now on it may not.
      const lost = { ...nowUnknown(look.now, policy), doubt: row.doubt + 1, ...askedBy(call) };
      return become(row, lost, "its attempt was lost", again);
    }
    case "unknown":
      return row.epoch === look.epoch ? unknown(row, context) : mistrusted(row, context);
    case "asking":
      // A response may be about a row that a restored ledger lacks: that row is reconciled again.
      return row.epoch === look.epoch ? asking(row, context) : mistrusted(row, context);
    case "done": {
      const { madeId: id, operation, ownerId, workflowId } = row;
      const key = workflowId.slice(workflowId.indexOf("/") + 1);
      // The row of a key has an id that is made of it.
      const what = workflowId === ownerId ? workflowId : `the key ${key}`;
      const message = `Nothing was sent. Another ${operation} of ${what} has succeeded: ${id}, made by ${ownerId}. If it was for the same, there is nothing to do. Otherwise use another key, and pay only the difference.`;
      const isOther = row.request.hash !== call.request.hash;
      return nothing(
        isOther ? failing("AlreadyCarriedOut", message, { id, ownerId }) : returning(row),
      );
    }
    case "ended":
      return nothing(failedBy(look, row.message));
  }
};

/** Returns why a stop, a pause, a limit or another attempt forbids the send that the row's token permits; changes nothing. */
const leaving = ({ call, look }: Context, token: string): Advanced => {
  const { row } = look;
  const stop = (why: string): Advanced => nothing({ is: "stop", why });
  if (!token.startsWith(`${look.epoch}:`)) return stop(`${recoveryText(look)} meanwhile.`);
  const isHeld = row?.state === "sending" && row.token === token && row.epoch === look.epoch;
  if (!isHeld) return stop("Another attempt has taken over.");
  if (look.end !== undefined) return stop("Ended by a person.");
  const held = heldBy(look, row, call);
  return held === undefined ? nothing({ is: "go" }) : stop(whyOf(held));
};

/**
 * The fence: repeats the decision of the call in the transaction that permits the first byte. A row that is being sent is
 * not written again, so a call that asks several times is one send.
 */
const dispatching = (context: Context, event: EventOf<"dispatching">): Advanced => {
  const { token, what = "sending" } = event;
  const { become, call, look } = context;
  if (look.row?.state === "sending" || !token.startsWith(`${look.epoch}:`))
    return leaving(context, token);
  const { action, plan } = called(context);
  if (plan === undefined) return nothing({ is: "stop", why: whyOf(action) });
  const { generation } = plan;
  const sends = plan.sends + 1;
  const sending: Partial<WriteRow> = {
    state: "sending",
    ...askedBy(call),
    token,
    closedBy: null,
    sends,
    firstSentAt: plan.firstSentAt ?? look.now,
    from: plan.doubt === 0 ? (plan.from ?? look.now) : plan.from,
    question: null,
    message: null,
    mustNotify: false,
  };
  const { amount, currency, payee } = plan.request;
  const sent = { generation, number: sends, amount, currency, payee };
  return become(plan, sending, what, { is: "go" }, sent);
};

/**
 * Decides the next state of a write after an event, and the next action of the attempt. No other code decides that.
 * Pure and total; called inside the transaction that reads and writes the row.
 *
 * @param look - all facts that decide, read in the same transaction.
 * @param event - the event.
 * @param policy - how the operation may be sent again.
 * @returns the new row, the next action, and the entries of the log.
 */
export const advance = (look: Look, event: WriteEvent, policy: WritePolicy): Advanced => {
  const become = becoming(look, event.who);
  switch (event.is) {
    case "called":
      return called({ look, call: event.call, policy, become });
    case "dispatching":
      return dispatching({ look, call: event.call, policy, become }, event);
    case "leaving":
      return leaving({ look, call: event.call, policy, become }, event.token);
    case "answered":
      return answered(look, event, policy);
    case "evidence":
      return evidence(look, event, policy);
    case "checked":
      return checked(look, event);
    case "reread":
      return reread(look, event);
    case "undone": {
      if (look.row?.state !== "done") return nothing(again);
      const to = { state: "undone", request: withoutFacts(look.row.request) } as const;
      return become(look.row, to, "undone", again);
    }
  }
};
