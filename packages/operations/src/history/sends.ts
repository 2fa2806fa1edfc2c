import { isRecord } from "@durable-payments/api-core/values";
import {
  ownershipKeys,
  type Sending,
  sendingOf,
  sendingReconciledBy,
  sendingUndoneBy,
  textAt,
} from "@durable-payments/protocol";
import { type Candidate, candidatesOf } from "./candidates.ts";
import type { PastActivity, PastStep, ReadRun } from "./run-history.ts";

/** What became of all that a step has sent, in all runs of its workflow id. */
type Sent =
  | {
      readonly outcome: "known";
      readonly id: string;
      /** Who gave the id, where neither an answer nor a list of the service, nor the journal, has shown it. */
      readonly givenBy?: string;
    }
  | { readonly outcome: "refused" | "notSent" | "unknown" };

/** The sends of one step. */
export interface PastSend {
  readonly kind: Sending;
  readonly sent: Sent;
  /** How many keys it has used. */
  readonly keys: number;
  /** What it sent last. */
  readonly lastInput: unknown;
  /** Ids of what it made that was undone or replaced; left out where there are none. */
  readonly gone?: ReadonlyArray<string>;
  /** Ids of what the journal had of it, where only that knew of it. */
  readonly ids?: Readonly<Record<string, string>>;
  /** What the last reading of the service's list showed that may be it; left out where that is nothing. */
  readonly candidates?: ReadonlyArray<Candidate>;
  /** Sends before, of other requests, of which nobody knows what became; only the journal had them. */
  readonly others?: ReadonlyArray<OtherSend>;
  /** Whether nobody knows what became of one that carried what it sent last. */
  readonly isLastInDoubt?: boolean;
}

/** A send of another request than the step's own, as the journal had it. */
interface OtherSend {
  readonly key?: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Whether something else was sent beside it since. */
  readonly isLeft: boolean;
}

/** Failures of a send that say that it was not carried out, and would not be if it were repeated. */
const REFUSED: ReadonlySet<string> = new Set(["Refused", "InvalidRequest"]);

/** Failures of a send that say that it was not carried out. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "NeedsApproval",
  "NotAuthenticated",
  "OtherAccount",
  "Paused",
  "RateLimited",
  "RunCancelling",
  "RunEnded",
  "Unavailable",
  "UnknownAccount",
]);

/** Failure of a send that the journal did not permit. */
const SENT_ALREADY = "AlreadySent";

/** Whether an attempt of a send was not permitted, as the journal has a send before it. */
export const isSentAlready = ({ failure }: Pick<PastActivity, "failure">): boolean =>
  failure === SENT_ALREADY;

/** Ids that reconciliations and the journal found. */
const shownIds = (
  steps: ReadonlyArray<PastStep>,
  { idField: id, operation }: Sending,
): Array<string> =>
  steps.flatMap(({ activities }) => [
    ...activities.flatMap(({ failureDetail, type }) =>
      type === operation && isRecord(failureDetail) ? (textAt(failureDetail["ids"], id) ?? []) : [],
    ),
    ...activities.flatMap(({ result, type }) => {
      const items =
        sendingReconciledBy(type)?.operation === operation && isRecord(result)
          ? result["items"]
          : [];
      return Array.isArray(items) ? items.flatMap((item) => textAt(item, id) ?? []) : [];
    }),
  ]);

/** What a reading of the service's list found of a send; a later one may find something else. */
export type ListFinding = "found" | "absent" | "unclear";

/** What a reading that has ended found; undefined where the activity read no list to the end. */
export const findingOf = ({ isDone, result, type }: PastActivity): ListFinding | undefined => {
  if (!isDone || sendingReconciledBy(type) === undefined || !isRecord(result)) return undefined;
  const { incomplete, unreadableRows } = result;
  const matches = Array.isArray(result["matches"]) ? result["matches"].filter(isRecord) : [];
  if (matches.some(({ isMissing, isOurs }) => isOurs === true && isMissing !== true))
    return "found";
  // What others are known to have made is not what was sent.
  const mayBeIt = matches.some(({ owner }) => owner === undefined);
  const isWhole = incomplete === undefined && !(Number(unreadableRows) > 0);
  return isWhole && !mayBeIt ? "absent" : "unclear";
};

/** Ids that reconciliations, people and the journal found; those that the run took are its own. */
const foundIds = (steps: ReadonlyArray<PastStep>, kind: Sending): Array<string> =>
  steps.flatMap((step) => [
    ...shownIds([step], kind),
    ...step.decisions.flatMap(({ found }) => textAt(found, kind.idField) ?? []),
  ]);

/** Who gave an id that nothing else has shown. */
const giverOf = (steps: ReadonlyArray<PastStep>, kind: Sending, id: string): string | undefined =>
  shownIds(steps, kind).includes(id)
    ? undefined
    : textAt(
        steps
          .flatMap(({ decisions }) => decisions)
          .findLast(({ found }) => textAt(found, kind.idField) === id),
        "by",
      );

/** Whether what a send made is among what is owned. */
export const isAmong = (
  all: ReadonlySet<string>,
  { idField: name }: Pick<Sending, "idField">,
  id: string,
): boolean => ownershipKeys({ [name]: id }).some((key) => all.has(key));

/** What the failure of a send says about it. */
export const outcomeOf = ({ failure, failureDetail }: PastActivity) => {
  if (REFUSED.has(failure)) return "refused";
  // The journal did not permit it: nothing was sent by it, and it reports the send before it.
  const isSettled =
    failure === SENT_ALREADY && textAt(failureDetail, "outcome") === "notCarriedOut";
  return NOT_SENT.has(failure) || isSettled ? "notSent" : "unknown";
};

/**
 * Whether a PaymentInDoubt names a step. Names are joined by blanks, and that of a second step of its kind
 * has one: `createPayout (2)`.
 */
export const isNamedIn = (inDoubt: string, step: string): boolean =>
  ` ${inDoubt} `.includes(` ${step} `);

/** Whether a step has sent something, and nobody knows yet what became of what it sent last. */
export const isUnanswered = ({ activities, decisions }: PastStep): boolean => {
  const last = activities.findLast(({ type }) => sendingOf(type) !== undefined);
  const isFound = isRecord(decisions.at(-1)?.["found"]);
  return last !== undefined && !last.isDone && !isFound && outcomeOf(last) === "unknown";
};

/** Sends of other requests, in doubt, that the journal reported when a step was about to send. */
const othersReported = ({ failure, failureDetail }: PastActivity): ReadonlyArray<unknown> => {
  if (failure !== SENT_ALREADY || !isRecord(failureDetail)) return [];
  const { isSamePayload, otherInDoubt, outcome } = failureDetail;
  const isOther = isSamePayload === false && (outcome === "begun" || outcome === "unknown");
  return [...(isOther ? [failureDetail] : []), ...(isRecord(otherInDoubt) ? [otherInDoubt] : [])];
};

/** The sends of other requests that are in doubt, each once: what was sent since was sent beside. */
const othersOf = (attempts: ReadonlyArray<PastActivity>): ReadonlyArray<OtherSend> => {
  const others = new Map<string, OtherSend>();
  attempts.forEach((attempt, index) => {
    const isLeft = attempts.slice(index + 1).some(({ failure }) => failure !== SENT_ALREADY);
    for (const other of othersReported(attempt)) {
      const [key, amount, currency] = ["key", "amount", "currency"].map((at) => textAt(other, at));
      others.set(JSON.stringify([key, amount, currency]), {
        ...(key !== undefined && { key }),
        ...(amount !== undefined && { amount }),
        ...(currency !== undefined && { currency }),
        isLeft,
      });
    }
  });
  return [...others.values()];
};

/** Ids of what steps have made, or may have: of what several of them were shown each may have one. */
const idsSeenBy = (steps: ReadonlyArray<PastStep>, kind: Sending): ReadonlySet<string> =>
  new Set([
    ...steps
      .flatMap(({ activities }) => activities)
      .flatMap(({ result, type }) =>
        type === kind.operation ? (textAt(result, kind.idField) ?? []) : [],
      ),
    ...foundIds(steps, kind),
  ]);

/** Whether an attempt was not permitted for what does not count any more: nothing was sent by it. */
const reportsGone = (
  { failure, failureDetail }: PastActivity,
  kind: Sending,
  gone: ReadonlySet<string>,
): boolean => {
  const id =
    failure === SENT_ALREADY && isRecord(failureDetail)
      ? textAt(failureDetail["ids"], kind.idField)
      : undefined;
  return id !== undefined && isAmong(gone, kind, id);
};

const sentBy = (
  { others, steps }: Readonly<Record<"others" | "steps", ReadonlyArray<PastStep>>>,
  kind: Sending,
  { gone, owned }: { readonly owned: ReadonlySet<string>; readonly gone: ReadonlySet<string> },
): Sent => {
  const all = steps
    .flatMap(({ activities }) => activities)
    .filter(({ type }) => type === kind.operation)
    .toSorted((a, b) => a.at - b.at);
  // What was made and undone, or replaced, says nothing of what was sent after it.
  const lastGone = all.findLastIndex(({ result }) => {
    const id = textAt(result, kind.idField);
    return id !== undefined && isAmong(gone, kind, id);
  });
  const since = all.slice(lastGone + 1).filter((attempt) => !reportsGone(attempt, kind, gone));
  const attempts = lastGone === -1 || since.length === 0 ? all : since;
  const isSince = attempts.length < all.length;
  const made = attempts.findLast(({ isDone }) => isDone);
  // What the run owns is this step's where no other step can have taken it.
  const seenByOthers = idsSeenBy(others, kind);
  const id =
    textAt(made?.result, kind.idField) ??
    foundIds(steps, kind).findLast(
      (found) =>
        isAmong(owned, kind, found) &&
        !seenByOthers.has(found) &&
        !(isSince && isAmong(gone, kind, found)),
    );
  if (id !== undefined) {
    const givenBy = made === undefined ? giverOf(steps, kind, id) : undefined;
    return { outcome: "known", id, ...(givenBy !== undefined && { givenBy }) };
  }
  const outcomes = attempts.map(outcomeOf);
  // What became of a later send does not say what became of one before it, nor does a list that
  // did not show it then.
  return { outcome: outcomes.includes("unknown") ? "unknown" : (outcomes.at(-1) ?? "notSent") };
};

/** Ids of what a step has made that does not count any more. */
const goneIds = (
  activities: ReadonlyArray<PastActivity>,
  kind: Sending,
  gone: ReadonlySet<string>,
): ReadonlyArray<string> =>
  activities.flatMap(({ result, type }) => {
    const id = type === kind.operation ? textAt(result, kind.idField) : undefined;
    return id !== undefined && isAmong(gone, kind, id) ? [id] : [];
  });

/**
 * Read what became of all that the steps of a workflow id have sent, by step.
 *
 * @param gone what was undone, or is replaced, by kind: `card:ID`, `cardholder:ID`.
 */
export const sendsOf = (
  runs: ReadonlyArray<ReadRun>,
  gone: ReadonlySet<string>,
): Map<string, PastSend> => {
  const owned = new Set(runs.flatMap(({ ids }) => [...ids]));
  const names = new Set(runs.flatMap(({ steps }) => steps.map(({ name }) => name)));
  const sends = new Map<string, PastSend>();
  for (const name of names) {
    const all = runs.flatMap((run) => run.steps);
    const steps = all.filter((step) => step.name === name);
    const others = all.filter((step) => step.name !== name);
    const activities = steps.flatMap((step) => step.activities);
    const kind = activities
      .map(({ type }) => sendingOf(type) ?? sendingReconciledBy(type))
      .find((known) => known !== undefined);
    if (kind === undefined) continue;
    const keys = new Set(
      activities
        .filter(({ type }) => type === kind.operation)
        .flatMap(({ input }) => textAt(input, "unique_request_id") ?? []),
    );
    const attempts = activities
      .filter(({ type }) => type === kind.operation)
      .toSorted((a, b) => a.at - b.at);
    const lastInput = attempts.at(-1)?.input;
    const otherSends = othersOf(attempts);
    const goneHere = goneIds(activities, kind, gone);
    const candidates = candidatesOf(steps, kind.operation);
    sends.set(name, {
      kind,
      sent: sentBy({ steps, others }, kind, { owned, gone }),
      keys: keys.size,
      lastInput,
      ...(goneHere.length > 0 && { gone: goneHere }),
      ...(candidates.length > 0 && { candidates }),
      ...(otherSends.length > 0 && {
        others: otherSends,
        isLastInDoubt: attempts.some(
          (attempt) => outcomeOf(attempt) === "unknown" && othersReported(attempt).length === 0,
        ),
      }),
    });
  }
  for (const { operation, step, ...sent } of runs.flatMap(({ forgotten }) => forgotten)) {
    const kind = sendingOf(operation);
    if (kind === undefined || sends.get(step)?.sent.outcome === "known") continue;
    const { amount, currency, ids, key: unique_request_id } = sent;
    const made = ids[kind.idField];
    if (made !== undefined && isAmong(gone, kind, made)) continue;
    const lastInput = { amount, currency, unique_request_id };
    sends.set(step, { kind, sent: { outcome: "unknown" }, keys: 1, lastInput, ids });
  }
  return sends;
};

/**
 * Read what was undone, and what was to be: by a run at its end, after the step that failed, or before what
 * replaces it was made.
 */
export const undoneBy = (runs: ReadonlyArray<ReadRun>) => {
  const attempts = runs
    .flatMap(({ steps }) => steps.flatMap(({ activities }) => activities))
    .flatMap(({ input, isDone, type }) => {
      const name = sendingUndoneBy(type)?.idField ?? "";
      return ownershipKeys({ [name]: textAt(input, name) ?? "" }).map((owned) => ({
        owned,
        isDone,
      }));
    });
  const undone = new Set(attempts.filter(({ isDone }) => isDone).map(({ owned }) => owned));
  const all = attempts.map(({ owned }) => owned);
  return { undone, undoing: new Set(all.filter((owned) => !undone.has(owned))) };
};
