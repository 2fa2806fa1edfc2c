import type { Ledger } from "@durable-payments/ledger";
import { atOnce, OPEN_RUNS, queryText, queryTexts, WORKFLOW } from "@durable-payments/protocol";
import type { Operations } from "../facts/connection/operations.ts";
import { listed, PAYING } from "../facts/connection/temporal.ts";
import { invalidInput } from "../errors.ts";
import { type RunView, type Status, STATUSES } from "../rules/run-view.ts";
import { readEvidence, viewOf } from "./run.ts";
import type { Evidence } from "../rules/standing.ts";

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
  return [...stopped, ...rows.map(({ ownerId }) => ownerId)].filter((id) => id.startsWith(find));
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
