/**
 * Keeps in the ledger how Temporal has the latest run of each workflow id.
 *
 * Only Temporal knows how a run has ended, and it forgets: after the retention, and with its database. A report that asks
 * Temporal is then empty, or wrong. So each end is recorded while Temporal knows it, and reports read the ledger alone.
 *
 * Two parts find the ends, one tracker of all that share a ledger at a time:
 *
 * | part | asks Temporal's visibility | finds | |---|---|---| | recent | for runs that were started or closed since the
 * watermark | nearly all ends, after some seconds | | known | for 200 ids of runs that are open in the ledger, in turn
 * | ends before the watermark, ids that Temporal has forgotten |
 *
 * The watermark is a time of Temporal's own clock: the latest that was seen, less an overlap, because visibility lags.
 *
 * | payouts a second | recent, every 5 s | known, every 5 s, for payouts of three days |
 * |---|---|---|
 * | 0.1 | two queries of a page | one query of a page; all 26,000 open runs in 11 minutes |
 * | 10 | two queries of a page | the same; in 18 hours |
 * | 100 | two queries, of ten pages in all | the same; in a week |
 *
 * In addition, each run that did not succeed costs a read of its last event, once.
 */
import {
  type EndFacts,
  type Ledger,
  LedgerUnavailable,
  type Run,
  type RunEnd,
} from "@durable-payments/ledger";
import {
  atOnce,
  endStateOf,
  findRun,
  isNamespaceMissing,
  type ListedRun,
  listedRuns,
  OPEN_RUNS,
  queryTexts,
  queryTime,
  temporalReason,
} from "@durable-payments/protocol";
import { factsOf, type Failure, readFailure } from "@durable-payments/protocol/failures";
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowFailedError,
} from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";

const idOf = ({ execution }: ListedRun): string => execution?.workflowId ?? "";
const startOf = ({ startTime }: ListedRun): number => optionalTsToMs(startTime) ?? 0;
const stateOf = ({ execution, status }: ListedRun): string => `${execution?.runId} ${status}`;
const closeOf = ({ closeTime }: ListedRun): number | null => optionalTsToMs(closeTime) ?? null;

const NO_REASON: Pick<RunEnd, "endReason" | "endType"> = { endType: null, endReason: null };

/** Returns the facts of a failure by which its retry is planned. */
const endFactsOf = (failure: Failure): EndFacts | null => {
  const { reason, version, workflowId } = factsOf(failure);
  return typeof version === "number" || typeof reason === "string"
    ? {
        ...(typeof version === "number" && { version }),
        ...(typeof workflowId === "string" && { workflowId }),
        ...(typeof reason === "string" && { reason }),
      }
    : null;
};

/** Reads why a run did not succeed. */
const readReason = async (
  client: Client,
  workflowId: string,
  runId: string | undefined,
): Promise<typeof NO_REASON & Pick<RunEnd, "endFacts" | "endStep">> => {
  try {
    await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result();
    return NO_REASON;
  } catch (error) {
    // Temporal did not respond, or its namespace is not there at the moment.
    if (error instanceof ServiceError || isNamespaceMissing(error)) throw error;
    const failure: Failure =
      error instanceof WorkflowFailedError
        ? readFailure(error.cause)
        : // A run may have written any bytes.
          { type: "Unreadable", message: "Its failure cannot be decoded here." };
    return {
      endType: failure.type,
      endReason: failure.message,
      endStep: failure.step ?? null,
      endFacts: endFactsOf(failure),
    };
  }
};

/** Reads the end of a run that Temporal lists or describes. */
const readEnd = async (client: Client, run: ListedRun): Promise<RunEnd> => {
  const workflowId = idOf(run);
  const runId = run.execution?.runId ?? null;
  const endState = endStateOf(run);
  const reason =
    endState === null || endState === "succeeded"
      ? NO_REASON
      : await readReason(client, workflowId, runId ?? undefined);
  const startedAt = optionalTsToMs(run.startTime);
  const times = { endedAt: closeOf(run), ...(startedAt !== undefined && { startedAt }) };
  return { workflowId, runId, endState, ...times, ...reason };
};

/**
 * Reads how the latest run of a workflow id has ended, from Temporal itself: visibility lags.
 *
 * @returns its end: the state is null if it is open, and `missing` if Temporal knows no run of the id.
 * @throws ServiceError or a gRPC error if Temporal does not respond.
 */
export const findEnd = async (client: Client, workflowId: string): Promise<RunEnd> => {
  const run = await findRun(client, workflowId);
  if (run !== undefined) return readEnd(client, run.raw.workflowExecutionInfo ?? {});
  const unknown = { runId: null, endedAt: null, endType: null, endReason: null };
  return { workflowId, endState: "missing", ...unknown };
};

/**
 * Returns how to read the end of a listed run, unless the ledger has it. Visibility lags: if the ledger knows another run of the
 * id, it may be a newer one, and only Temporal itself says which is the latest.
 */
const unrecorded = (client: Client, run: ListedRun, known: Run) => {
  const { endState, runId, startedAt, startedBy, workflowId } = known;
  const isSame = runId === run.execution?.runId;
  // A run whose start nobody has recorded is known since its first write.
  const isOlder = startedBy === null && startOf(run) < startedAt;
  if (isSame && !isOlder && endStateOf(run) === endState) return [];
  return [() => (isSame || runId === null ? readEnd(client, run) : findEnd(client, workflowId))];
};

/** How late Temporal's visibility may list a run. */
const OVERLAP_MS = 20_000;

/** The first look reaches back this far. The ids of open runs show which runs ended before. */
const FIRST_LOOK_MS = 10 * 60_000;

/** The start of a run is recorded before it, or right after. */
const LEFT_FOR_MS = 60_000;

/** Ids that one visibility query names. */
const PAGE = 200;

/** Time of a lease: another tracker takes over after it. */
const LEASE_MS = 30_000;

/** Dependencies of the ends. */
interface EndsOptions {
  readonly client: Client;
  readonly ledger: Ledger;
  /** This attempt of the tracker. */
  readonly holder: string;
  /** When it began, by Temporal's clock: milliseconds since 1970. */
  readonly begunAt: number;
}

/** Lists the latest run of each id that some queries find. A run that continues in a newer run is left out. */
const findLatest = async (client: Client, queries: ReadonlyArray<string>) => {
  const latest = new Map<string, ListedRun>();
  for (const query of queries) {
    for await (const run of listedRuns(client, query)) {
      const known = latest.get(idOf(run));
      const isEndOrOpen = endStateOf(run) !== null || closeOf(run) === null;
      if (isEndOrOpen && (known === undefined || startOf(run) >= startOf(known)))
        latest.set(idOf(run), run);
    }
  }
  return latest;
};

/** The tracker has recorded earlier ends. */
const LATELY_MS = 60_000;

/** Temporal has to list them within this time. */
const LISTED_WITHIN_MS = 3_000;

/**
 * Records the runs that have just failed: the tracker does so some seconds later, and a repair that is planned until then
 * would have a part of them. Without Temporal, or for a reader who may not write, the ledger has what it has.
 */
export const recordLateFailures = async (client: Client, ledger: Ledger): Promise<void> => {
  const record = async (): Promise<void> => {
    const since = queryTime(Date.now() - LATELY_MS);
    const failed = `CloseTime >= ${since} AND ExecutionStatus != "Completed"`;
    const workflowIds = [...(await findLatest(client, [failed])).keys()];
    const runs = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
    const open = runs.filter(({ endState }) => endState === null);
    const ends = await atOnce(open, ({ workflowId }) => findEnd(client, workflowId));
    if (ends.length > 0) await ledger.recordEnds(ends);
  };
  const deadline = Date.now() + LISTED_WITHIN_MS;
  await client.withDeadline(deadline, record).catch((error: unknown) => {
    const isAway = error instanceof ServiceError || isGrpcServiceError(error);
    if (!isAway && !(error instanceof LedgerUnavailable)) throw error;
  });
};

/** Makes the two parts of the tracker that record how runs end. */
export const endsOf = ({ begunAt, client, holder, ledger }: EndsOptions) => {
  let watermark = begunAt - FIRST_LOOK_MS;
  /** Runs that were recorded, in the state that was. */
  let recorded: ReadonlySet<string> = new Set();
  let after: string | undefined;

  /** Records ends. An end that cannot be read does not delay the others: returns the reason. */
  const record = async (runs: ReadonlyArray<() => Promise<RunEnd>>) => {
    let fault: string | undefined;
    const ends = await atOnce(runs, (read) =>
      read().catch((error: unknown) => {
        fault = temporalReason(error);
        return undefined;
      }),
    );
    const known = ends.filter((end) => end !== undefined);
    if (known.length > 0) await ledger.recordEnds(known);
    return fault;
  };

  /** The closed ones first: a run that is started meanwhile is newer, and found by the second query. */
  const lookAtRecent = async (): Promise<string | undefined> => {
    const since = queryTime(watermark - OVERLAP_MS);
    const latest = await findLatest(client, [
      `CloseTime >= ${since}`,
      `${OPEN_RUNS} AND StartTime >= ${since}`,
    ]);
    const unseen = [...latest].filter(([, run]) => !recorded.has(stateOf(run)));
    const workflowIds = unseen.map(([workflowId]) => workflowId);
    const runs = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
    const fault = await record(
      runs.flatMap((known) => {
        const run = latest.get(known.workflowId);
        return run === undefined ? [] : unrecorded(client, run, known);
      }),
    );
    // An end that could not be read is read again, as long as the overlap shows it; then with those that are open.
    if (fault === undefined) recorded = new Set([...latest.values()].map(stateOf));
    for (const run of latest.values())
      watermark = Math.max(watermark, closeOf(run) ?? startOf(run));
    return fault;
  };

  const lookAtKnown = async (): Promise<string | undefined> => {
    const page = await ledger.openRuns({ ...(after !== undefined && { after }), limit: PAGE });
    after = page.length < PAGE ? undefined : page.at(-1)?.workflowId;
    if (page.length === 0) return undefined;
    const { now } = await ledger.state();
    const ids = page.map(({ workflowId }) => workflowId);
    const latest = await findLatest(client, [`WorkflowId IN ${queryTexts(ids)}`]);
    return record(
      page.flatMap((known) => {
        const { endState, startedAt, workflowId } = known;
        const run = latest.get(workflowId);
        if (run !== undefined) return unrecorded(client, run, known);
        const isNew = now - startedAt < LEFT_FOR_MS;
        return isNew || endState === "missing" ? [] : [() => findEnd(client, workflowId)];
      }),
    );
  };

  const once = (look: () => Promise<string | undefined>) => async (): Promise<void> => {
    if (!(await ledger.lease("ends of runs", holder, LEASE_MS))) return;
    const fault = await look();
    if (fault !== undefined) throw new Error(`The end of a run could not be read: ${fault}`);
  };
  return { recent: once(lookAtRecent), known: once(lookAtKnown) };
};
