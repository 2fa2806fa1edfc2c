import {
  batchLogId,
  endAmong,
  type Ledger,
  type Run,
  wasNeverStarted,
} from "@durable-payments/ledger";
import { findEnd } from "@durable-payments/activities";
import type { Client } from "@temporalio/client";
import { messageOf } from "@durable-payments/client/values";
import { findRun, webUiLink, WORKFLOW } from "@durable-payments/protocol";
import { chunkId, failureTypes } from "@durable-payments/protocol/calls";
import type { Sources } from "../facts/connection/connections.ts";
import { noRun } from "../facts/named.ts";
import { readNames } from "../facts/payees.ts";
import { noWorker, type Temporal } from "../facts/connection/temporal.ts";
import {
  connectionFailed,
  EndedByPerson,
  invalidInput,
  type NextAction,
  notFound,
} from "../errors.ts";
import { type Failure, readEvents, timelineOf } from "../facts/history.ts";
import { whyNot } from "../rules/retry-plan.ts";
import { type InboxItem, itemsOf } from "./inbox.ts";
import { askingFiles } from "./list.ts";
import { type Progress, readFailureOf, readProgress } from "../facts/progress.ts";
import {
  isOpenStatus,
  paymentFields,
  type RunView,
  type Status,
  viewOf,
} from "../rules/run-view.ts";
import { type Evidence, isUnlisted, reasonOf, stepsOf } from "../rules/standing.ts";

/** A run that the ledger does not know, or that cannot be looked up there: Temporal alone says how it is. */
const unrecorded = (
  workflowId: string,
  { endedAt, runId, startedAt, state, type }: Progress,
): Run => ({
  ...paymentFields(undefined),
  workflowId,
  account: null,
  runId,
  type,
  startedBy: null,
  batch: null,
  batchRow: null,
  alias: null,
  namedAs: null,
  startedAt,
  endState: state === "running" ? null : state,
  endedAt,
  endType: null,
  endReason: null,
  endStep: null,
  endFacts: null,
  endGroup: null,
  isStopped: false,
  planned: "open",
  status: state,
});

/**
 * Reads the run of an id from the ledger. The tracker records an end some seconds after it; of a run that has just ended, it is
 * recorded here, so that all screens say the same. Somebody who may only read the ledger gets a note.
 */
const readLatest = async (
  ledger: Ledger,
  temporal: Temporal | undefined,
  workflowId: string,
  progress: Progress | undefined,
): Promise<{ readonly run: Run | undefined; readonly note?: string }> => {
  const read = async () => (await ledger.runs({ workflowIds: [workflowId], limit: 1 }))[0];
  const run = await read();
  const isSame = run === undefined || progress?.state === (run.endState ?? "running");
  if (temporal === undefined || progress === undefined || isSame) return { run };
  try {
    await ledger.recordEnds([await findEnd(temporal.client, workflowId)]);
    return { run: await read() };
  } catch (error) {
    const note = `Its state in Temporal is ${progress.state}, which could not be recorded: ${messageOf(error)}`;
    return { run, note };
  }
};

/** Words that Temporal has no run of an id: a row starts with its file. */
const withoutRun = ({ batch, endState, runId }: Run): string =>
  batch !== null && runId === null && endState !== "missing"
    ? "Its file has not started it."
    : "Temporal has no run with this id: its progress is not known. The payments are those of the ledger.";

/** Most events that are read of one history. */
const MOST_EVENTS = 2_000;

/** One run with everything known about it. */
export type RunDetails = Awaited<ReturnType<typeof readRun>>;

/** Returns what says that no worker takes the tasks of an open run: those of its workflow, or of an activity. */
const withoutWorker = async (client: Client, { pending, taskQueue }: Progress) => {
  const queues = new Set(pending.flatMap((activity) => activity.taskQueue || []));
  const missing = await Promise.all([
    noWorker(client, taskQueue),
    ...[...queues].map((queue) => noWorker(client, queue, "activity")),
  ]);
  // Without any worker, both kinds of tasks wait on one queue.
  return [...new Set(missing.flatMap((one) => one?.message ?? []))];
};

/** Reads what the sources have of the run of an id. */
const readKnown = async ({ ledger, temporal }: Sources, workflowId: string) => {
  const client = temporal?.client;
  const progress = client && (await readProgress(client, workflowId));
  const { note, run = progress && unrecorded(workflowId, progress) } =
    ledger === undefined
      ? { run: undefined }
      : await readLatest(ledger, temporal, workflowId, progress);
  return { note, progress, run, workflowId };
};

/** Returns the run that last asked for the write of a key, whose id names no run; events name a payment by it. */
const ownerOf = async (ledger: Ledger | undefined, workflowId: string) =>
  (await ledger?.rowsOf(workflowId))?.find((row) => row.workflowId === workflowId)?.ownerId;

/**
 * Reads the latest run of an id with everything known about it: status, writes, waits, questions and decisions from the
 * ledger, progress from Temporal.
 *
 * @param sources the reachable sources; `notes` has the missing parts.
 * @param id of the workflow; the id of a key names the run that last asked for its payment.
 * @throws NotFound if neither knows it; ConnectionFailed if the one that may know it does not answer.
 */
export const readRun = async (sources: Sources, id: string) => {
  const { ledger, temporal, whyNot } = sources;
  const client = temporal?.client;
  const known = await readKnown(sources, id);
  const owner = known.run === undefined ? await ownerOf(ledger, id) : undefined;
  const { note, progress, run, workflowId } =
    owner === undefined ? known : await readKnown(sources, owner);
  if (run === undefined && whyNot.length > 0)
    throw connectionFailed(
      "cannotConnect",
      `It is not known whether there is a run of ${workflowId}. ${whyNot.join(" ")}`,
    );
  if (run === undefined) throw await noRun(ledger, workflowId);
  const [rows, log, waits, decisions, pauses, failure, events] = await Promise.all([
    ledger?.rowsOf(workflowId) ?? [],
    ledger?.logOf(workflowId) ?? [],
    ledger?.waits({ workflowId }) ?? [],
    ledger?.decisionsOf(progress?.rootId ?? workflowId) ?? [],
    ledger?.pauses() ?? [],
    client && progress ? readFailureOf(client, workflowId, progress) : null,
    client && progress
      ? readEvents(client, { workflowId, runId: progress.runId }, MOST_EVENTS)
      : [],
  ]);
  const end = endAmong(decisions);
  const repair = run.runId === null ? undefined : await ledger?.repairOf(workflowId, run.runId);
  const words =
    ledger !== undefined && rows.some(({ decidedWord, word }) => decidedWord ?? word)
      ? await ledger.decidedWords()
      : [];
  const inbox = ledger ? await itemsOf(ledger, rows) : [];
  const evidence: Evidence = {
    run,
    unanswered: new Set(inbox.flatMap(({ question }) => question ?? [])),
    words,
    asking: ledger && (await askingFiles(ledger, [run])),
    rows,
    waits,
    pauses,
    progress,
    end,
    repair,
    items: timelineOf(events),
    now: Date.now(),
  };
  const missing =
    temporal === undefined || progress?.state !== "running"
      ? []
      : await withoutWorker(temporal.client, progress);
  const webUi = temporal?.settings.webUi;
  const payees = rows.map(({ request }) => request.payee);
  const nameOf = ledger ? await readNames(ledger, payees, rows, [run]) : () => null;
  const view = viewOf(evidence, reasonOf(evidence), nameOf);
  return {
    ...view,
    steps: stepsOf(evidence),
    inbox,
    failure: run.endReason === null ? null : { type: run.endType ?? "", message: run.endReason },
    /** The person who ended it, and the reason. */
    end: end === undefined ? null : { by: end.by, reason: end.reason, at: end.at },
    /** Its page in Temporal's Web UI. */
    webUi:
      webUi && progress
        ? webUiLink(webUi, temporal.settings.namespace, workflowId, progress.runId)
        : null,
    /** Possible actions, the most useful first: at most three. */
    next: nextOf(view, inbox, { ...evidence, failure, isLogged: log.length > 0 }),
    /** Parts that could not be read, with the reasons. */
    notes: [
      ...whyNot,
      ...(note === undefined ? [] : [note]),
      ...missing,
      ...(temporal !== undefined && progress === undefined ? [withoutRun(run)] : []),
    ],
  };
};

/**
 * Returns the page of a run in Temporal's Web UI.
 *
 * @throws ConnectionFailed if Temporal does not answer; InvalidInput if the address of the Web UI is not set; NotFound.
 */
export const readWebUi = async ({ temporal, whyNot }: Sources, workflowId: string) => {
  if (temporal === undefined) throw connectionFailed("cannotConnect", whyNot.join(" "));
  const { namespace, webUi } = temporal.settings;
  if (webUi === undefined)
    throw invalidInput(
      "The address of Temporal's Web UI is unknown. Give the setting notify.webUi, such as https://temporal.example.com.",
    );
  // A batch has a workflow for each part of its rows.
  for (const id of [workflowId, chunkId(workflowId, 1)]) {
    const run = await findRun(temporal.client, id);
    if (run !== undefined) return webUiLink(webUi, namespace, id, run.runId);
  }
  throw notFound(`Temporal has no run of ${workflowId}.`);
};

/** Whether an open run of this status may continue: a user's own workflow also after its money came back. */
const mayContinue = (status: Status): boolean => isOpenStatus(status) || status === "returned";

/** Returns what is followed of a run: the time of the next reading does not count. */
export const progressOfRun = (
  run: Pick<RunDetails, "endedAt" | "notes" | "reason" | "status" | "steps">,
) => ({
  facts: [run.status, run.reason, run.steps.map((one) => ({ ...one, readAfter: null })), run.notes],
  isOver: run.endedAt !== null || !mayContinue(run.status),
});

const UNHAPPY: ReadonlyArray<Status> = ["failed", "timedOut", "terminated", "cancelled", "ended"];

/** Facts that the next action depends on, besides the view. */
interface Ended extends Pick<Evidence, "end" | "progress" | "repair" | "rows" | "run" | "words"> {
  readonly failure: Failure | null;
  /** A workflow of one's own has no log if its payments have keys: each key has one. */
  readonly isLogged: boolean;
}

/** Returns the retries that are not refused at once and may succeed. */
const retriesOf = ({
  end,
  failure,
  progress,
  repair,
  rows,
  run,
}: Ended): ReadonlyArray<NextAction> => {
  const { type: workflowType, workflowId } = run;
  if (repair !== undefined) return [{ action: "show", workflowId: repair.id }];
  const why = whyNot({
    end,
    failure,
    rows,
    workflowId,
    workflowType,
    state: progress?.state ?? "failed",
  });
  const retry = {
    action: "retry",
    workflowId,
    ...(progress && { ifRun: progress.runId }),
  } as const;
  if (why === undefined) return [{ action: "retry", workflowId, isDryRun: true }, retry];
  if (why instanceof EndedByPerson) return [{ ...retry, isOverruling: true }];
  // After an undo.
  if (why.next?.isRestarted === true)
    return [
      { action: "retry", workflowId, isRestarted: true, isDryRun: true },
      { ...retry, isRestarted: true },
    ];
  return failure?.type === failureTypes.invalidRequest ? [{ ...retry, isAmended: true }] : [];
};

/** Returns the possible actions for a run. */
export const nextOf = (
  { batch, endedAt, status, workflowId }: RunView,
  inbox: ReadonlyArray<InboxItem>,
  ended: Ended,
): ReadonlyArray<NextAction> => {
  const next = inbox.flatMap((item) => item.next);
  const unlisted = ended.rows.find((row) => isUnlisted(row, ended.words));
  if (unlisted?.word) {
    const { account, word } = unlisted;
    next.push({ action: "word", workflowId: word, account });
  }
  if (status === "paused") next.push({ action: "resume" });
  const isNotPaid = ended.rows.some(
    ({ standing }) => standing === "failed" || standing === "returned",
  );
  if (isNotPaid && ended.run.type === WORKFLOW.payout) next.push({ action: "pay", isNewKey: true });
  if (UNHAPPY.includes(status) && !wasNeverStarted(ended.run)) next.push(...retriesOf(ended));
  if (endedAt === null && mayContinue(status) && next.length === 0) {
    next.push({ action: "show", workflowId, isFollowed: true }, { action: "cancel", workflowId });
  }
  if (batch !== null) next.push({ action: "show", workflowId: batch });
  if (ended.isLogged) next.push({ action: "show", workflowId, isLog: true });
  return next.slice(0, 3);
};

const CHANGED_PAYEE = /beneficiary_id: (\S+) → (\S+)$/;

/** Returns the ids of the payees that amendments name. */
const payeesIn = (lines: Awaited<ReturnType<Ledger["logOf"]>>): ReadonlyArray<string> =>
  lines.flatMap((line) => {
    const changed = "kind" in line && line.kind === "amend" ? line.value["changed"] : [];
    const texts = Array.isArray(changed) ? changed : [];
    return texts.flatMap((text) => CHANGED_PAYEE.exec(String(text))?.slice(1) ?? []);
  });

/** The log of a workflow id. */
export type RunLog = Awaited<ReturnType<typeof readLog>>;

/**
 * Reads the log of a workflow id or a batch: its start, every send, outcome, removal and decision, with who asked for it.
 * Pauses of its batch, and decisions about everything (a pause, a recovery) within its time, are among them.
 *
 * @param isVerified whether the chain of hashes is checked.
 * @throws NotFound if the ledger has nothing of the id.
 */
export const readLog = async (
  ledger: Ledger,
  workflowId: string,
  { isVerified = false }: { readonly isVerified?: boolean } = {},
) => {
  const found = await ledger.batch(workflowId);
  const logId = found === undefined ? workflowId : batchLogId(workflowId);
  const [own, general, [run]] = await Promise.all([
    ledger.logOf(logId),
    ledger.decisionsOf(""),
    ledger.runs({ workflowIds: [workflowId], limit: 1 }),
  ]);
  const [first, last] = [own[0]?.sequence, own.at(-1)?.sequence];
  if (first === undefined || last === undefined)
    throw await noRun(ledger, workflowId, {
      why: `The ledger has no log for ${workflowId}: nothing was sent or decided under it.`,
    });
  const { finishedAt = null, id: batch = run?.batch } = found ?? {};
  const among = general.filter(({ at, kind, sequence, value: { of, scope } }) => {
    // A pruned run has a line of its own.
    if (sequence < first || kind === "prune") return false;
    if (scope === "batch") return of === batch;
    return found === undefined ? sequence < last : at <= (finishedAt ?? at);
  });
  const lines = [...own, ...among].toSorted((a, b) => a.sequence - b.sequence);
  const payees = payeesIn(lines);
  const nameOf = await readNames(ledger, payees);
  const { account = null } = found ?? run ?? {};
  return {
    workflowId,
    lines,
    /** Payees that amendments name, in words. */
    names: Object.fromEntries(payees.map((payee) => [payee, nameOf(payee, account)])),
    /** Present if the chain of hashes was checked. */
    ...(isVerified && { verification: await ledger.verify(logId) }),
  };
};
