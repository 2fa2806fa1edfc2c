import { batchLogId, endAmong, type Ledger, type Pause } from "@durable-payments/ledger";
import { webUiLink } from "@durable-payments/protocol";
import { failureTypes } from "@durable-payments/protocol/calls";
import { setTimeout } from "node:timers/promises";
import type { Sources } from "../facts/connection/operations.ts";
import { readNames } from "../facts/payees.ts";
import { noWorker } from "../facts/connection/temporal.ts";
import { type NextOperation, notFound } from "../errors.ts";
import { readEvents, timelineOf } from "../facts/history.ts";
import { whyNot } from "../rules/retry-plan.ts";
import { itemsOf } from "./inbox.ts";
import { type Progress, readFailureOf, readProgress } from "../facts/progress.ts";
import {
  type InboxItem,
  paymentFields,
  type PaymentView,
  type RunView,
  type Status,
  sumMoney,
} from "../rules/run-view.ts";
import { type Evidence, standingOf, stepsOf } from "../rules/standing.ts";

/** Reads the evidence for the state of a run, as far as it can be reached. */
export const readEvidence = async (
  { ledger, listLagMs, temporal }: Omit<Sources, "whyNot">,
  workflowId: string,
  pauses: ReadonlyArray<Pause>,
  mostEvents: (progress: Progress) => number,
): Promise<Evidence> => {
  const client = temporal?.client;
  const progress = client && (await readProgress(client, workflowId));
  const rootId = progress?.rootId ?? workflowId;
  const most = progress === undefined ? 0 : mostEvents(progress);
  const [runs, rows, waits, decisions, failure, events] = await Promise.all([
    ledger?.runs({ workflowIds: [workflowId], limit: 1 }) ?? [],
    ledger?.rowsOf(workflowId) ?? [],
    ledger?.waits({ workflowId }) ?? [],
    ledger?.decisionsOf(rootId) ?? [],
    client && progress ? readFailureOf(client, workflowId, progress) : null,
    client && progress && most > 0
      ? readEvents(client, { workflowId, runId: progress.runId }, most)
      : [],
  ]);
  return {
    workflowId,
    progress,
    failure,
    items: timelineOf(events),
    run: runs[0],
    rows,
    waits,
    pauses,
    end: endAmong(decisions),
    now: Date.now(),
    listLagMs,
  };
};

type Pays = Pick<RunView, keyof PaymentView | "money" | "succeeded">;

/** Returns the payment of a run: what its writes have sent, added up; what it plans, until it has such a write. */
const paysOf = ({ rows, run, workflowId }: Evidence): Pays => {
  const moving = rows.filter(
    ({ ownerId, request }) => request.amount !== null && ownerId === workflowId,
  );
  const succeeded = sumMoney(
    moving
      .filter(({ standing, state }) => standing === "completed" || (state === "done" && !standing))
      .map(({ request }) => request),
  );
  const [first, second] = moving.map(({ request }) => request);
  if (second === undefined) {
    const one = paymentFields(first ?? run);
    return { ...one, money: sumMoney([one]), succeeded };
  }
  const money = sumMoney(moving.map(({ request }) => request));
  const [sum, other] = money;
  const payees = new Set(moving.map(({ request }) => request.payee));
  const payee = payees.size === 1 ? (first?.payee ?? null) : null;
  const total = other === undefined && sum !== undefined ? sum : { amount: null, currency: null };
  return { ...total, payee, reference: null, money, succeeded };
};

/** Makes the view of a run. */
export const viewOf = (evidence: Evidence): RunView => {
  const { progress, run, workflowId } = evidence;
  return {
    workflowId,
    runId: progress?.runId ?? run?.runId ?? null,
    type: progress?.type ?? run?.type ?? null,
    state: progress?.state ?? null,
    ...standingOf(evidence),
    startedAt: progress?.startedAt ?? run?.startedAt ?? null,
    endedAt: progress?.endedAt ?? run?.endedAt ?? null,
    startedBy: run?.startedBy ?? null,
    batch: run?.batch ?? null,
    batchRow: run?.batchRow ?? null,
    ...paysOf(evidence),
  };
};

/** Most events that are read of one history. */
const MOST_EVENTS = 2_000;

/** One run with everything known about it. */
export type RunDetails = Awaited<ReturnType<typeof readRun>>;

/**
 * Reads the latest run of an id with everything known about it: writes, waits, questions and decisions from the
 * ledger, progress from Temporal.
 *
 * @param sources the reachable sources; `notes` has the missing parts.
 * @throws NotFound if neither knows it.
 */
export const readRun = async (sources: Sources, workflowId: string) => {
  const { ledger, temporal, whyNot } = sources;
  const pauses = (await ledger?.pauses()) ?? [];
  const evidence = await readEvidence(sources, workflowId, pauses, () => MOST_EVENTS);
  const { end, failure, progress, rows, run } = evidence;
  if (progress === undefined && rows.length === 0 && run === undefined && end === undefined) {
    throw notFound(`There is no run of ${workflowId}. ${whyNot.join(" ")}`.trim(), {
      operation: "list",
    });
  }
  const missing =
    temporal === undefined || progress?.state !== "running"
      ? undefined
      : await noWorker(temporal.client, progress.taskQueue);
  const webUi = temporal?.settings.webUi;
  const view = viewOf(evidence);
  const inbox = ledger ? await itemsOf(ledger, rows) : [];
  const nameOf = ledger && (await readNames(ledger, [view.payee, run?.payee ?? null], rows));
  return {
    ...view,
    payeeName: nameOf?.(view.payee) ?? null,
    steps: stepsOf(evidence),
    inbox,
    failure: failure && { type: failure.type, message: failure.message },
    /** The person who ended it, and the reason. */
    end: end === undefined ? null : { by: end.by, reason: end.reason, at: end.at },
    /** Its page in Temporal's Web UI. */
    webUi:
      webUi && progress
        ? webUiLink(webUi, temporal.settings.namespace, workflowId, progress.runId)
        : null,
    /** Possible actions, the most useful first: at most three. */
    next: nextOf(view, inbox, evidence),
    /** Parts that could not be read, with the reasons. */
    notes: [
      ...whyNot,
      ...(missing === undefined ? [] : [missing.message]),
      ...(temporal !== undefined && progress === undefined
        ? [
            "Temporal has no run with this id: its progress is not known. The payments are those of the ledger.",
          ]
        : []),
    ],
  };
};

/** Longest time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 2_000;

/**
 * Follows a run to its end.
 *
 * @param signal ends it; the run continues.
 * @returns a view each time that something has changed; the last one is of the end.
 */
export async function* followRun(
  sources: Sources,
  workflowId: string,
  signal: AbortSignal,
): AsyncGenerator<RunDetails> {
  let latest = "";
  while (!signal.aborted) {
    const run = await readRun(sources, workflowId);
    const seen = JSON.stringify([run.state, run.reason, run.steps]);
    if (seen !== latest) yield run;
    latest = seen;
    if (run.state !== "running") return;
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

const UNHAPPY: ReadonlyArray<Status> = ["failed", "cancelled"];

/** Returns the retries that are not refused at once and may succeed. */
const retriesOf = (evidence: Evidence): ReadonlyArray<NextOperation> => {
  const { failure, progress, workflowId } = evidence;
  const why = whyNot({
    ...evidence,
    workflowType: progress?.type ?? evidence.run?.type ?? "",
    state: progress?.state ?? "failed",
    decisions: [],
    isAmended: false,
    isOverruled: false,
  });
  const retry = {
    operation: "retry",
    workflowId,
    ...(progress && { ifRun: progress.runId }),
  } as const;
  if (why === undefined) return [{ operation: "retry", workflowId, isDryRun: true }, retry];
  if (why._tag === "EndedByPerson") return [{ ...retry, isOverruling: true }];
  return failure?.type === failureTypes.invalidRequest ? [{ ...retry, isAmended: true }] : [];
};

/** Returns the possible actions for a run. */
export const nextOf = (
  { batch, statuses, workflowId }: RunView,
  inbox: ReadonlyArray<InboxItem>,
  evidence: Evidence,
): ReadonlyArray<NextOperation> => {
  const has = (status: Status) => statuses.includes(status);
  const next: Array<NextOperation> = [];
  for (const item of inbox) {
    const id = item.workflowId;
    if (item.kind === "approval") {
      const { hash } = item;
      if (hash === null) next.push({ operation: "cancel", workflowId });
      else
        next.push(
          { operation: "approve", workflowId: id, hash },
          { operation: "reject", workflowId: id },
        );
    } else if (item.kind === "question") next.push({ operation: "answer", workflowId: id });
  }
  if (has("paused")) next.push({ operation: "resume" });
  if (UNHAPPY.some(has)) next.push(...retriesOf(evidence));
  if (has("running") && next.length === 0) {
    next.push(
      { operation: "show", workflowId, isFollowed: true },
      { operation: "cancel", workflowId },
    );
  }
  if (batch !== null) next.push({ operation: "show", workflowId: batch });
  next.push({ operation: "show", workflowId, isLog: true });
  return next.slice(0, 3);
};

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
    throw notFound(`The ledger has no log for ${workflowId}.`);
  const { finishedAt = null, id: batch = run?.batch } = found ?? {};
  const among = general.filter(({ at, sequence, value: { of, scope } }) => {
    if (sequence < first) return false;
    if (scope === "batch") return of === batch;
    return found === undefined ? sequence < last : at <= (finishedAt ?? at);
  });
  return {
    workflowId,
    lines: [...own, ...among].toSorted((a, b) => a.sequence - b.sequence),
    /** Present if the chain of hashes was checked. */
    ...(isVerified && { verification: await ledger.verify(logId) }),
  };
};
