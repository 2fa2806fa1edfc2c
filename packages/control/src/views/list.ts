import type { Batch, BatchCount, BatchRow, Ledger } from "@durable-payments/ledger";
import { atOnce, OPEN_RUNS, queryText, queryTexts, WORKFLOW } from "@durable-payments/protocol";
import { keptOf } from "../actions/batch/batch.ts";
import type { Operations } from "../facts/connection/operations.ts";
import { listed, PAYING } from "../facts/connection/temporal.ts";
import { invalidInput, type NextOperation } from "../errors.ts";
import { type RunView, type Status, STATUSES } from "../rules/run-view.ts";
import { readEvidence, viewOf } from "./run.ts";
import { type Evidence, pauseOf } from "../rules/standing.ts";

/** Filter of runs; all fields are optional. */
export interface RunListFilter {
  /** Any of these. */
  readonly statuses?: ReadonlyArray<Status> | undefined;
  /** Workflow type. */
  readonly type?: string | undefined;
  /** Started since: milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Workflow id or its beginning, or the service's id of a result. */
  readonly find?: string | undefined;
  readonly limit: number;
}

/** Runs that a filter finds. */
export type RunList = Awaited<ReturnType<typeof listRuns>>;

/** Types that are payments before they have a row. */
const OWN_PAYMENTS: ReadonlySet<string> = new Set([WORKFLOW.payout, WORKFLOW.onboardCardholder]);

/** Statuses of open runs. */
const OF_OPEN: ReadonlyArray<Status> = ["paused", "waiting", "running"];

/** Temporal's names of a status of ended runs; empty for statuses that only the ledger knows. */
const NAMES: Readonly<Partial<Record<Status, ReadonlyArray<string>>>> = {
  failed: ["Failed", "TimedOut", "Terminated"],
  timedOut: ["TimedOut"],
  terminated: ["Terminated"],
  cancelled: ["Canceled"],
  succeeded: ["Completed"],
};

/** Returns the query by which Temporal finds runs, by built-in attributes alone. */
export const visibilityQuery = ({
  find,
  since,
  statuses = [],
  type,
}: Omit<RunListFilter, "limit">): string => {
  const names = [...new Set(statuses.flatMap((status) => NAMES[status] ?? []))];
  const states = [
    ...(statuses.some((status) => OF_OPEN.includes(status)) ? [OPEN_RUNS] : []),
    ...(names.length === 0 ? [] : [`ExecutionStatus IN ${queryTexts(names)}`]),
  ];
  return [
    'ExecutionStatus != "ContinuedAsNew"',
    type === undefined ? PAYING : `WorkflowType = ${queryText(type)}`,
    ...(states.length === 0 ? [] : [`(${states.join(" OR ")})`]),
    ...(since === undefined ? [] : [`StartTime >= ${queryText(new Date(since).toISOString())}`]),
    ...(find === undefined ? [] : [`WorkflowId STARTS_WITH ${queryText(find)}`]),
  ].join(" AND ");
};

/** Statuses that the ledger alone decides. */
const OF_LEDGER: ReadonlyArray<Status> = ["asking", "approval", "unknown", "ended"];

/** Most writes whose runs are read. */
const MOST_ROWS = 10_000;

/** Finds ids by the writes of the ledger. */
const idsOfLedger = async (
  ledger: Ledger,
  { find = "", statuses = [] }: RunListFilter,
): Promise<ReadonlyArray<string>> => {
  const asks = (status: Status) => statuses.includes(status);
  const states = ["unknown", "asking", "ended"] as const;
  const rows = [
    ...(asks("asking") || asks("approval") ? await ledger.rows({ needsPerson: true }) : []),
    ...(asks("unknown") ? await ledger.rows({ states, limit: MOST_ROWS }) : []),
  ];
  const stopped = asks("ended") ? await ledger.stoppedIds(MOST_ROWS) : [];
  return [...stopped, ...rows.map(({ workflowId }) => workflowId)].filter((id) =>
    id.startsWith(find),
  );
};

/** Operations whose result ids are searched. */
const MAKING = ["createPayout", "createCardholder", "createCard", "createBeneficiary"];

const idsByMade = async (
  { accounts, ledger }: Operations,
  find: string,
): Promise<ReadonlyArray<string>> => {
  const searches = accounts.flatMap(({ hash }) =>
    MAKING.map((operation) => ledger.owners(hash, operation, [find])),
  );
  return (await Promise.all(searches)).flatMap((owners) => owners.get(find)?.workflowId ?? []);
};

async function* idsOf(operations: Operations, filter: RunListFilter): AsyncGenerator<string> {
  const { client, ledger } = operations;
  const { find, statuses = [] } = filter;
  if (find !== undefined) {
    const [whole] = await ledger.runs({ workflowIds: [find], limit: 1 });
    if (whole !== undefined) yield find;
    yield* await idsByMade(operations, find);
  }
  yield* await idsOfLedger(ledger, filter);
  // The ledger finds its own statuses; the others narrow the query.
  const others = statuses.filter((status) => !OF_LEDGER.includes(status));
  if (statuses.length > 0 && others.length === 0) return;
  const query = visibilityQuery({ ...filter, statuses: others });
  for await (const { workflowId } of listed(client, query)) yield workflowId;
}

/** A timer older than this number of events is shown only by `show`. */
const LAST_EVENTS = 30;

const isPayment = ({ progress, rows, run }: Evidence): boolean =>
  run !== undefined || rows.length > 0 || OWN_PAYMENTS.has(progress?.type ?? "");

/** Reads statuses that are separated by commas. @throws InvalidInput if there is no such status. */
export const readStatuses = (text: string): ReadonlyArray<Status> =>
  text.split(",").map((given) => {
    const known = STATUSES.find((status) => status === given.trim());
    if (known !== undefined) return known;
    throw invalidInput(
      `There is no status "${given.trim()}". A status is one of: ${STATUSES.join(", ")}.`,
    );
  });

const matches = (
  { startedAt, statuses, type }: RunView,
  { since = 0, statuses: wanted = [], type: wantedType }: RunListFilter,
): boolean =>
  (wanted.length === 0 || wanted.some((status) => statuses.includes(status))) &&
  (wantedType === undefined || type === wantedType) &&
  (startedAt ?? since) >= since;

/** Number of runs that are read before the filter is applied. */
const PART = 16;

/**
 * Lists runs with the reason of their states. Only the latest run of an id counts, so that a retried run is not listed as
 * failed. Temporal lists a new run, or a new state, after about a second.
 *
 * @param operations Temporal and the ledger.
 * @param filter which runs.
 * @returns the runs: first those that the ledger finds, then open runs, then the latest to end.
 * @example
 * ```ts
 * const { runs } = await listRuns(operations, { statuses: ["failed"], limit: 50 });
 * ```
 */
export const listRuns = async (operations: Operations, filter: RunListFilter) => {
  const { ledger, listLagMs } = operations;
  const sources = { ledger, listLagMs, temporal: operations };
  const pauses = await ledger.pauses();
  const runs: Array<RunView> = [];
  const seen = new Set<string>();
  let part: Array<string> = [];
  const readPart = async () => {
    const found = await atOnce(part, (id) =>
      // The object of an open run's wait, if neither the ledger nor a pending activity has it.
      readEvidence(sources, id, pauses, ({ pending, state }) =>
        state === "running" && pending.length === 0 ? LAST_EVENTS : 0,
      ),
    );
    part = [];
    const payments = found.filter((one) => filter.type !== undefined || isPayment(one));
    runs.push(...payments.map(viewOf).filter((view) => matches(view, filter)));
  };
  for await (const id of idsOf(operations, filter)) {
    if (seen.has(id)) continue;
    seen.add(id);
    part.push(id);
    if (part.length === PART) await readPart();
    if (runs.length > filter.limit) break;
  }
  await readPart();
  // Whether there are more than the limit.
  const isMore = runs.length > filter.limit;
  return { runs: runs.slice(0, filter.limit), isMore };
};

/** A batch with the outcome of its rows. */
export interface BatchView extends Omit<Batch, "details"> {
  readonly counts: ReadonlyArray<BatchCount>;
  readonly pausedBy: string | null;
}

/** A batch with the first 100 rows of each kind that need attention. */
export interface BatchDetails extends BatchView {
  readonly failed: ReadonlyArray<BatchRow>;
  readonly rejected: ReadonlyArray<BatchRow>;
  /** Failed and rejected rows beyond these. */
  readonly notNamed: number;
  /** Which rows are likely duplicates of payments under other ids. */
  readonly warnings: ReadonlyArray<string>;
  readonly next: ReadonlyArray<NextOperation>;
}

const MOST_NAMED = 100;

const sumOf = (counts: BatchView["counts"]): number =>
  counts.reduce((sum, { rows }) => sum + rows, 0);

const batchOf = async (ledger: Ledger, { details: _, ...batch }: Batch): Promise<BatchView> => {
  const [counts, pauses] = await Promise.all([ledger.batchCounts(batch.id), ledger.pauses()]);
  return { ...batch, counts, pausedBy: pauseOf(pauses, batch.id)?.by ?? null };
};

/**
 * Lists batches, the newest first, each with the counts of its rows.
 *
 * @param limit most batches.
 */
export const listBatches = async (
  ledger: Ledger,
  limit: number,
): Promise<ReadonlyArray<BatchView>> =>
  Promise.all((await ledger.batches({ limit })).map((batch) => batchOf(ledger, batch)));

/** Returns the possible actions for a batch. */
const nextOfBatch = (batch: BatchView): ReadonlyArray<NextOperation> => {
  const { id, pausedBy, state } = batch;
  const next: Array<NextOperation> = [];
  if (state === "needsApproval") {
    next.push({ operation: "approve", workflowId: id }, { operation: "reject", workflowId: id });
  }
  if (pausedBy !== null) next.push({ operation: "resume", of: id });
  if (batch.counts.some(({ rows, state: of }) => of === "failed" && rows > 0))
    next.push({ operation: "retryAll", batch: id });
  if (state === "approved") next.push({ operation: "show", workflowId: id, isFollowed: true });
  return next.slice(0, 3);
};

/**
 * Reads one batch, with its failed rows and their reasons.
 *
 * @returns undefined if the ledger has no such batch.
 */
export const findBatch = async (ledger: Ledger, id: string): Promise<BatchDetails | undefined> => {
  const batch = await ledger.batch(id);
  if (batch === undefined) return undefined;
  const [view, failed, rejected] = await Promise.all([
    batchOf(ledger, batch),
    ledger.batchRows(id, { states: ["failed"], limit: MOST_NAMED }),
    ledger.batchRows(id, { states: ["rejected"], limit: MOST_NAMED }),
  ]);
  const { warnings } = keptOf(batch);
  const faulty = view.counts.filter(({ state }) => state === "failed" || state === "rejected");
  const notNamed = sumOf(faulty) - failed.length - rejected.length;
  return { ...view, failed, rejected, notNamed, warnings, next: nextOfBatch(view) };
};
