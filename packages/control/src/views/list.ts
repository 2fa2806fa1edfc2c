import {
  endAmong,
  type FoundRun,
  type Ledger,
  type MoneyState,
  moneyStateOf,
  type Pause,
  type RunCursor,
  type RunFilter,
  type RunSort,
  type RunStatus,
} from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import type { Operations } from "../facts/connection/operations.ts";
import { invalidInput } from "../errors.ts";
import { readEvents, timelineOf } from "../facts/history.ts";
import { type NameOf, payeeParts, readNames } from "../facts/payees.ts";
import { type Progress, readProgress } from "../facts/progress.ts";
import {
  type Money,
  paymentFields,
  type PaymentView,
  type Status,
  STATUSES,
  sumMoney,
} from "../rules/run-view.ts";
import { pauseOf, standingOf } from "../rules/standing.ts";

/*
 * A list is facts of the ledger. Temporal adds one thing: what the open runs of the page are doing. Without it, after its
 * retention, or once it has lost a run, the list is the same, with a note.
 */

/** A payee by its name, the last four characters of its account, its id or its mark. */
export interface ListFilter extends Omit<RunFilter, "payees"> {
  readonly payee?: string | undefined;
}

/** The ledger, and Temporal for the progress of open runs if it can be reached. */
export interface ListSources extends Pick<Operations, "ledger" | "listLagMs"> {
  readonly client?: Operations["client"] | undefined;
  /** Parts that cannot be reached. */
  readonly whyNot?: ReadonlyArray<string>;
}

/** A page of a list. */
export interface ListPage {
  readonly limit: number;
  readonly sort?: RunSort | undefined;
  readonly after?: RunCursor | undefined;
}

/** A payment as it is listed: of a write that moves money, or planned. Times: milliseconds since 1970. */
export interface ListedPayment extends PaymentView {
  readonly state: MoneyState;
  /** Null if it is only planned. */
  readonly operation: string | null;
  /** The service's id of the payout, card or cardholder. */
  readonly madeId: string | null;
  readonly payeeName: string | null;
  /** The last four characters of its account. */
  readonly payeeAccount: string | null;
  /** YYYY-MM-DD. */
  readonly paymentDate: string | null;
  readonly completedAt: number | null;
  /** The service's last word for its status. */
  readonly word: string | null;
}

/** A run as it is listed. Times: milliseconds since 1970. */
export interface ListedRun extends PaymentView {
  readonly workflowId: string;
  readonly type: string;
  readonly status: Status;
  readonly reason: string | null;
  /** Sums of its payments; `amount` is null if they are in several currencies. */
  readonly money: Money;
  readonly payeeName: string | null;
  /** Its payments that the filter finds. */
  readonly payments: ReadonlyArray<ListedPayment>;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly startedBy: string | null;
  readonly batch: string | null;
  readonly batchRow: number | null;
}

/** Runs that a filter finds. */
export type RunList = Awaited<ReturnType<typeof listRuns>>;

/** Statuses that another one stands for, too. */
const WITH: Readonly<Partial<Record<Status, ReadonlyArray<RunStatus>>>> = {
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

/** Returns the ids and marks of the payees that a text names, in any spelling that the ledger has. */
export const payeesNamed = async (ledger: Ledger, text: string): Promise<ReadonlyArray<string>> => {
  const all = await ledger.payees({});
  const wanted = text.trim().toLowerCase();
  const named = all.filter(
    ({ mark, payee, shown }) =>
      payee === text || mark === text || shown.toLowerCase().includes(wanted),
  );
  // One account has its mark, and an id for each beneficiary that was made of it.
  const names = new Set([text, ...named.flatMap(({ mark, payee }) => [payee, mark ?? payee])]);
  const same = all.filter(({ mark }) => mark !== null && names.has(mark));
  return [...names, ...same.map(({ payee }) => payee)];
};

/** Returns the filter of the ledger. */
export const filterOf = async (
  ledger: Ledger,
  { payee, ...filter }: ListFilter,
): Promise<RunFilter> =>
  payee === undefined ? filter : { ...filter, payees: await payeesNamed(ledger, payee) };

const namesOf = (nameOf: NameOf, payee: string | null) => {
  const [name, account] = payeeParts(nameOf(payee));
  return { payeeName: name || null, payeeAccount: account || null };
};

const isOpen = ({ endState }: FoundRun["run"]): boolean =>
  endState === null || endState === "missing";

/** Returns the payments of a run: those of its writes, else the planned one. */
const paymentsOf = ({ rows, run }: FoundRun, nameOf: NameOf): ReadonlyArray<ListedPayment> => {
  const moving = rows.filter(
    ({ ownerId, request }) => ownerId === run.workflowId && request.amount !== null,
  );
  if (moving.length > 0) {
    return moving.map(({ madeId, operation, outcomeAt, request, standing, word }) => ({
      ...paymentFields(request),
      ...namesOf(nameOf, request.payee),
      state: moneyStateOf(standing),
      operation,
      madeId,
      paymentDate: request.paymentDate,
      completedAt: standing === "completed" ? outcomeAt : null,
      word,
    }));
  }
  if (run.amount === null) return [];
  return [
    {
      ...paymentFields(run),
      ...namesOf(nameOf, run.payee ?? run.alias),
      state: isOpen(run) ? "planned" : "notPaid",
      operation: null,
      madeId: null,
      paymentDate: null,
      completedAt: null,
      word: null,
    },
  ];
};

/** Whether the filter asks for a payment: totals add up the same. */
const isAsked =
  ({ currency, payees, reference }: RunFilter) =>
  (payment: ListedPayment): boolean =>
    (currency === undefined || payment.currency === currency) &&
    (reference === undefined || payment.reference === reference) &&
    (payees === undefined || (payment.payee !== null && payees.includes(payment.payee)));

const one = <A>(values: ReadonlyArray<A>): A | null =>
  new Set(values).size === 1 ? (values[0] ?? null) : null;

/** A timer older than this number of events is shown only by `show`. */
const LAST_EVENTS = 30;

/** What Temporal knows of an open run. */
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

/** Returns why a run is in its state, for a person. */
const reasonOf = async (
  { ledger, listLagMs }: ListSources,
  found: FoundRun,
  pauses: ReadonlyArray<Pause>,
  seen: { readonly progress: Progress; readonly items: ReturnType<typeof timelineOf> } | undefined,
): Promise<string | null> => {
  const { rows, run, waits } = found;
  const end = run.isStopped ? endAmong(await ledger.decisionsOf(run.workflowId)) : undefined;
  const failure =
    run.endReason === null ? null : { type: run.endType ?? "", message: run.endReason };
  if (
    !isOpen(run) &&
    rows.every(({ question, standing }) => question === null && standing !== "unknown")
  ) {
    const ended = end && `ended by ${end.by}${end.reason === null ? "" : `: ${end.reason}`}`;
    return [ended, failure?.message.replace(/\.$/, "")].filter(Boolean).join("; ") || null;
  }
  const { items = [], progress } = seen ?? {};
  const { workflowId } = run;
  const now = Date.now();
  return standingOf({
    workflowId,
    run,
    rows,
    waits,
    pauses,
    progress,
    items,
    failure,
    end,
    now,
    listLagMs,
  }).reason;
};

/**
 * Lists a page of runs from the ledger, each with the reason of its status. Amounts and payees are those that were sent.
 *
 * @param sources the ledger; Temporal adds the progress of open runs.
 * @returns the runs, the latest start first unless another order is asked for; `next` for the page after; notes of what could
 *   not be read.
 * @throws ConnectionFailed if the ledger cannot be read.
 * @example
 * ```ts
 * const { runs } = await listRuns(operations, { statuses: ["failed"] }, { limit: 50 });
 * ```
 */
export const listRuns = async (sources: ListSources, given: ListFilter, page: ListPage) => {
  const { ledger, whyNot = [] } = sources;
  const filter = await filterOf(ledger, given);
  const [{ next, runs: found }, pauses] = await Promise.all([
    ledger.listRuns(filter, page),
    ledger.pauses(),
  ]);
  const rows = found.flatMap((run) => run.rows);
  const payees = [
    ...rows.map(({ request }) => request.payee),
    ...found.flatMap(({ run }) => [run.payee, run.alias]),
  ];
  const nameOf = await readNames(ledger, payees, rows);
  const notes = new Set(whyNot);
  const runs = await atOnce(found, async (of): Promise<ListedRun> => {
    const seen = await progressOf(sources, of).catch((error: unknown) => {
      notes.add(
        `The progress of open runs is unknown: ${error instanceof Error ? error.message : String(error)}`,
      );
      return undefined;
    });
    const { run } = of;
    const isPaused = run.status === "running" && pauseOf(pauses, run.batch, run.workflowId);
    const payments = paymentsOf(of, nameOf).filter(isAsked(filter));
    const money = sumMoney(payments);
    const [sum, other] = money;
    return {
      workflowId: run.workflowId,
      type: run.type,
      status: isPaused ? "paused" : run.status,
      reason: await reasonOf(sources, of, pauses, seen),
      amount: other === undefined ? (sum?.amount ?? null) : null,
      currency: other === undefined ? (sum?.currency ?? null) : null,
      payee: one(payments.map(({ payee }) => payee)),
      reference: one(payments.map(({ reference }) => reference)),
      payeeName: one(payments.map(({ payeeName }) => payeeName)),
      money,
      payments,
      startedAt: run.startedAt,
      endedAt: run.endedAt,
      startedBy: run.startedBy,
      batch: run.batch,
      batchRow: run.batchRow,
    };
  });
  return { runs, next, notes: [...notes] };
};
