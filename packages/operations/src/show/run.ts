import type { Decision, Ledger, Run, RecordedWait, WriteRow } from "@durable-payments/ledger";
import { noWorker } from "../connection/pollers.ts";
import type { Sources } from "../connection/operations.ts";
import { webUiLink } from "../connection/settings.ts";
import type { Temporal } from "../connection/temporal.ts";
import { NotFound } from "../errors.ts";
import { readEvents, type TimelineItem, timelineOf } from "../history/events.ts";
import type { Failure } from "../history/failure.ts";
import { itemsOf } from "./inbox.ts";
import { nextOf } from "./next.ts";
import { type Progress, readFailureOf, readProgress } from "./progress.ts";
import type { PaymentView, RunDetails, RunView } from "./run-view.ts";
import { type Evidence, standingOf } from "./standing.ts";
import { stepsOf } from "./steps.ts";

/** What the ledger has of a workflow id. */
export interface Recorded {
  readonly run: Run | undefined;
  readonly rows: ReadonlyArray<WriteRow>;
  readonly waits: ReadonlyArray<RecordedWait>;
  readonly end: Decision | undefined;
}

const NOTHING: Recorded = { run: undefined, rows: [], waits: [], end: undefined };

/** Returns the end that holds: the latest one that nobody has overruled since. */
const endOf = (decisions: ReadonlyArray<Decision>): Decision | undefined =>
  decisions.reduce<Decision | undefined>((end, decision) => {
    if (decision.kind === "end" || decision.kind === "reject") return decision;
    return decision.kind === "overrule" ? undefined : end;
  }, undefined);

/**
 * Reads what the ledger has of a run.
 *
 * @param rootId the id under which its writes are kept; of a child only its own are returned.
 */
export const readRecorded = async (
  ledger: Ledger | undefined,
  workflowId: string,
  rootId: string,
): Promise<Recorded> => {
  if (ledger === undefined) return NOTHING;
  const [[run], all, waits, decisions] = await Promise.all([
    ledger.runs({ workflowIds: [workflowId], limit: 1 }),
    ledger.rowsOf(rootId),
    ledger.waits({ workflowId }),
    ledger.decisionsOf(rootId),
  ]);
  const rows =
    rootId === workflowId ? all : all.filter(({ step }) => step.startsWith(`${workflowId}:`));
  return { run, rows, waits, end: endOf(decisions) };
};

const NO_PAYMENT: PaymentView = { amount: null, currency: null, payee: null, reference: null };

/** What a run pays: as it was started, else as its first write that moves money has it. */
const paymentOf = ({ rows, run }: Recorded): PaymentView => {
  const of =
    (run?.amount ?? null) === null
      ? rows.find(({ request }) => request.amount !== null)?.request
      : run;
  const { amount, currency, payee, reference } = of ?? run ?? NO_PAYMENT;
  return { amount, currency, payee, reference };
};

/** Makes the view of a run of what was read of it. */
export const viewOf = (evidence: Evidence, recorded: Recorded): RunView => {
  const { progress, workflowId } = evidence;
  const { run } = recorded;
  return {
    workflowId,
    runId: progress?.runId ?? run?.runId ?? null,
    type: progress?.type ?? run?.type ?? null,
    state: progress?.state ?? null,
    ...standingOf(evidence),
    startedAt: progress?.startedAt ?? run?.startedAt ?? null,
    endedAt: progress?.endedAt ?? null,
    startedBy: run?.startedBy ?? null,
    batch: run?.batch ?? null,
    batchRow: run?.batchRow ?? null,
    ...paymentOf(recorded),
  };
};

interface TemporalPart {
  readonly progress: Progress | undefined;
  readonly items: ReadonlyArray<TimelineItem>;
  readonly failure: Failure | null;
  readonly isEarlier: boolean;
}

const readTemporal = async (
  { client }: Temporal,
  workflowId: string,
  runId: string | undefined,
): Promise<TemporalPart> => {
  const progress = await readProgress(client, workflowId, runId);
  if (progress === undefined) return NO_TEMPORAL;
  const execution = { workflowId, runId: progress.runId };
  const [events, failure, latest] = await Promise.all([
    readEvents(client, execution),
    readFailureOf(client, workflowId, progress),
    runId === undefined ? progress : readProgress(client, workflowId),
  ]);
  const isEarlier = latest?.runId !== progress.runId;
  return { progress, items: timelineOf(events), failure, isEarlier };
};

const NO_TEMPORAL: TemporalPart = {
  progress: undefined,
  items: [],
  failure: null,
  isEarlier: false,
};

const workerNotes = async (
  { client }: Temporal,
  progress: Progress | undefined,
): Promise<ReadonlyArray<string>> => {
  if (progress?.state !== "running") return [];
  const missing = await noWorker(client, progress.taskQueue);
  return missing === undefined ? [] : [missing.message];
};

/**
 * Reads one run with everything that is known of it: writes, waits, questions and decisions from the ledger, progress
 * from Temporal.
 *
 * @param sources what can be reached; what is missing is said in `notes`.
 * @param workflowId of the run.
 * @param runId an earlier run of the id; the latest where it is left out.
 * @throws NotFound where neither knows it.
 */
export const readRun = async (
  { ledger, listLagMs, temporal, whyNot }: Sources,
  workflowId: string,
  runId?: string,
): Promise<RunDetails> => {
  const part =
    temporal === undefined ? NO_TEMPORAL : await readTemporal(temporal, workflowId, runId);
  const { failure, isEarlier, items, progress } = part;
  const rootId = progress?.rootId ?? workflowId;
  const [recorded, pauses, missing] = await Promise.all([
    readRecorded(ledger, workflowId, rootId),
    ledger?.pauses() ?? [],
    temporal === undefined ? [] : workerNotes(temporal, progress),
  ]);
  const { end, rows, run, waits } = recorded;
  if (progress === undefined && rows.length === 0 && run === undefined && end === undefined) {
    const which = runId === undefined ? "" : ` ${runId}`;
    throw new NotFound({
      message: `There is no run${which} of ${workflowId}. ${whyNot.join(" ")}`.trim(),
      next: { operation: "list" },
    });
  }
  const now = Date.now();
  const open = items.filter(({ endedAt, outcome }) => outcome === "open" || endedAt === null);
  const evidence = {
    workflowId,
    progress,
    failure,
    open,
    rows,
    waits,
    pauses,
    end,
    now,
    listLagMs,
  };
  const view = viewOf({ ...evidence, batch: run?.batch ?? null }, recorded);
  const inbox = isEarlier ? [] : itemsOf(rows, () => run?.startedBy ?? null);
  const isGone = temporal !== undefined && progress === undefined;
  const settings = temporal?.settings;
  return {
    ...view,
    steps: stepsOf(rows, waits, items, now, listLagMs),
    inbox,
    failure,
    end: end === undefined ? null : { by: end.by, reason: end.reason, at: end.at },
    isEarlier,
    webUi:
      (settings !== undefined &&
        progress !== undefined &&
        webUiLink(settings, { workflowId, runId: progress.runId })) ||
      null,
    next: nextOf(view, { inbox, failure, waits, isEarlier }),
    notes: [
      ...whyNot,
      ...missing,
      ...(isGone ? ["Temporal has no run of this id any more; this is what the ledger has."] : []),
    ],
  };
};
