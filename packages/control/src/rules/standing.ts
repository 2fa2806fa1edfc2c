/**
 * Words for the state of a run, and its steps.
 *
 * The status of a run is a fact of the ledger; nothing here judges it again. Whatever Temporal says of a run only words
 * what the run is doing: at which step it is, and when it tries again.
 */
import {
  awaitsApproval,
  type Batch,
  type DecidedWord,
  type Decision,
  type FoundRun,
  outcomeReason,
  type Pause,
  plainWord,
  type RecordedWait,
  type RecordedWrite,
  type Standing,
  type WriteRow,
} from "@durable-payments/ledger";
import { NOT_YET } from "@durable-payments/protocol";
import { nudgeSignal, WAIT } from "@durable-payments/protocol/calls";
import * as Struct from "effect/Struct";
import type { TimelineItem } from "../facts/history.ts";
import { type Progress, waitOf } from "../facts/progress.ts";
import { inRepairText } from "./retry-plan.ts";
import { awaitsFile, paymentFields, pauseOf, type StepView } from "./run-view.ts";

/** A run as the ledger has it, and what is known besides. */
export interface Evidence extends FoundRun {
  readonly pauses: ReadonlyArray<Pause>;
  /** The files that wait for their approval. */
  readonly asking?: ReadonlySet<string> | undefined;
  /** Decisions about the words from which its outcomes follow. */
  readonly words?: ReadonlyArray<DecidedWord> | undefined;
  /** Ids of the questions that nobody has answered, if the answers were read. */
  readonly unanswered?: ReadonlySet<string> | undefined;
  /** The stop order that holds. */
  readonly end?: Decision | undefined;
  /** The open repair that has not retried it yet. */
  readonly repair?: Pick<Batch, "id"> | undefined;
  /** Undefined if Temporal has no run of this id, or was not asked. */
  readonly progress?: Progress | undefined;
  /** The actions of its history, if that was read. */
  readonly items?: ReadonlyArray<TimelineItem> | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Words a time with its date: `2026-11-23 19:41 UTC`. */
export const dated = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Words a time of day, with its date if that is not today: `19:41 UTC`. */
const clock = (at: number, now: number): string =>
  dated(at).slice(0, 10) === dated(now).slice(0, 10) ? dated(at).slice(11) : dated(at);

const unstopped = (text: string): string => text.replace(/\.$/, "");

/** Returns whether a person is asked for the outcome of a write. */
export const isAsking = ({ question, state }: WriteRow): boolean =>
  state === "asking" && question?.kind === "outcome";

/** Returns whether a write has to be approved by a second person. */
export const isUnapproved = ({ question, state }: WriteRow): boolean =>
  awaitsApproval(question) && state !== "ended" && state !== "done";

/** Words an approval or an answer that its run has not followed yet; undefined if there is none. */
const decidedOn = (row: WriteRow, { progress, run, unanswered }: Evidence): string | undefined => {
  const { approvedBy, id = "" } = row.question ?? {};
  const isAnswered = isAsking(row) && unanswered?.has(id) === false;
  if (approvedBy === undefined && !isAnswered) return undefined;
  const is = approvedBy === undefined ? "answered" : `approved by ${approvedBy}`;
  if ((run.endState ?? progress?.state ?? "running") !== "running")
    return `${is}; its run has ended: a retry continues it`;
  return `${is}; its run continues ${progress === undefined ? "when Temporal is back" : "now"}`;
};

/** Words an unknown outcome, and when it is checked again: `response lost, checks again at 19:41 UTC`. */
const unknownText = (
  { from, message, operation, sends, state }: RecordedWrite,
  { now, progress }: Evidence,
): string => {
  if (state === "ended") return "outcome unknown";
  // A row without a time lost no answer: nothing vouches for it.
  const why =
    from !== null
      ? "response lost"
      : unstopped(message ?? (sends === 0 ? "no known send" : "outcome unknown"));
  const { message: last = null, nextAttemptAt = null } =
    progress?.pending.find(({ type }) => type === operation) ?? {};
  const when =
    nextAttemptAt !== null && nextAttemptAt > now
      ? `checks again at ${clock(nextAttemptAt, now)}`
      : "checking";
  return `${why}, ${when}${last === null ? "" : `: ${unstopped(last)}`}`;
};

const WAIT_TEXTS: Readonly<Record<RecordedWait["kind"], (thing: string) => string>> = {
  payout: (thing) => `waiting for payout ${thing} to complete`,
  return: (thing) => `watching whether the money of payout ${thing} comes back`,
  cardholder: (thing) => `waiting for the verification of cardholder ${thing}`,
  balance: (thing) => `waiting for funds: ${thing}`,
};

/** Words an open wait, and why its object cannot be read. */
const waitText = ({
  kind,
  outcome,
  thing,
}: Pick<RecordedWait, "kind" | "thing"> & Partial<RecordedWait>): string => {
  const problem = outcome?.["problem"];
  return typeof problem === "string"
    ? `the service does not show ${kind} ${thing}: ${unstopped(problem)}; ask the service about it, or cancel the run`
    : WAIT_TEXTS[kind](thing);
};

/** Returns what an open run is doing. */
const openText = (evidence: Evidence): string | undefined => {
  const { asking, items = [], now, pauses, progress, run, waits } = evidence;
  if (awaitsFile(run, asking)) return "its file needs approval";
  const pending = progress?.pending ?? [];
  const open = items.filter(({ endedAt }) => endedAt === null);
  // The tracker looks more often than the activity of a wait is retried.
  const wait =
    waits.find(({ closedAt }) => closedAt === null) ??
    pending.filter(({ failureType }) => failureType === NOT_YET).flatMap(waitOf)[0];
  const retried = pending.find(
    (activity) =>
      activity.message !== null &&
      activity.nextAttemptAt !== null &&
      (wait === undefined || waitOf(activity).length === 0),
  );
  if (retried !== undefined) {
    const at = retried.nextAttemptAt;
    const when = at !== null && at > now ? `; tries again at ${clock(at, now)}` : "";
    return `${retried.type}: ${unstopped(retried.message ?? "")}${when}`;
  }
  if (wait !== undefined) return waitText(wait);
  if (run.status === "waiting") return moneyText(evidence);
  const pause = pauseOf(pauses, run.batch, run.workflowId);
  if (pause !== undefined && pending.length === 0)
    return `sends are paused by ${pause.by}: ${pause.reason}`;
  const task = open.find(({ kind }) => kind === "task");
  if (task !== undefined) return `its workflow code fails: ${task.message ?? "no reason"}`;
  const timer = open.find(({ kind, until }) => kind === "timer" && until !== null);
  if (timer !== undefined && timer.until !== null)
    return `${timer.summary ?? "sleeping"} until ${clock(timer.until, now)}`;
  const [activity] = pending;
  if (activity !== undefined) return `at ${activity.type}`;
  const [child] = progress?.pendingChildren ?? [];
  if (child !== undefined) return `waiting for ${child}`;
  return (progress?.taskAttempts ?? 0) > 0 ? "waiting for a worker" : undefined;
};

/** Returns the outcome of the money of a run, if its end does not say so. */
const moneyText = ({ run: { endState, status, type } }: Evidence): string | undefined => {
  if (status === "waiting") return "its payout was made and is under way";
  if (status === "missing")
    return "Temporal has no run of it: start it again with the same id and input";
  if (status === "succeeded" && endState !== "succeeded")
    return type === "onboardCardholder"
      ? "its card was made"
      : "its payout was made and has completed";
  return status === "failed" && endState === "succeeded"
    ? "ended without a payment; nothing was paid"
    : undefined;
};

/** Words a stop order: the same for a run, and for a row that has not started. */
export const stopText = ({ by, reason }: Pick<Decision, "by" | "reason">): string =>
  `stopped by ${by}${reason === null ? "" : `: ${reason}`}`;

/** A status between two others often passes, so a person is asked only once it lasts. */
const ASKS_LATER = "the inbox asks about it after notify.lateAfterHours (default: 24)";

const FORGOTTEN =
  "it was open at the last recovery, and the ledger may lack what it sent: the service's list is checked";

/** Returns why a run has its status, for a person; null if there is nothing to say. */
export const reasonOf = (evidence: Evidence): string | null => {
  const { end, progress, repair, rows, run } = evidence;
  const isOver = run.endState !== null;
  const approved = rows.find((row) => decidedOn(row, evidence) !== undefined);
  const asking = rows.find((row) => isAsking(row) && decidedOn(row, evidence) === undefined);
  const approval = asking === undefined ? rows.find(isUnapproved) : undefined;
  const doubted =
    run.status === "unknown"
      ? rows.find(({ standing }) => standing === "unknown")
      : rows.find(({ standing, state }) => standing === "open" && state === "unknown");
  const unlisted = rows.find((row) => isUnlisted(row, evidence.words));
  const decided = rows.find(({ decidedWord }) => decidedWord !== null);
  const own = rows.filter(({ ownerId }) => ownerId === run.workflowId);
  const lost = own
    .map(({ decidedWord, standing, word }) =>
      outcomeReason({ standing, word: decidedWord === null ? word : null }),
    )
    .find((why) => why !== undefined);
  const isHeld = asking !== undefined || approval !== undefined || doubted !== undefined;
  const parts = [
    end && stopText(end),
    repair && inRepairText(run.workflowId, repair),
    asking && `${asking.step}: ${asking.question?.reason ?? ""}`,
    approval && `${approval.step} needs approval: ${approval.question?.reason ?? ""}`,
    approved && `${approved.step} is ${decidedOn(approved, evidence)}`,
    run.planned === "unknown" && FORGOTTEN,
    doubted !== approved && doubted && `${doubted.step}: ${unknownText(doubted, evidence)}`,
    lost,
    isOver ? lost === undefined && moneyText(evidence) : isHeld ? undefined : openText(evidence),
    unlisted &&
      `${wordText(unlisted, evidence)}, which no setting lists: use word to say what that means`,
    unlisted && unlisted.wordAsks !== true && ASKS_LATER,
    decided && decidedText(decided, evidence),
    lost !== undefined || run.endReason === end?.reason ? undefined : run.endReason,
    // A decision is of no use to a paused workflow, so it is said with the question, too.
    progress?.isPaused &&
      "its workflow is paused in Temporal: it continues once it is unpaused there",
  ];
  return parts.flatMap((part) => (part ? [unstopped(part)] : [])).join("; ") || null;
};

const BY: Readonly<Record<string, string>> = {
  key: "found in the list by its key",
  likeness: "found in the list by its fields",
  person: "named by a person",
  ledger: "reused: the ledger has it for the same account",
};

const twice = ({ sends }: WriteRow): string => (sends > 1 ? `, sent ${sends} times` : "");

const OUTCOMES: Readonly<Partial<Record<Standing, string>>> = {
  completed: "paid",
  failed: "failed",
  returned: "came back",
};

/** Words what the service says of a payout, and by whom that is an outcome. */
const wordText = ({ decidedWord, word }: RecordedWrite, { words = [] }: Evidence): string => {
  if (decidedWord === null) return word === null ? "" : `the service says "${word}"`;
  const by = words.find((one) => one.word === decidedWord)?.by ?? "a person";
  return `as ${by} said of the word "${word ?? decidedWord}"`;
};

/** Words the decision from which the outcome of a payout follows. */
const decidedText = ({ decidedWord, word }: RecordedWrite, { words = [] }: Evidence): string => {
  const said = words.find((one) => one.word === decidedWord);
  const status = `the status "${word ?? decidedWord}"`;
  return said === undefined
    ? `a person has decided what ${status} means`
    : `${said.by} said that ${status} means ${said.means}`;
};

/**
 * Returns whether a payout shows a status of which a person has to say what it means. A completed one may: the money
 * may have come back.
 *
 * @param words the decisions; the tracker needs a moment to follow one.
 */
export const isUnlisted = (
  { account, word, wordUnlisted }: RecordedWrite,
  words: ReadonlyArray<DecidedWord> = [],
): boolean =>
  wordUnlisted === true &&
  !words.some((one) => one.account === account && one.word === plainWord(word ?? ""));

/** Words a payout that was made: its outcome and when it was seen, the service's own word, and the day on which it is due. */
const outcomeText = (row: RecordedWrite, evidence: Evidence) => {
  const { operation, outcomeAt, request, standing } = row;
  if (operation !== "createPayout") return undefined;
  const seen = outcomeAt === null ? "" : ` ${dated(outcomeAt)}`;
  const date = request.paymentDate;
  const due = standing === "made" && date !== null ? `, payment date ${date}` : "";
  const said = wordText(row, evidence);
  return `${OUTCOMES[standing] ?? "under way"}${seen}${due}${said && ` (${said})`}`;
};

const textOf = (row: RecordedWrite, evidence: Evidence): string => {
  const { doubt, knownBy, madeId, message, question, result, sends } = row;
  if (isUnapproved(row)) return `needs approval: ${question?.reason ?? ""}`;
  const approved = decidedOn(row, evidence);
  if (approved !== undefined) return approved;
  switch (row.state) {
    case "ready":
      return message ?? (sends === 0 ? "not sent yet" : "had no effect; will be sent again");
    case "sending":
      return "being sent";
    case "unknown":
      return `${unknownText(row, evidence)}${twice(row)}`;
    case "asking":
      return `needs an answer: ${question?.reason ?? ""}`;
    case "refused":
      return `refused by the service: ${message ?? "no reason"}`;
    case "done":
      return [madeId, knownBy && BY[knownBy], outcomeText(row, evidence)]
        .filter(Boolean)
        .join(", ")
        .concat(
          twice(row),
          result?.["not_confirmed"] === true
            ? `; not confirmed: check at the service that ${madeId} is the result`
            : "",
        );
    case "ended":
      return doubt > 0
        ? "ended by a person; outcome unknown"
        : "ended by a person; nothing was paid";
    case "undone":
      return `${madeId ?? "its result"} was removed`;
  }
};

const writeStep = (row: RecordedWrite, evidence: Evidence): StepView => {
  const isSettled = row.state === "done" || row.state === "refused" || row.state === "undone";
  return {
    kind: "write",
    name: row.step,
    state: row.state,
    text: textOf(row, evidence),
    ...paymentFields(row.request),
    at: row.createdAt,
    endedAt: isSettled ? row.changedAt : null,
    ...Struct.pick(row, ["madeId", "knownBy", "sends", "readAfter"]),
    key: row.workflowId === evidence.run.workflowId ? null : row.workflowId,
  };
};

const NO_WRITE = { madeId: null, knownBy: null, sends: null, key: null, readAfter: null } as const;
const NOTHING = { ...paymentFields(undefined), ...NO_WRITE };

const outcomeOf = ({ outcome }: RecordedWait): string | undefined => {
  const word = outcome?.["outcome"];
  return typeof word === "string" ? word : undefined;
};

const BAD: ReadonlyArray<string> = ["refused", "removed", "failed", "incomplete"];

/** Returns when a wait was over: at the latest at the end of its run. */
const endOfWait = (
  { closedAt }: RecordedWait,
  { run: { endedAt, endState } }: Evidence,
): number | null => closedAt ?? (endState === "missing" ? null : endedAt);

const stateOfWait = (wait: RecordedWait, evidence: Evidence): StepView["state"] => {
  if (endOfWait(wait, evidence) === null) return "open";
  if (wait.closedAt === null) return "cancelled";
  if (BAD.includes(outcomeOf(wait) ?? "")) return "failed";
  return outcomeOf(wait) === "runEnded" ? "cancelled" : "done";
};

const waitStep = (wait: RecordedWait, evidence: Evidence): StepView => {
  const endedAt = endOfWait(wait, evidence);
  const outcome = wait.closedAt === null ? "nothing until its run ended" : outcomeOf(wait);
  return {
    ...NOTHING,
    kind: "wait",
    name: WAIT[wait.kind],
    state: stateOfWait(wait, evidence),
    text:
      endedAt === null
        ? waitText(wait)
        : `${wait.thing}${outcome === undefined ? "" : `: ${outcome}`}`,
    at: wait.since,
    endedAt,
    readAfter: endedAt === null ? wait.readAfter : null,
  };
};

const WAITING: ReadonlySet<string> = new Set(Object.values(WAIT));

/** Returns what a summary says besides the name, with which those of steps begin. */
const withoutName = (name: string, summary: string | null): string | null => {
  const rest = summary?.startsWith(name) ? summary.slice(name.length) : undefined;
  return rest !== undefined && /^(?:$|:? )/.test(rest) ? rest.replace(/^:? /, "") : summary;
};

const textOfItem = (item: TimelineItem): string => {
  const { endedAt, kind, message, name, outcome, until } = item;
  const summary = withoutName(name, item.summary) || null;
  if (kind === "timer" && endedAt === null && until !== null) {
    return `${summary ?? "sleeping"}, until ${dated(until)}`;
  }
  return (
    message ?? summary ?? (outcome === "done" ? "" : outcome === "open" ? "under way" : outcome)
  );
};

const itemStep = (item: TimelineItem): StepView => ({
  ...NOTHING,
  kind: item.kind,
  name: item.name,
  state: item.outcome,
  text: textOfItem(item),
  at: item.at,
  endedAt: item.endedAt,
});

/** Combines the steps of a run, ordered by start: writes and waits from the ledger, other actions from the history. */
export const stepsOf = (evidence: Evidence): ReadonlyArray<StepView> => {
  const { items = [], rows, waits } = evidence;
  const known = new Set([...rows.map(({ operation }) => operation), "undo"]);
  const others = items.filter(
    ({ kind, name, outcome }) =>
      !(kind === "activity" && (known.has(name) || (WAITING.has(name) && waits.length > 0))) &&
      !(kind === "signal" && name === nudgeSignal.name) &&
      // The slow timer of a question.
      !(kind === "timer" && outcome === "cancelled"),
  );
  return [
    ...rows.map((row) => writeStep(row, evidence)),
    ...waits.map((wait) => waitStep(wait, evidence)),
    ...others.map(itemStep),
  ].toSorted((a, b) => a.at - b.at);
};
