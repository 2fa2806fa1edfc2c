import { lettersAndDigits } from "@durable-payments/client/values";
import {
  type Batch,
  endAmong,
  type FoundRun,
  type Ledger,
  type RunCursor,
  type RunFilter,
  type RunSort,
} from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { type Connected, type KnownAccount, ledgerOf } from "../facts/connection/connections.ts";
import type { Connections } from "../facts/connection/open-connections.ts";
import { invalidInput, notFound } from "../errors.ts";
import { readEvents, timelineOf } from "../facts/history.ts";
import { noBatch, wrongBatch } from "../facts/named.ts";
import { readNames } from "../facts/payees.ts";
import { readProgress } from "../facts/progress.ts";
import {
  isOpenStatus,
  type ListedPayment,
  type RunView,
  type Status,
  STATUSES,
  viewOf,
} from "../rules/run-view.ts";
import { dated, reasonOf } from "../rules/standing.ts";

/*
 * A list is facts of the ledger. Temporal adds one thing: what the open runs of the page are doing. Without it, after its
 * retention, or once it has lost a run, the list is the same, with a note.
 */

/** Conditions on runs and their payments: all must hold. Times: milliseconds since 1970. */
export interface ListFilter extends Omit<
  RunFilter,
  "paidSince" | "paidUntil" | "payees" | "since" | "until"
> {
  /** A payee by its name, the last four characters of its account, its id or its mark. */
  readonly payee?: string | undefined;
  /**
   * Payments since: those whose first request was recorded then or later, however they ended; a planned one counts
   * at the start of its run. Null: all; a report has those of 30 days by default.
   */
  readonly since?: number | null | undefined;
  /** Payments before. */
  readonly until?: number | undefined;
  /** Runs that started at this time or later. A row of a file that has not started has the time of its upload. */
  readonly startedSince?: number | undefined;
  /** Runs that started before. */
  readonly startedUntil?: number | undefined;
}

/** The ledger, and Temporal for the progress of open runs if it can be reached. */
export interface ListSources extends Pick<Connected, "ledger"> {
  readonly client?: Connected["client"] | undefined;
  /** Parts that cannot be reached. */
  readonly whyNot?: ReadonlyArray<string>;
}

/** A page of a list. */
export interface ListPage {
  readonly limit: number;
  readonly sort?: RunSort | undefined;
  readonly after?: RunCursor | undefined;
}

/** Runs that a filter finds. */
export type RunList = Awaited<ReturnType<typeof listRuns>>;

/** Statuses that another one includes. */
const WITH: Readonly<Partial<Record<Status, ReadonlyArray<Status>>>> = {
  failed: ["failed", "timedOut", "terminated"],
};

/** Reads statuses that are separated by commas. @throws InvalidInput if there is no such status. */
export const readStatuses = (text: string): ReadonlyArray<Status> => {
  const found = text.split(",").flatMap((given): ReadonlyArray<Status> => {
    const known = STATUSES.find((status) => status === given.trim());
    if (known !== undefined) return WITH[known] ?? [known];
    throw invalidInput(
      `There is no status "${given.trim()}". A status is one of: ${STATUSES.join(", ")}.`,
    );
  });
  return [...new Set(found)];
};

/** Returns the ids and marks of the payees that a text names: in any case, with and without accents. */
export const payeesNamed = async (ledger: Ledger, text: string): Promise<ReadonlyArray<string>> => {
  const all = await ledger.payees({});
  const wanted = lettersAndDigits(text);
  const named = all.filter(
    ({ mark, payee, shown }) =>
      payee === text ||
      mark === text ||
      (wanted !== "" && lettersAndDigits(shown).includes(wanted)),
  );
  // One account has its mark, and an id for each beneficiary that was made of it.
  const names = new Set([text, ...named.flatMap(({ mark, payee }) => [payee, mark ?? payee])]);
  const same = all.filter(({ mark }) => mark !== null && names.has(mark));
  return [...names, ...same.map(({ payee }) => payee)];
};

/** Checks the names in a filter: a mistyped one would look as if there was nothing. */
const checkNamed = async (
  ledger: Ledger,
  filter: Pick<ListFilter, "batch" | "group" | "repair">,
): Promise<void> => {
  const { group } = filter;
  for (const name of ["batch", "repair"] as const) {
    const id = filter[name];
    if (id === undefined) continue;
    const found = await ledger.batch(id);
    if (found === undefined) throw await noBatch(ledger, id, "Nothing was done.", name);
    if ((found.type === "repair") !== (name === "repair"))
      throw wrongBatch(found, name, "Nothing was done.");
  }
  if (group !== undefined && (await ledger.failedRuns({ group }, 1)).length === 0)
    throw notFound(`No failed run is in the group ${group}. Nothing was done.`);
};

/**
 * Returns the filter of the ledger.
 *
 * @throws NotFound if there is no such batch, repair or group. A repair is not a batch here.
 */
export const filterOf = async (
  ledger: Ledger,
  { payee, since, startedSince, startedUntil, until, ...filter }: ListFilter,
): Promise<RunFilter> => {
  await checkNamed(ledger, filter);
  return {
    ...filter,
    paidSince: since ?? undefined,
    paidUntil: until,
    since: startedSince,
    until: startedUntil,
    ...(payee !== undefined && { payees: await payeesNamed(ledger, payee) }),
  };
};

/** Words the conditions of a filter for a person: `, step createCard, startedSince 2026-11-01 00:00 UTC`. */
export const filterText = (filter: ListFilter, accounts: ReadonlyArray<KnownAccount>): string =>
  Object.entries(filter)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => {
      const account = accounts.find(({ hash }) => hash === value)?.name;
      return `, ${name} ${typeof value === "number" ? dated(value) : (account ?? String(value))}`;
    })
    .join("");

/** Whether the filter asks for a payment: totals add up the same. */
const isAsked =
  ({ currency, payees, reference }: RunFilter) =>
  (payment: ListedPayment): boolean =>
    (currency === undefined || payment.currency === currency) &&
    (reference === undefined || payment.reference === reference) &&
    (payees === undefined || (payment.payee !== null && payees.includes(payment.payee)));

/** Files whose rows are not started before a person approves them. */
const ASKING: ReadonlyArray<Batch["state"] | undefined> = ["uploading", "reading", "needsApproval"];

/** Returns the files of some runs that wait for their approval. */
export const askingFiles = async (ledger: Ledger, runs: ReadonlyArray<FoundRun["run"]>) => {
  const filed = runs.flatMap(({ batch, runId, status }) =>
    status === "running" && runId === null && batch !== null ? [batch] : [],
  );
  const batches = await atOnce([...new Set(filed)], (id) => ledger.batch(id));
  return new Set(batches.flatMap((one) => (ASKING.includes(one?.state) && one ? [one.id] : [])));
};

/** A timer older than this number of events is shown only by `show`. */
const LAST_EVENTS = 30;

/** Reads the progress of an open run; undefined for an ended one, or without Temporal. */
const progressOf = async ({ client }: ListSources, { run, waits }: FoundRun) => {
  if (client === undefined || run.endState !== null) return undefined;
  const progress = await readProgress(client, run.workflowId);
  if (progress === undefined) return undefined;
  const isBusy = progress.pending.length > 0 || waits.some(({ closedAt }) => closedAt === null);
  const { runId } = progress;
  const events = isBusy
    ? []
    : await readEvents(client, { workflowId: run.workflowId, runId }, LAST_EVENTS);
  return { progress, items: timelineOf(events) };
};

/**
 * Lists a page of runs from the ledger, each with the reason of its status. Amounts and payees are those that were sent.
 *
 * @param sources the ledger; Temporal adds the progress of open runs.
 * @returns the runs, the latest start first unless another order is asked for; `next` for the page after; notes of what could
 *   not be read.
 * @throws ConnectionFailed if the ledger cannot be read.
 */
export const listRuns = async (sources: ListSources, given: ListFilter, page: ListPage) => {
  const { ledger, whyNot = [] } = sources;
  const filter = await filterOf(ledger, given);
  const [{ next, runs: found }, pauses, words] = await Promise.all([
    ledger.listRuns(filter, page),
    ledger.pauses(),
    ledger.decidedWords(),
  ]);
  const asking = await askingFiles(
    ledger,
    found.map(({ run }) => run),
  );
  const rows = found.flatMap((run) => run.rows);
  const payees = rows.map(({ request }) => request.payee);
  const starts = found.map(({ run }) => run);
  const nameOf = await readNames(ledger, payees, rows, starts);
  const notes = new Set(whyNot);
  const runs = await atOnce(found, async (of): Promise<RunView> => {
    const seen = await progressOf(sources, of).catch((error: unknown) => {
      notes.add(
        `The progress of open runs is unknown: ${error instanceof Error ? error.message : String(error)}`,
      );
      return undefined;
    });
    const { run } = of;
    const end = run.isStopped ? endAmong(await ledger.decisionsOf(run.workflowId)) : undefined;
    const evidence = { ...of, ...seen, asking, pauses, words, end, now: Date.now() };
    return viewOf(evidence, reasonOf(evidence), nameOf, isAsked(filter));
  });
  return { runs, next, notes: [...notes] };
};

/** Lists a page of runs. Temporal has nothing to add to runs that have ended: no connection is made for them. */
export const listPage = async (connections: Connections, filter: ListFilter, page: ListPage) => {
  const known = await connections.ledger((opened) => listRuns(opened, filter, page));
  if (!known.runs.some(({ status }) => isOpenStatus(status))) return known;
  return connections.sources(({ temporal, ...sources }) => {
    const ledger = ledgerOf(sources);
    return listRuns({ ...sources, ledger, client: temporal?.client }, filter, page);
  });
};

/** Runs that one look at the ledger has. */
const AT_ONCE = 500;

/** Lists all runs that match, page by page, from the ledger alone. @returns at most `limit` of them. */
export async function* listAllRuns(
  connections: Connections,
  filter: ListFilter,
  {
    limit = Number.POSITIVE_INFINITY,
    sort,
  }: Pick<ListPage, "sort"> & { readonly limit?: number | undefined },
): AsyncGenerator<RunView> {
  let left = limit;
  let after: ListPage["after"];
  do {
    const at: ListPage = { limit: Math.min(AT_ONCE, left), sort, after };
    const { next, runs } = await connections.ledger((opened) => listRuns(opened, filter, at));
    yield* runs;
    left -= runs.length;
    after = next;
  } while (after !== undefined && left > 0);
}
