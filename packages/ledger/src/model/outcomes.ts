import {
  changed,
  doubledWait,
  grownWait,
  isHarmless,
  newRow,
  nowAsking,
  nowEnded,
  nowUnknown,
  withoutFacts,
} from "./rows.ts";
import { adding, asksPerson, failing, returning } from "./steps.ts";
import { mayBelieveNotSent } from "./believe.ts";
import type { Advanced, Effect, WriteEvent, WritePolicy } from "./events.ts";
import type { JsonObject, KnownBy, WriteRow } from "./row.ts";
import type { Look } from "../store/ledger.ts";

/** How often a complete list may not show a send before a person is asked. */
const MOST_ABSENT = 3;
const UNPROVABLE_MS = 30 * 60_000;

type EventOf<Is extends WriteEvent["is"]> = Extract<WriteEvent, { readonly is: Is }>;
interface Made {
  readonly id: string;
  readonly result: JsonObject;
  readonly by: KnownBy;
}

const again: Effect = { is: "again", isKnown: false };
const nothing = (effect: Effect): Advanced => ({ row: undefined, entries: [], effect });

/** A success is a fact, whatever the ledger says now. */
const made = (
  look: Look,
  row: WriteRow,
  generation: number,
  { by, id, result }: Made,
  who: string,
  isOwn: boolean,
): Advanced => {
  if (row.madeId === id) return nothing(row.state === "done" ? returning(row) : again);
  const details = { id, by };
  if (row.generation !== generation || row.madeId !== null) {
    const message = `Made twice: ${id} beside ${row.madeId ?? "a later request"}.`;
    const seen = { ...row, message };
    return {
      ...adding(seen, who, "made twice", details, "outcome"),
      effect: failing("MadeTwice", message, { id }),
    };
  }
  const isAsked = row.question !== null || row.state === "ended";
  const done = changed(row, look, {
    state: "done",
    token: null,
    doubt: 0,
    madeId: id,
    result,
    knownBy: by,
    question: null,
    until: null,
    unprovableSince: null,
    message: row.state === "ended" ? "Carried out although it was ended." : null,
    request: withoutFacts(row.request),
    isUntold: row.isUntold || (isAsked && !isOwn),
  });
  return {
    ...adding(done, who, by === "answer" ? "carried out" : "found", details, "outcome"),
    effect: again,
  };
};

/** What an answer, or its absence, does to the send of `event.token`. */
export const answered = (look: Look, event: EventOf<"answered">, policy: WritePolicy): Advanced => {
  const { call, generation, outcome, token, who } = event;
  const { now, row } = look;
  const isOwn = row?.state === "sending" && row.token === token && row.epoch === look.epoch;
  const isSettled = row !== undefined && (row.doubt === 0 || isHarmless(policy));
  if (outcome.is === "made") {
    const fact = { ...outcome, by: "answer" } as const;
    // A ledger that was lost or restored since the dispatch is behind: the fact is of a later generation.
    const isBehind =
      row === undefined ||
      (row.madeId === null &&
        (row.generation < generation ||
          (row.generation === generation && row.request.hash !== call.request.hash)));
    const known = isBehind
      ? { ...(row ?? newRow(look, call)), generation, request: call.request }
      : row;
    return made(look, known, generation, fact, who, isOwn);
  }
  const { message } = outcome;
  const ask = (asked: WriteRow): Advanced => {
    const doubt = asked.doubt + 1;
    const asking = changed(asked, look, { ...nowAsking(look, message), doubt });
    return {
      ...adding(asking, who, "asks", { reason: message }, "outcome"),
      effect: asksPerson(asking),
    };
  };
  if (
    outcome.is === "contradiction" &&
    row !== undefined &&
    row.madeId === null &&
    row.state !== "ended" &&
    row.state !== "asking"
  )
    return ask(row);
  if (!isOwn) {
    // Overtaken: a "no" settles its own send only, and that one is counted as unknown already.
    if (outcome.is !== "notDispatched")
      return row === undefined
        ? nothing(again)
        : {
            row: undefined,
            entries: [{ kind: "note", who, what: `late: ${outcome.is}`, details: {} }],
            effect: again,
          };
    const isKnown = mayBelieveNotSent(row, look.epoch, call.testimony);
    const at = now + grownWait(0);
    // With a row, so that the next attempt has a version to name.
    const kept =
      row === undefined && isKnown && token.startsWith(`${look.epoch}:`)
        ? changed(newRow(look, call), look, { message })
        : undefined;
    const entries = kept === undefined ? [] : adding(kept, who, "not sent").entries;
    return { row: kept, entries, effect: { is: "wait", at, why: message, isUnsent: isKnown } };
  }
  const wait = (after: number): Effect => ({
    is: "wait",
    at: now + after,
    why: message,
    isUnsent: isSettled,
  });
  switch (outcome.is) {
    case "refused": {
      if (isSettled) {
        const refused = changed(row, look, {
          state: "refused",
          token: null,
          doubt: 0,
          message,
          request: withoutFacts(row.request),
        });
        return {
          ...adding(refused, who, "refused", outcome.details, "outcome"),
          effect: failing("Refused", message, outcome.details),
        };
      }
      // Of a repeat a refusal does not say that the first was not carried out. A list does.
      if (!policy.isListed) {
        const asking = changed(row, look, nowAsking(look, message));
        return {
          ...adding(asking, who, "asks", { reason: message }, "outcome"),
          effect: asksPerson(asking),
        };
      }
      return {
        ...adding(
          changed(row, look, nowUnknown(look, policy)),
          who,
          "repeat refused",
          outcome.details,
          "outcome",
        ),
        effect: again,
      };
    }
    case "later":
    case "notDispatched": {
      const after =
        (outcome.is === "later" ? outcome.retryAfterMs : undefined) ?? grownWait(row.sends);
      const to = isSettled
        ? { state: "ready" as const, token: null, doubt: 0 }
        : nowUnknown(look, policy);
      return {
        ...adding(
          changed(row, look, { ...to, message }),
          who,
          "not carried out",
          { message },
          "outcome",
        ),
        effect: wait(after),
      };
    }
    case "lost": {
      const lost = changed(row, look, {
        ...nowUnknown(look, policy),
        doubt: row.doubt + 1,
        message,
      });
      const at = now + grownWait(row.sends);
      const effect: Effect = policy.isListed
        ? again
        : { is: "wait", at, why: message, isUnsent: false };
      return { ...adding(lost, who, "answer lost", { message }, "outcome"), effect };
    }
    case "contradiction":
      return ask(row);
  }
};

/** What a reading of the service says of a row whose outcome is unknown. */
export const evidence = (look: Look, event: EventOf<"evidence">, policy: WritePolicy): Advanced => {
  const { readFrom, verdict, version, who } = event;
  const { now, row } = look;
  if (row === undefined) return nothing(again);
  // A restored row may have the same version again: what was read before it changed is not about it.
  const isFresh = row.version === version && row.epoch === look.epoch && readFrom >= row.changedAt;
  if (!isFresh || row.state !== "unknown") return nothing(again);
  const ask = (reason: string, candidates: ReadonlyArray<JsonObject> = []): Advanced => {
    const asking = changed(row, look, nowAsking(look, reason, { candidates }));
    return { ...adding(asking, who, "asks", { reason }, "evidence"), effect: again };
  };
  const wait = (at: number, why: string): Effect => ({ is: "wait", at, why, isUnsent: false });
  switch (verdict.is) {
    case "found":
      return made(look, row, row.generation, verdict, who, true);
    case "foundOther":
      return ask(`Another request of this step was carried out: ${verdict.id}.`, [verdict.result]);
    case "unclear":
      return ask(verdict.message, verdict.candidates);
    case "absent": {
      const from = (row.until ?? now) + policy.listLagMs;
      if (readFrom < from)
        return nothing(
          wait(Math.min(from, now + doubledWait(row.changedAt, now)), "It is not listed so far."),
        );
      // What was forgotten with the ledger may have been another request, which no likeness shows.
      if (verdict.mayBeAnotherRequest === true && row.from === null && look.epoch > 1)
        return ask(
          "The ledger was restored, and what is listed may be another request of this step.",
        );
      const absences = row.absences + 1;
      const to = { doubt: 0, absences, unprovableSince: null, until: null };
      if (look.end !== undefined) {
        const ended = changed(row, look, {
          ...to,
          ...nowEnded({ ...row, doubt: 0 }, look.end.reason),
        });
        return { ...adding(ended, who, "not listed, ended", {}, "evidence"), effect: again };
      }
      if (absences >= MOST_ABSENT) {
        const reason = `It was sent ${row.sends} times, and is not listed.`;
        const asking = changed(row, look, { ...nowAsking(look, reason), absences });
        return { ...adding(asking, who, "asks", { reason }, "evidence"), effect: again };
      }
      return {
        ...adding(changed(row, look, { ...to, state: "ready" }), who, "not listed", {}, "evidence"),
        effect: { is: "again", isKnown: true },
      };
    }
    case "later": {
      const since = verdict.isFaulty ? (row.unprovableSince ?? now) : null;
      if (since !== null && now - since >= UNPROVABLE_MS) return ask(verdict.message);
      const effect = wait(
        Math.max(verdict.at, now + doubledWait(since ?? row.changedAt, now)),
        verdict.message,
      );
      if (since === row.unprovableSince) return nothing(effect);
      return {
        ...adding(
          { ...row, unprovableSince: since },
          who,
          "list unusable",
          { message: verdict.message },
          "evidence",
        ),
        effect,
      };
    }
  }
};

/** The row, if it still asks what the decision answers. */
const askedRow = ({ epoch, row }: Look, { decision, version }: EventOf<"checked" | "reread">) =>
  row?.state === "asking" &&
  row.version === version &&
  row.epoch === epoch &&
  row.question?.id === decision.question
    ? row
    : undefined;

/** What a person named was read at the service. */
export const checked = (look: Look, event: EventOf<"checked">): Advanced => {
  const { decision, fault, id, result, who } = event;
  const row = askedRow(look, event);
  if (row === undefined) return nothing(again);
  if (fault === undefined)
    return made(look, row, row.generation, { id, result, by: "person" }, who, true);
  const { candidates = [] } = row.question ?? {};
  // Beside the newest fault, why it was asked first.
  const { message } = row;
  const asking = changed(row, look, {
    ...nowAsking(look, `${fault} ${message ?? ""}`.trim(), { candidates }),
    message,
    decisionsAfter: Math.max(look.sequence, decision.sequence),
  });
  return {
    ...adding(asking, who, "answer does not fit", { fault }, "evidence"),
    effect: asksPerson(asking),
  };
};

/** One more reading before what a person wants is sent again: only a find, or a service that cannot be reached, keeps it. */
export const reread = (look: Look, event: EventOf<"reread">): Advanced => {
  const { decision, verdict, who } = event;
  const row = askedRow(look, event);
  if (row === undefined) return nothing(again);
  if (verdict.is === "found") return made(look, row, row.generation, verdict, who, true);
  if (verdict.is === "later" && !verdict.isFaulty)
    return nothing({ is: "wait", at: verdict.at, why: verdict.message, isUnsent: false });
  return nothing({ is: "again", isKnown: false, reread: decision.sequence });
};
