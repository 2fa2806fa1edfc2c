import {
  again,
  type Become,
  becoming,
  doubledWait,
  failing,
  grownWait,
  isHarmless,
  newRow,
  nothing,
  nowAsking,
  nowEnded,
  nowUnknown,
  recoveryText,
  returning,
  waiting,
  withoutFacts,
} from "./row-changes.ts";
import { mayBelieveNotSent } from "./gate.ts";
import type { Advanced, Verdict, WriteEvent, WritePolicy } from "./events.ts";
import type { JsonObject, WriteRow } from "./row.ts";
import type { Look } from "../store/ledger.ts";

/** Number of complete lists without a send after which a person is asked. */
const MOST_ABSENT = 3;
const UNPROVABLE_MS = 30 * 60_000;

/** One kind of event. */
export type EventOf<Is extends WriteEvent["is"]> = Extract<WriteEvent, { readonly is: Is }>;
type Found = Extract<Verdict, { readonly is: "found" }>;

/** A success is a fact in every state of the row. */
const made = (
  become: Become,
  row: WriteRow,
  generation: number,
  { by, id, result }: Omit<Found, "is">,
  isOwn: boolean,
): Advanced => {
  if (row.madeId === id) return nothing(row.state === "done" ? returning(row) : again);
  const details = { id, by };
  if (row.generation !== generation || row.madeId !== null) {
    const message = `Made twice: ${id} and ${row.madeId ?? "a later request"}.`;
    const action = failing("MadeTwice", message, { id });
    return { ...become(row, {}, "made twice", action, details), row: { ...row, message } };
  }
  const isAsked = row.question !== null || row.state === "ended";
  const done: Partial<WriteRow> = {
    state: "done",
    token: null,
    doubt: 0,
    madeId: id,
    result,
    knownBy: by,
    question: null,
    until: null,
    unprovableSince: null,
    message: row.state === "ended" ? "It succeeded although a person had stopped it." : null,
    request: withoutFacts(row.request),
    mustNotify: row.mustNotify || (isAsked && !isOwn),
  };
  return become(row, done, by === "answer" ? "succeeded" : "found", again, details);
};

/** The result of an overtaken attempt, about its own send, which already counts as unknown. */
const overtaken = (
  look: Look,
  { call, outcome, token, who }: EventOf<"answered">,
  policy: WritePolicy,
): Advanced => {
  const { epoch, now, row } = look;
  if (outcome.is !== "notDispatched") {
    const entry = { who, what: `late: ${outcome.is}`, details: {} };
    return { ...nothing(again), entries: row === undefined ? [] : [entry] };
  }
  const { message } = outcome;
  const isUnsent = mayBelieveNotSent(row, epoch, call, policy);
  const wait = waiting(now + grownWait(0), message, isUnsent);
  // With a row, so that the next attempt has a version to name.
  return row === undefined && isUnsent && token.startsWith(`${epoch}:`)
    ? becoming(look, who)(newRow(look, call), { message }, "not sent", wait)
    : nothing(wait);
};

/** The effect of a response, or of its absence, on the send of `event.token`. */
export const answered = (look: Look, event: EventOf<"answered">, policy: WritePolicy): Advanced => {
  const { call, generation, outcome, token, who } = event;
  const { now, row } = look;
  const become = becoming(look, who);
  const isOwn = row?.state === "sending" && row.token === token && row.epoch === look.epoch;
  if (outcome.is === "made") {
    // A ledger that was lost or restored since the dispatch is behind: the success belongs to a later generation.
    const isBehind =
      row === undefined ||
      (row.madeId === null &&
        (row.generation < generation ||
          (row.generation === generation && row.request.hash !== call.request.hash)));
    const known = isBehind
      ? { ...(row ?? newRow(look, call)), generation, request: call.request }
      : row;
    return made(become, known, generation, { ...outcome, by: outcome.by ?? "answer" }, isOwn);
  }
  const { message } = outcome;
  const ask = (asked: WriteRow, doubt: number): Advanced =>
    become(asked, { ...nowAsking(look, message), doubt }, "asks", again, { reason: message });
  if (
    outcome.is === "contradiction" &&
    row !== undefined &&
    row.madeId === null &&
    row.state !== "ended" &&
    row.state !== "asking"
  )
    return ask(row, row.doubt + 1);
  if (!isOwn) return overtaken(look, event, policy);
  const isSettled = row.doubt === 0 || isHarmless(policy);
  const settled = { token: null, doubt: 0, message };
  const unsettled = { ...nowUnknown(now, policy), message };
  const unmade = isSettled ? { ...settled, state: "ready" as const } : unsettled;
  switch (outcome.is) {
    case "refused": {
      const { details } = outcome;
      if (isSettled) {
        const refused = {
          ...settled,
          state: "refused",
          request: withoutFacts(row.request),
        } as const;
        return become(row, refused, "refused", failing("Refused", message, details), details);
      }
      // The refusal of a repeat does not prove that the first send had no effect. A list does.
      return policy.isListed
        ? become(row, nowUnknown(now, policy), "repeat refused", again, details)
        : ask(row, row.doubt);
    }
    case "later": {
      const at = now + (outcome.retryAfterMs ?? grownWait(row.sends));
      const action = waiting(at, message, isSettled);
      return become(row, unmade, "no effect", action, { message });
    }
    case "notDispatched": {
      // It does not count as a send. The attempt knows how long to wait.
      const to = { ...unmade, sends: row.sends - 1 };
      return become(row, to, "not sent", waiting(now, message, isSettled), { message });
    }
    case "contradiction":
    case "lost": {
      const action = policy.isListed ? again : waiting(now + grownWait(row.sends), message, false);
      const lost = { ...unsettled, doubt: row.doubt + 1 };
      return become(row, lost, "response lost", action, { message });
    }
  }
};

/** The verdict of a reading about a row with an unknown outcome. */
export const evidence = (look: Look, event: EventOf<"evidence">, policy: WritePolicy): Advanced => {
  const { readFrom, verdict, version, who } = event;
  const { now, row } = look;
  if (row === undefined) return nothing(again);
  // A restored row may have an earlier version again: an older reading is not about it.
  const isFresh = row.version === version && row.epoch === look.epoch && readFrom >= row.changedAt;
  if (!isFresh || row.state !== "unknown") return nothing(again);
  const become = becoming(look, who);
  const ask = (reason: string, candidates: ReadonlyArray<JsonObject> = [], to = {}): Advanced =>
    become(row, { ...nowAsking(look, reason, { candidates }), ...to }, "asks", again, { reason });
  switch (verdict.is) {
    case "found":
      return made(become, row, row.generation, verdict, true);
    case "unclear":
      return ask(verdict.message, verdict.candidates);
    case "absent": {
      const from = (row.until ?? now) + policy.listLagMs;
      const next = Math.min(from, now + doubledWait(row.changedAt, now));
      if (readFrom < from) return nothing(waiting(next, "It is not listed yet.", false));
      // The ledger may have forgotten another request, which no comparison shows.
      if (verdict.others !== undefined && row.from === null && look.epoch > 1)
        return ask(
          `${recoveryText(look)}, and a listed row may be another request of this step.`,
          verdict.others,
        );
      // Only a lost response counts: a row that was not vouched for may never have been sent.
      const absences = row.absences + (row.from === null ? 0 : 1);
      const to = { doubt: 0, absences, unprovableSince: null, until: null };
      if (look.end !== undefined) {
        const ended = { ...to, ...nowEnded({ ...row, doubt: 0 }, look, look.end.reason) };
        return become(row, ended, "not listed, ended", again);
      }
      if (absences >= MOST_ABSENT)
        return ask(`It was sent ${row.sends} times, and is not listed.`, [], { absences });
      return become(row, { ...to, state: "ready" }, "not listed", { is: "again", isKnown: true });
    }
    case "later": {
      const { at, isFaulty, message } = verdict;
      const since = isFaulty ? (row.unprovableSince ?? now) : null;
      if (since !== null && now - since >= UNPROVABLE_MS) return ask(message);
      // Only a list that stays inconsistent is read less and less often.
      const next = since === null ? at : Math.max(at, now + doubledWait(since, now));
      const action = waiting(next, message, false);
      if (since === row.unprovableSince) return nothing(action);
      const noted = { ...row, unprovableSince: since };
      return { ...become(row, {}, "list unusable", action, { message }), row: noted };
    }
  }
};

/** The row, if the question of the decision is still open. */
const askedRow = ({ epoch, row }: Look, { decision, version }: EventOf<"checked" | "reread">) =>
  row?.state === "asking" &&
  row.version === version &&
  row.epoch === epoch &&
  row.question?.id === decision.question
    ? row
    : undefined;

/** The id that a person gave was read at the service. */
export const checked = (look: Look, event: EventOf<"checked">): Advanced => {
  const { decision, fault, id, result, who } = event;
  const become = becoming(look, who);
  const row = askedRow(look, event);
  if (row === undefined) return nothing(again);
  if (fault === undefined)
    return made(become, row, row.generation, { id, result, by: "person" }, true);
  const { candidates = [] } = row.question ?? {};
  // The newest fault, with the reason of the first question.
  const { message } = row;
  const asking = {
    ...nowAsking(look, `${fault} ${message ?? ""}`.trim(), { candidates }),
    message,
    decisionsAfter: Math.max(look.sequence, decision.sequence),
  };
  return become(row, asking, "answer does not match", again, { fault });
};

/** One more reading before a person's resend: only a result, or an unreachable service, prevents the resend. */
export const reread = (look: Look, event: EventOf<"reread">): Advanced => {
  const { decision, verdict, who } = event;
  const row = askedRow(look, event);
  if (row === undefined) return nothing(again);
  if (verdict.is === "found") return made(becoming(look, who), row, row.generation, verdict, true);
  if (verdict.is === "later" && !verdict.isFaulty)
    return nothing(waiting(verdict.at, verdict.message, false));
  return nothing({ is: "again", isKnown: false, reread: decision.sequence });
};
