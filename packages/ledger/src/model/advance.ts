import { answered, checked, evidence, reread } from "./outcomes.ts";
import { mayBelieveNotSent } from "./believe.ts";
import { heldBy } from "./gate.ts";
import {
  changed,
  isHarmless,
  mayEndNow,
  newRow,
  nextGeneration,
  noted,
  nowAsking,
  nowEnded,
  nowUnknown,
  recovered,
  withoutFacts,
} from "./rows.ts";
import { adding, asksPerson, failing, returning } from "./steps.ts";
import type { Advanced, Call, WriteEvent, WritePolicy } from "./events.ts";
import type { WriteRow } from "./row.ts";
import type { Look } from "../store/ledger.ts";

/** What is decided for a call; `plan` is the row that a dispatch would send. */
interface Decided extends Advanced {
  readonly plan?: WriteRow;
}

/** All that the transitions of a call look at. */
interface Context {
  readonly look: Look;
  readonly call: Call;
  readonly policy: WritePolicy;
  readonly who: string;
}

const again: Advanced["effect"] = { is: "again", isKnown: false };

/** The row that would be sent: another request is the next generation, unless nothing of this one was ever sent. */
const withRequest = (row: WriteRow, { look, call }: Context): WriteRow =>
  row.request.hash === call.request.hash
    ? { ...row, request: call.request }
    : changed(row, look, nextGeneration(row, call.request));

const mayAmend = ({ call, look }: Context): boolean =>
  call.mayAmend || look.decisions.some(({ kind }) => kind === "amend");

const ended = (row: WriteRow, { look, who }: Context): Decided => {
  const message = look.end?.reason ?? row.message;
  const end = changed(row, look, { ...nowEnded(row, message), runId: row.runId });
  return { ...adding(end, who, "ended"), effect: failing("Ended", message ?? "") };
};

/** Stands in a row's `token`: this run has reported that it was cancelled, and whatever of it stood still sends nothing. */
const closedBy = ({ runId }: Call): string => `closed:${runId}`;

/** `plan` is sent, unless something holds it. `row` is what is stored now. */
const toSend = (row: WriteRow | undefined, plan: WriteRow, context: Context): Decided => {
  const { call, look, who } = context;
  const isUnsent = plan.state === "ready";
  const isClosed = call.mode === "close" ? isUnsent : row?.token === closedBy(call);
  if (call.mode === "settle" || isClosed) {
    return {
      row: undefined,
      entries: [],
      effect: failing("Cancelled", "Cancelled before it was sent."),
    };
  }
  const held = heldBy(look, plan, call);
  if (held === undefined) {
    const effect = { is: "send", generation: plan.generation, isResend: plan.doubt > 0 } as const;
    return { row: undefined, entries: [], effect, plan };
  }
  const question = held.question ?? plan.question;
  const isSame =
    row !== undefined && row.generation === plan.generation && row.state === plan.state;
  if (isSame && row.question?.id === question?.id) {
    return { row: undefined, entries: [], effect: held.effect };
  }
  const why = "why" in held.effect ? held.effect.why : "";
  const kept = changed(plan, look, { question, runId: call.runId, message: why });
  return { ...adding(kept, who, "held", { why }), effect: held.effect };
};

/** Asks a person. Where another request is given, an answer to send again is for that one. */
const asks = (row: WriteRow, why: string, { call, look, who }: Context): Decided => {
  const { amount, currency, hash } = call.request;
  const isOther = row.request.hash !== hash;
  const sum = amount === null ? "" : ` of ${amount} ${currency}`;
  const reason = isOther ? `${why} To resend sends the request${sum} that is given now.` : why;
  const more = isOther ? { request: hash } : {};
  const asking = changed(row, look, nowAsking(look, reason, more));
  return { ...adding(asking, who, "asks", { reason }), effect: again };
};

/** Nothing vouches for the row: what may have been sent is found out first. */
const mistrusted = (row: WriteRow | undefined, context: Context): Decided => {
  const { call, look, policy, who } = context;
  const known = row ?? newRow(look, call);
  const isRestored = row === undefined ? look.epoch > 1 : row.epoch < look.epoch;
  const isOther = known.request.hash !== call.request.hash;
  const request = isOther ? known.request : call.request;
  const doubt = Math.max(1, known.doubt);
  if (!isHarmless(policy)) {
    const doubted = { ...known, doubt, from: null };
    if (known.state === "undone") {
      const anew = { ...doubted, ...nextGeneration(known, call.request) };
      return asks(anew, "It was undone, and may have been made anew since.", context);
    }
    if (isOther && (isRestored || known.state === "refused"))
      return asks(doubted, "Another request may have been sent under this step.", context);
    if (isRestored && policy.repeat === "keyed")
      return asks(doubted, "The ledger was restored, and another key may have been sent.", context);
  }
  // `from: null` says that no answer of a send was lost; the message says why it is checked.
  const message = isRestored
    ? "The ledger was restored"
    : "Not vouched for: this id may have run before";
  const to = { ...nowUnknown(look, policy), runId: call.runId, request, doubt, from: null };
  const unknown = changed(known, look, {
    ...to,
    message,
    madeId: null,
    result: null,
    knownBy: null,
  });
  return { ...adding(unknown, who, "not vouched for"), effect: again };
};

const unsent = (row: WriteRow | undefined, context: Context): Decided => {
  const { call, look } = context;
  if (row === undefined && look.end !== undefined)
    return { row: undefined, entries: [], effect: failing("Ended", look.end.reason ?? "") };
  if (row !== undefined && look.end !== undefined && mayEndNow(row)) return ended(row, context);
  const isOther = row !== undefined && row.request.hash !== call.request.hash;
  const isOfThisRun = row !== undefined && row.runId === call.runId;
  if (row?.state === "refused" && isOfThisRun && !isOther)
    return { row: undefined, entries: [], effect: failing("Refused", row.message ?? "") };
  if (row?.state === "undone" && isOfThisRun)
    return { row: undefined, entries: [], effect: failing("Cancelled", "It was undone.") };
  if (!mayBelieveNotSent(row, look.epoch, call.testimony)) {
    if (!isOther || row.state === "undone" || mayAmend(context)) return mistrusted(row, context);
    const message = "Another request was given for this step: name it as an amendment.";
    return {
      row: undefined,
      entries: [],
      effect: failing("Refused", message, { reason: "amend" }),
    };
  }
  const current = row ?? newRow(look, call);
  const plan =
    current.state === "ready"
      ? withRequest(current, context)
      : changed(current, look, nextGeneration(current, call.request));
  return toSend(row, plan, context);
};

const unknown = (row: WriteRow, context: Context): Decided => {
  const { call, look, policy } = context;
  if (policy.isListed) return { row: undefined, entries: [], effect: { is: "reconcile" } };
  if (look.end !== undefined) return ended(row, context);
  if (isHarmless(policy)) {
    const isOther = row.request.hash !== call.request.hash;
    if (call.mode === "send")
      return toSend(row, isOther ? withRequest(row, context) : row, context);
    return { row: undefined, entries: [], effect: failing("Cancelled", "Its answer was lost.") };
  }
  if (row.request.hash !== call.request.hash)
    return asks(row, "Another request may have been carried out under this step.", context);
  if (policy.repeat !== "keyed")
    return asks(row, "Its answer was lost, and no list shows it.", context);
  if (look.now - (row.firstSentAt ?? row.createdAt) > policy.keyLifetimeMs)
    return asks(row, "Its answer was lost, and the service may have forgotten its key.", context);
  return toSend(row, row, context);
};

const asking = (row: WriteRow, context: Context): Decided => {
  const { call, look, policy, who } = context;
  if (look.end !== undefined) return ended(row, context);
  const person = { row: undefined, entries: [], effect: asksPerson(row) };
  const decision = look.decisions.find(
    ({ kind, question, sequence }) =>
      question === row.question?.id &&
      sequence > row.decisionsAfter &&
      (kind === "found" || kind === "resend" || kind === "approve"),
  );
  if (decision === undefined) return person;
  if (decision.kind === "found")
    return { row: undefined, entries: [], effect: { is: "check", decision } };
  const plan: WriteRow = { ...withRequest(row, context), state: "asking", question: row.question };
  const cancelled = failing("Cancelled", "Cancelled before it was sent again.");
  const closed = closedBy(call);
  if (call.mode === "close" && row.token !== closed)
    return {
      ...adding(changed(row, look, { token: closed }), who, "cancelled"),
      effect: cancelled,
    };
  // The decision waits for a retry.
  if (call.mode !== "send" || row.token === closed)
    return { row: undefined, entries: [], effect: cancelled };
  const isMeant = mayAmend(context) || row.question?.request === call.request.hash;
  if (row.request.hash !== call.request.hash && !isMeant)
    return asks(row, "Another request is given since this was answered.", context);
  if (policy.isListed && call.reread !== decision.sequence)
    return { row: undefined, entries: [], effect: { is: "check", decision } };
  // What was approved before it was asked is void.
  const held = heldBy(look, plan, call);
  if (held?.question !== undefined) {
    const kept = changed(plan, look, { question: held.question });
    return { ...adding(kept, who, "needs approval"), effect: held.effect };
  }
  if (held !== undefined) return { row: undefined, entries: [], effect: held.effect };
  const effect = { is: "send", generation: plan.generation, isResend: true } as const;
  return { row: undefined, entries: [], effect, plan };
};

const called = (context: Context): Decided => {
  const { call, look, policy, who } = context;
  const { row } = look;
  if (row === undefined) return unsent(row, context);
  switch (row.state) {
    case "ready":
    case "refused":
    case "undone":
      return unsent(row, context);
    case "sending": {
      if (row.epoch !== look.epoch) return mistrusted(row, context);
      // Another attempt may dispatch, or has. From now on it may not.
      const doubt = row.doubt + 1;
      const lost = changed(row, look, { ...nowUnknown(look, policy), doubt, runId: call.runId });
      return { ...adding(lost, who, "its attempt was lost"), effect: again };
    }
    case "unknown":
      if (row.epoch === look.epoch) return unknown(row, context);
      return mistrusted(row, context);
    case "asking": {
      const anew = recovered(row, look);
      if (anew === undefined) return asking(row, context);
      return { ...adding(anew, who, "asks anew"), effect: asksPerson(anew) };
    }
    case "done":
      if (row.request.hash === call.request.hash)
        return { row: undefined, entries: [], effect: returning(row) };
      return {
        row: undefined,
        entries: [],
        effect: failing(
          "AlreadyCarriedOut",
          `Another request of this step was carried out: ${row.madeId}.`,
          {
            id: row.madeId,
          },
        ),
      };
    case "ended":
      return {
        row: undefined,
        entries: [],
        effect: failing(
          look.end?.value["rejected"] === true ? "Rejected" : "Ended",
          row.message ?? "",
        ),
      };
  }
};

/** The fence: decides once more what was decided for the call, in the transaction that permits the first byte. */
const dispatching = (context: Context, token: string): Advanced => {
  const { call, look, who } = context;
  const { row } = look;
  const stop = (why: string): Advanced => ({
    row: undefined,
    entries: [],
    effect: { is: "stop", why },
  });
  if (!token.startsWith(`${look.epoch}:`)) return stop("The ledger was restored meanwhile.");
  let plan = row;
  // The client sends a second time within one call, after it has signed in anew.
  const isHeld = row?.state === "sending" && row.token === token && row.epoch === look.epoch;
  if (isHeld) {
    if (look.end !== undefined) return stop("Ended by a person.");
    const held = heldBy(look, row, call);
    if (held !== undefined) return stop("why" in held.effect ? held.effect.why : "Not permitted.");
  } else {
    if (row?.state === "sending") return stop("Another attempt has taken over.");
    const decided = called(context);
    ({ plan } = decided);
    if (plan === undefined)
      return stop(
        "why" in decided.effect ? decided.effect.why : `The write is ${row?.state ?? "new"}.`,
      );
  }
  if (plan === undefined) return stop("Another attempt has taken over.");
  const sending = changed(row === undefined ? plan : { ...plan, version: row.version }, look, {
    state: "sending",
    token,
    runId: call.runId,
    sends: plan.sends + 1,
    firstSentAt: plan.firstSentAt ?? look.now,
    from: plan.doubt === 0 ? (plan.from ?? look.now) : plan.from,
    question: null,
    message: null,
    isUntold: false,
  });
  return {
    ...adding(
      sending,
      who,
      "sent",
      { generation: sending.generation, number: sending.sends },
      "send",
    ),
    effect: { is: "go" },
  };
};

/**
 * Decides what an event does to a write, and what the attempt does next: the only place that does. Pure and total; to be
 * called inside the transaction that has made the look and writes the row.
 *
 * @param look - everything that decides, read in the same transaction.
 * @param event - what happens.
 * @param policy - how the operation may be sent again.
 * @returns the row as it is to be, the next effect, and what is logged.
 */
export const advance = (look: Look, event: WriteEvent, policy: WritePolicy): Advanced => {
  const { who } = event;
  switch (event.is) {
    case "called": {
      const { effect, entries, row } = called({ look, call: event.call, policy, who });
      return { effect, entries, row };
    }
    case "dispatching":
      return dispatching({ look, call: event.call, policy, who }, event.token);
    case "answered":
      return answered(look, event, policy);
    case "evidence":
      return evidence(look, event, policy);
    case "checked":
      return checked(look, event);
    case "reread":
      return reread(look, event);
    case "undone": {
      if (look.row?.state !== "done") return { row: undefined, entries: [], effect: again };
      const undone = changed(look.row, look, {
        state: "undone",
        request: withoutFacts(look.row.request),
      });
      return { ...adding(undone, who, "undone"), effect: again };
    }
    case "told": {
      const { row } = look;
      const told = row?.isUntold === true ? noted(row, { isUntold: false }) : undefined;
      return { row: told, entries: [], effect: again };
    }
  }
};
