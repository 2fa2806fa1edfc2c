import { defaultAssumptions } from "@durable-payments/api-core";
import type {
  Decision,
  Pause,
  RecordedWait,
  RecordedWrite,
  Run,
  WriteRow,
} from "@durable-payments/ledger";
import { NOT_YET, WORKFLOW } from "@durable-payments/protocol";
import { nudgeSignal, WAIT } from "@durable-payments/protocol/calls";
import type { TimelineItem, Failure } from "../facts/history.ts";
import { type Progress, waitOf } from "../facts/progress.ts";
import { paymentFields, type Status, STATUSES, type StepView, type RunView } from "./run-view.ts";

/** A write, with the outcome of it at the service if that is known. */
type SeenRow = WriteRow & Partial<Pick<RecordedWrite, "standing" | "word" | "outcomeAt">>;

/** The evidence for the state of a run. */
export interface Evidence {
  readonly workflowId: string;
  /** Undefined if Temporal has no run of this id, or cannot be reached. */
  readonly progress: Progress | undefined;
  /** The reason of its failure. */
  readonly failure: Failure | null;
  /** The actions of its history, if that was read. */
  readonly items: ReadonlyArray<TimelineItem>;
  /** As the ledger has it. */
  readonly run: Run | undefined;
  readonly rows: ReadonlyArray<SeenRow>;
  readonly waits: ReadonlyArray<RecordedWait>;
  readonly pauses: ReadonlyArray<Pause>;
  readonly end: Decision | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly listLagMs?: number | undefined;
}

type Standing = Pick<RunView, "reason" | "statuses">;

/** Words a time of day, with its date if that is not today: `19:41 UTC`. */
const clock = (at: number, now: number): string => {
  const [iso, today] = [new Date(at).toISOString(), new Date(now).toISOString()];
  const time = `${iso.slice(11, 16)} UTC`;
  return iso.slice(0, 10) === today.slice(0, 10) ? time : `${iso.slice(0, 10)} ${time}`;
};

/** Returns whether a person is asked for the outcome of a write. */
export const isAsking = ({ question, state }: WriteRow): boolean =>
  state === "asking" && question?.kind === "outcome";

/** Returns whether a write has to be approved by a second person. */
export const awaitsApproval = ({ question, state }: WriteRow): boolean =>
  question?.kind === "approval" && state !== "ended" && state !== "done";

/** Returns whether the outcome of a write is unknown. */
const isUnknown = (row: WriteRow): boolean =>
  row.state === "unknown" || row.state === "asking" || (row.state === "ended" && row.doubt > 0);

/** Describes the wait of a write with an unknown outcome: `response lost, checking until 19:41 UTC`. */
const unknownText = (
  { from, message, until }: Pick<WriteRow, "from" | "message" | "until">,
  now: number,
  listLagMs = defaultAssumptions.listLagSeconds * 1_000,
  /** Why the last check decided nothing, if it is known. */
  reason?: string | null,
): string => {
  // A row without a time lost no answer: nothing vouches for it.
  const why = from === null ? (message?.replace(/\.$/, "") ?? "outcome unknown") : "response lost";
  const at = (until ?? 0) + listLagMs;
  if (at > now) return `${why}, checking until ${clock(at, now)}`;
  return `${why}, checking${reason ? `: ${reason.replace(/\.$/, "")}` : ""}`;
};

const WAIT_TEXTS: Readonly<Record<RecordedWait["kind"], (thing: string) => string>> = {
  payout: (thing) => `waiting for payout ${thing} to complete`,
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
    ? `the service does not show ${kind} ${thing}: ${problem.replace(/\.$/, "")}; ask the service about it, or cancel the run`
    : WAIT_TEXTS[kind](thing);
};

/** Returns the pause that holds for a run, or for all runs of a batch. */
export const pauseOf = (
  pauses: ReadonlyArray<Pause>,
  batch: string | null | undefined,
  workflowId?: string,
): Pause | undefined =>
  pauses.find(({ of, scope }) => scope === "all" || of === (scope === "run" ? workflowId : batch));

const PAUSED_IN_TEMPORAL =
  "Its workflow is paused in Temporal: it continues once it is unpaused there.";

/** Returns why an open run makes no progress, from Temporal and the ledger. */
const openReason = (
  evidence: Evidence,
): { readonly status: Status; readonly reason: string | null } => {
  const { listLagMs, now, pauses, progress, rows, run, waits, workflowId } = evidence;
  const open = evidence.items.filter(({ endedAt }) => endedAt === null);
  const said = (status: Status, reason: string | null) => ({ status, reason });
  // A decision is of no use to a paused workflow, so it is said with the question, too.
  const paused = progress?.isPaused === true ? [PAUSED_IN_TEMPORAL] : [];
  const asking = rows.find(isAsking);
  if (asking !== undefined) {
    const reason = `${asking.step}: ${asking.question?.reason ?? ""}`;
    return said("asking", [reason, ...paused].join(" "));
  }
  const approval = rows.find(awaitsApproval);
  if (approval !== undefined) {
    const reason = `${approval.step} needs approval: ${approval.question?.reason ?? ""}`;
    return said("approval", [reason, ...paused].join(" "));
  }
  if (paused.length > 0) return said("waiting", PAUSED_IN_TEMPORAL);
  const pending = progress?.pending ?? [];
  const lost = rows.find(({ state }) => state === "unknown");
  if (lost !== undefined) {
    const checked = pending.find(({ type }) => type === lost.operation)?.message;
    return said("unknown", `${lost.step}: ${unknownText(lost, now, listLagMs, checked)}`);
  }
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
    const isWaiting = retried.failureType === NOT_YET || wait !== undefined;
    const reason = `${retried.type}: ${retried.message ?? ""}`.replace(/\.$/, "");
    return said(isWaiting ? "waiting" : "running", `${reason}${when}`);
  }
  if (wait !== undefined) return said("waiting", waitText(wait));
  const pause = pauseOf(pauses, run?.batch, workflowId);
  if (pause !== undefined && pending.length === 0) {
    return said("paused", `sends are paused by ${pause.by}: ${pause.reason}`);
  }
  const task = open.find(({ kind }) => kind === "task");
  if (task !== undefined) {
    return said("running", `its workflow code fails: ${task.message ?? "no reason"}`);
  }
  const timer = open.find(({ kind, until }) => kind === "timer" && until !== null);
  if (timer !== undefined && timer.until !== null) {
    const what = timer.summary === null ? "sleeping" : timer.summary;
    return said("waiting", `${what} until ${clock(timer.until, now)}`);
  }
  const [activity] = pending;
  if (activity !== undefined) return said("running", `at ${activity.type}`);
  const [child] = progress?.pendingChildren ?? [];
  if (child !== undefined) return said("running", `waiting for ${child}`);
  return said("running", (progress?.taskAttempts ?? 0) > 0 ? "waiting for a worker" : null);
};

const PAYING: ReadonlySet<string> = new Set(["made", "completed", "failed", "returned"]);

/** The payouts of a run itself that the service has accepted. */
const payoutsOf = ({ rows, workflowId }: Evidence): ReadonlyArray<SeenRow> =>
  rows.filter(
    ({ operation, ownerId, standing = "" }) =>
      operation === "createPayout" && ownerId === workflowId && PAYING.has(standing),
  );

/**
 * Returns the status of an ended run by its money, whatever Temporal says of the run; undefined if it has none. A payout
 * may complete after its run was cancelled, and a wait may be completed by hand.
 */
const moneyStatus = (
  evidence: Evidence,
): { readonly status: Status; readonly text: string } | undefined => {
  const { progress, rows, run, waits } = evidence;
  const payouts = payoutsOf(evidence);
  const is = (wanted: string) => payouts.find(({ standing }) => standing === wanted);
  const isPayout = (run?.type ?? progress?.type) === WORKFLOW.payout;
  if (is("returned")) return { status: "returned", text: "its payout came back" };
  const open = is("made");
  const agrees = waits.some(
    (wait) => wait.thing === open?.madeId && outcomeOf(wait) === "completed",
  );
  if (open !== undefined && !agrees)
    return { status: "waiting", text: "its payout was made and is under way" };
  if (!isPayout) return undefined;
  if (is("completed") ?? open)
    return { status: "succeeded", text: "its payout was made and has completed" };
  if (is("failed")) return { status: "failed", text: "its payout was made and has failed" };
  // Only the ledger knows that nothing was sent: it must have the run, and no doubt about it.
  const isNothing =
    run !== undefined && !rows.some((row) => isUnknown(row) || row.state === "done");
  return progress?.state === "succeeded" && isNothing
    ? { status: "failed", text: "ended without a payout; nothing was paid" }
    : undefined;
};

/** Returns the statuses of a run, and the reason. */
export const standingOf = (evidence: Evidence): Standing => {
  const { end, failure, listLagMs, now, progress, rows, run } = evidence;
  const found = new Set<Status>();
  if (rows.some(isUnknown)) found.add("unknown");
  const state = progress?.state;
  // The payment was made: the stop order concerns further sends.
  if (end !== undefined && state !== "succeeded") found.add("ended");
  if (state === "running" || state === undefined) {
    const { reason, status } = openReason(evidence);
    // Without Temporal, the ledger says how its run has ended, and the outcome of its money.
    if (state === undefined && run !== undefined && run.status !== "running") {
      found.delete("ended");
      found.add(run.status);
      const text = run.endState === null ? undefined : moneyStatus(evidence)?.text;
      const why = [endText(end), text ?? run.endReason?.replace(/\.$/, "")].filter(Boolean);
      return { statuses: inOrder(found), reason: reason ?? (why.join("; ") || null) };
    }
    // Without Temporal, only the ledger shows the items for a person.
    if (state === "running" || status !== "running") found.add(status);
    if (state === "running") found.add("running");
    if (status === "unknown") found.add("waiting");
    return { statuses: inOrder(found), reason };
  }
  const money = moneyStatus(evidence);
  if (money !== undefined) {
    found.delete("ended");
    found.add(money.status);
  } else {
    found.add(state);
    if (state === "timedOut" || state === "terminated") found.add("failed");
  }
  if (rows.some(isAsking)) found.add("asking");
  const doubted = rows.find(isUnknown);
  const parts = [
    endText(end),
    money?.status === state ? undefined : money?.text,
    doubted &&
      (doubted.state === "unknown"
        ? `${doubted.step}: ${unknownText(doubted, now, listLagMs)}`
        : `${doubted.step}: outcome unknown`),
    failure?.message === end?.reason ? undefined : failure?.message.replace(/\.$/, ""),
  ];
  const reason = parts.filter((part) => part !== undefined).join("; ");
  return { statuses: inOrder(found), reason: reason === "" ? null : reason };
};

const endText = (end: Decision | undefined): string | undefined =>
  end && `stopped by ${end.by}${end.reason === null ? "" : `: ${end.reason}`}`;

const inOrder = (found: ReadonlySet<Status>): ReadonlyArray<Status> =>
  STATUSES.filter((status) => found.has(status));

const BY: Readonly<Record<string, string>> = {
  key: "found in the list by its key",
  likeness: "found in the list by its fields",
  person: "named by a person",
  ledger: "reused: the ledger has it for the same account",
};

const twice = ({ sends }: WriteRow): string => (sends > 1 ? `, sent ${sends} times` : "");

const textOf = (row: WriteRow, now: number, listLagMs?: number): string => {
  const { doubt, knownBy, madeId, message, question, result, sends } = row;
  switch (row.state) {
    case "ready":
      if (question?.kind === "approval") return `needs approval: ${question.reason}`;
      return message ?? (sends === 0 ? "not sent yet" : "had no effect; will be sent again");
    case "sending":
      return "being sent";
    case "unknown":
      return `${unknownText(row, now, listLagMs)}${twice(row)}`;
    case "asking":
      return `needs an answer: ${question?.reason ?? ""}`;
    case "refused":
      return `refused by the service: ${message ?? "no reason"}`;
    case "done":
      return [madeId, knownBy === null ? undefined : BY[knownBy]]
        .filter((part) => part !== undefined && part !== null)
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

const writeStep = (row: WriteRow, { listLagMs, now }: Evidence): StepView => {
  const isSettled = row.state === "done" || row.state === "refused" || row.state === "undone";
  return {
    kind: "write",
    name: row.step,
    state: row.state,
    text: textOf(row, now, listLagMs),
    ...paymentFields(row.request),
    at: row.createdAt,
    endedAt: isSettled ? row.changedAt : null,
    madeId: row.madeId,
    knownBy: row.knownBy,
    sends: row.sends,
  };
};

const NOTHING = { ...paymentFields(undefined), madeId: null, knownBy: null, sends: null } as const;

const outcomeOf = ({ outcome }: RecordedWait): string | undefined => {
  const word = outcome?.["outcome"];
  return typeof word === "string" ? word : undefined;
};

const BAD: ReadonlyArray<string> = ["refused", "removed", "failed", "incomplete"];

const stateOfWait = (wait: RecordedWait): StepView["state"] => {
  if (wait.closedAt === null) return "open";
  if (BAD.includes(outcomeOf(wait) ?? "")) return "failed";
  return outcomeOf(wait) === "runEnded" ? "cancelled" : "done";
};

const waitStep = (wait: RecordedWait): StepView => {
  const outcome = outcomeOf(wait);
  return {
    ...NOTHING,
    kind: "wait",
    name: WAIT[wait.kind],
    state: stateOfWait(wait),
    text:
      wait.closedAt === null
        ? waitText(wait)
        : `${wait.thing}${outcome === undefined ? "" : `: ${outcome}`}`,
    at: wait.since,
    endedAt: wait.closedAt,
  };
};

const WAITING: ReadonlySet<string> = new Set(Object.values(WAIT));

const textOfItem = ({ endedAt, kind, message, outcome, summary, until }: TimelineItem): string => {
  if (kind === "timer" && endedAt === null && until !== null) {
    return `${summary ?? "sleeping"}, until ${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC`;
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
  const { items, rows, waits } = evidence;
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
    ...waits.map(waitStep),
    ...others.map(itemStep),
  ].toSorted((a, b) => a.at - b.at);
};
