/*
 * How soon the tracker notices that payouts have settled, and at what cost, with up to a million of them open.
 *
 * Nobody can wait for a day of payouts, so time is virtual: the service's, the ledger's and the pauses of the tracker. All else
 * is real: the tracker's own readings and notifications, and a ledger in SQLite. Payouts settle in the order in which they
 * were made, and the service lists some of them later than others.
 */
import { notifyRuns, readings } from "@durable-payments/activities";
import {
  defaultAssumptions,
  type ListPayoutsInput,
  type Payout,
} from "@durable-payments/client/effect";
import { type Ledger, newRow, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { makeTestFolder } from "@durable-payments/tools/testing";
import type { Client } from "@temporalio/client";
import { Effect } from "effect";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ACCOUNT, copying, DAY_MS, numbersInSqlite, payoutOf, SEED } from "./copied-payouts.ts";
import type { BenchContext } from "./rounds.ts";
import { atShare, NO_MORE, type Row, rowOf, type Target } from "./row.ts";

const START = Date.UTC(2026, 10, 27);

/** Time of a request, and of a call of Temporal. */
const REQUEST_MS = 100;
const CALL_MS = 5;

/** A payout is listed after one of these times. */
const LISTED_AFTER_MS = [0, 2_000, 5_000, 20_000];

/** Each of this number of payouts fails: no list of what has settled shows it. */
const FAILS = 50;

/** Requests a second of both readers of payouts, if no rate limits the account. */
const BUDGET = 20;

/** Heartbeats of a tracker: each 5 s, and each 2 s for the witness of its ledger. */
const HEARTBEATS_PER_SECOND = 0.7;

/** A load of the tracker. */
export interface TrackedLoad {
  readonly perSecond: number;
  /** Payouts that are open all the time: each settles after this number of others. */
  readonly open: number;
  /** Virtual time. */
  readonly forMs: number;
}

/** Virtual time, which passes when nothing is under way. */
class VirtualTime {
  now = START;
  busy = 0;
  readonly #timers: Array<{ readonly at: number; readonly wake: () => void }> = [];

  /** Counts a work as under way. */
  async during<A>(work: () => Promise<A>): Promise<A> {
    this.busy += 1;
    try {
      return await work();
    } finally {
      this.busy -= 1;
    }
  }

  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#timers.push({ at: this.now + ms, wake: resolve });
    await promise;
  }

  async runUntil(end: number, signal: AbortSignal): Promise<void> {
    while (this.now < end) {
      signal.throwIfAborted();
      for (let quiet = 0; quiet < 3; quiet = this.busy > 0 ? 0 : quiet + 1) await setImmediate();
      this.#timers.sort((one, other) => one.at - other.at);
      const next = this.#timers.shift();
      if (next === undefined) throw new Error("nothing is due");
      this.now = Math.max(this.now, next.at);
      next.wake();
    }
  }
}

/** The nth payout settles `n` spacings after the start. */
const serviceOf = (time: VirtualTime, spacingMs: number, open: number) => {
  const settledAt = (n: number) => START + n * spacingMs;
  const isListed = (n: number) =>
    settledAt(n) + (LISTED_AFTER_MS[n % LISTED_AFTER_MS.length] ?? 0) <= time.now;
  const timeOf = (at: number): string => new Date(at).toISOString();
  const payoutOf = (n: number): Payout => {
    const shown = { payout_id: `P${n}`, create_time: timeOf(settledAt(n - open)) };
    if (settledAt(n) > time.now) return { ...shown, payout_status: "processing" };
    return n % FAILS === 0
      ? { ...shown, payout_status: "failed" }
      : { ...shown, payout_status: "completed", complete_time: timeOf(settledAt(n)) };
  };
  let requests = 0;
  const answer = <A>(of: () => A): Effect.Effect<A> =>
    Effect.promise(async () => {
      requests += 1;
      time.busy -= 1;
      await time.sleep(REQUEST_MS);
      time.busy += 1;
      return of();
    });
  const listPayouts = (query: ListPayoutsInput) =>
    answer(() => {
      const { date_type, end = time.now, page_num, page_size, start = 0 } = query;
      const isSettled = date_type === "settle_time";
      const numberAt = (at: number) => (at - START) / spacingMs + (isSettled ? 0 : open);
      const listed: Array<number> = [];
      const first = Math.max(1, Math.ceil(numberAt(start)));
      for (let n = Math.floor(numberAt(Math.min(end, time.now))); n >= first; n -= 1)
        if (!isSettled || (n % FAILS !== 0 && isListed(n))) listed.push(n);
      return {
        total_item: listed.length,
        total_page: Math.ceil(listed.length / page_size),
        item_list: listed.slice((page_num - 1) * page_size, page_num * page_size).map(payoutOf),
        unreadable: [],
      };
    });
  const client = {
    options: { assumptions: defaultAssumptions },
    rate: () => undefined,
    listPayouts,
    retrievePayout: ({ payout_id }: Pick<Payout, "payout_id">) =>
      answer(() => payoutOf(Number(payout_id.slice(1)))),
  };
  return { client, settledAt, requests: () => requests };
};

/** Makes a payout by the ledger, and returns a function that copies it, with its run and its wait, by SQL. */
const copierOf = async (
  ledger: Ledger,
  file: string,
  spacingMs: number,
  { open, time }: { readonly open: number; readonly time: VirtualTime },
) => {
  const { call, name, run } = payoutOf(SEED);
  await ledger.recordRun(run, START);
  await ledger.transact(name, (look) => ({
    row: { ...newRow(look, call), state: "done", madeId: "P" },
  }));
  const wait = { account: ACCOUNT, workflowId: SEED, runId: "r", kind: "payout" } as const;
  await ledger.openWait({ ...wait, activityId: "awaitPayout", thing: "P" });
  const database = new DatabaseSync(file);
  // Each copy has its event, with the time that the triggers ask for.
  database.function("ledger_now", () => time.now);
  database.exec(
    "PRAGMA synchronous = OFF; UPDATE writes SET standing = 'completed', read_after = NULL; UPDATE waits SET closed_at = 1",
  );
  const madeAt = `${START} + (n - ${open}) * ${spacingMs}`;
  const varied: Readonly<Record<string, string>> = {
    workflow_id: "'w' || n",
    owner_id: "'w' || n",
    root_id: "'w' || n",
    made_id: "'P' || n",
    thing: "'P' || n",
    standing: "'made'",
    word: "'processing'",
    word_asks: "0",
    word_unlisted: "0",
    status: "'waiting'",
    changed_at: madeAt,
    since: madeAt,
    closed_at: "NULL",
  };
  /** @param readAfter when the payouts are read first: an expression. */
  const copy = (from: number, to: number, readAfter: string): void => {
    for (const table of ["writes", "runs", "waits"]) {
      const columns = database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name: column }) => String(column));
      const values = table === "writes" ? { ...varied, read_after: readAfter } : varied;
      database.exec(copying(table, columns, values, numbersInSqlite(from, to)));
    }
  };
  return { copy, madeAt, close: () => database.close() };
};

const collectGarbage = (): void => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") Reflect.apply(collect, undefined, []);
};

/** Counts the statements of all databases of this process. */
const countStatements = (): { readonly count: () => number; readonly stop: () => void } => {
  let count = 0;
  const { all, run } = StatementSync.prototype;
  const counting = <A extends typeof all | typeof run>(of: A): A =>
    function counted(this: StatementSync, ...values: Parameters<A>) {
      count += 1;
      return Reflect.apply(of, this, values) as unknown;
    } as A;
  Object.assign(StatementSync.prototype, { all: counting(all), run: counting(run) });
  const stop = () => void Object.assign(StatementSync.prototype, { all, run });
  return { count: () => count, stop };
};

/** Runs the tracker under a load, and returns its figures: times in seconds, costs a second, memory in megabytes. */
export const runTracker = async (
  { forMs, open, perSecond }: TrackedLoad,
  { defer, progress, signal }: Pick<BenchContext, "defer" | "progress" | "signal">,
) => {
  const folder = makeTestFolder();
  defer(folder.remove);
  const file = join(folder.path, "ledger.sqlite");
  const time = new VirtualTime();
  const opened = await openLedger(readLedgerPlace(`sqlite:${file}`, ""), { clock: () => time.now });
  const spacingMs = 1_000 / perSecond;
  const { client: service, requests, settledAt } = serviceOf(time, spacingMs, open);
  const { close, copy, madeAt } = await copierOf(opened, file, spacingMs, { open, time });
  progress(`makes ${open} open payouts`);
  copy(1, open, `${START} + (n * 7919) % 60000`);
  const ledger = new Proxy(opened, {
    get: (of, name) => {
      const method: unknown = Reflect.get(of, name);
      return typeof method === "function"
        ? (...args: ReadonlyArray<unknown>) =>
            time.during(async () => Reflect.apply(method, of, args) as unknown)
        : method;
    },
  });
  const noticedAt = new Map<number, number>();
  const complete = async ({ workflowId }: { readonly workflowId: string }) => {
    await time.sleep(CALL_MS);
    noticedAt.set(Number(workflowId.slice(1)), time.now);
  };
  // Nothing else of a client is asked for.
  const client = { activity: { complete } } as unknown as Client;
  const { count, parts } = readings({
    account: ACCOUNT,
    ledger,
    client,
    watermark: undefined,
    warn: (message) => progress(message),
    // It answers as the service does.
    call: (call) => time.during(() => Effect.runPromise(call(service as never))),
  });
  const faults: Array<unknown> = [];
  const loop = async (everyMs: number, work: () => Promise<number | undefined | void>) => {
    try {
      for (;;) {
        const nextMs = await work();
        await time.sleep(Math.max(everyMs, nextMs ?? 0));
      }
    } catch (error) {
      faults.push(error);
    }
  };
  const others: ReadonlyArray<readonly [number, () => Promise<number | undefined | void>]> = [
    [1_000, () => notifyRuns(ledger, client, ACCOUNT)],
    [60_000, count],
  ];
  const statements = countStatements();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let memory = 0;
  let made = open;
  const observe = async () => {
    memory = Math.max(memory, process.memoryUsage().heapUsed - before);
    const now = open + Math.floor((time.now - START) / spacingMs);
    if (now > made) copy(made + 1, now, `${madeAt} + 1000`);
    made = now;
    progress(`${Math.round((time.now - START) / 1_000)} s with ${open} open payouts`);
  };
  const all = [
    ...Object.values(parts).map((work) => [1_000, work] as const),
    ...others,
    [1_000, observe] as const,
  ];
  for (const [everyMs, work] of all) void loop(everyMs, work);
  await time.runUntil(START + forMs, signal);
  statements.stop();
  if (faults.length > 0) throw new AggregateError(faults, "a loop of the tracker has failed");
  close();
  await opened.close();
  const last = Math.floor((forMs - 2 * 60_000) / spacingMs);
  /** Seconds until the given share of some payouts was noticed. */
  const within = (share: number, isOf: (n: number) => boolean): number => {
    const delays = Array.from({ length: last }, (_none, index) => index + 1)
      .filter(isOf)
      .map((n) => (noticedAt.get(n) ?? time.now) - settledAt(n));
    return atShare(delays, share) / 1_000;
  };
  const isCompleted = (n: number) => n % FAILS !== 0;
  const eachSecond = (number: number) => (number * 1_000) / forMs;
  return {
    noticed: noticedAt.size,
    median: within(0.5, isCompleted),
    p99: within(0.99, isCompleted),
    failed: within(0.5, (n) => !isCompleted(n)),
    requests: eachSecond(requests()),
    statements: eachSecond(statements.count()),
    actions: eachSecond(noticedAt.size) + HEARTBEATS_PER_SECOND,
    megabytes: memory / 2 ** 20,
  };
};

/** At 100 a second, a million are open although they settle in less than a day. */
const LOADS: ReadonlyArray<TrackedLoad & { readonly within: number }> = [
  { perSecond: 0.1, open: 0.1 * (DAY_MS / 1_000), forMs: 3_600_000, within: 60 },
  { perSecond: 10, open: 10 * (DAY_MS / 1_000), forMs: 600_000, within: 60 },
  { perSecond: 100, open: 1_000_000, forMs: 600_000, within: 120 },
];

/** The tracker under three loads. */
export const measureTracker = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = [];
  for (const load of LOADS) {
    const { perSecond, within } = load;
    const open = Math.round(context.quick ? load.open / 100 : load.open);
    const forMs = context.quick ? 240_000 : load.forMs;
    const seen = await runTracker({ perSecond, open, forMs }, context);
    const row = (what: string, unit: string, figures: readonly [number, number], target?: Target) =>
      rowOf(`${perSecond} payouts a second, ${open} open: ${what}`, unit, figures, target);
    const each = "a second; the baseline is the payouts";
    const promise = "the baseline is the promise";
    rows.push(
      row("noticed, median", `s; ${promise}`, [seen.median, within]),
      row("noticed, 99th percentile", `s; ${promise}`, [seen.p99, within], NO_MORE),
      row("a failed one noticed, median", "s; the baseline is an hour", [seen.failed, 3_600]),
      row("requests", "a second; the baseline is the budget", [seen.requests, BUDGET], NO_MORE),
      row("statements of the ledger", each, [seen.statements, perSecond]),
      row("Temporal actions", each, [seen.actions, perSecond]),
      row("memory of the tracker", `MB; ${promise}`, [seen.megabytes, 200], NO_MORE),
    );
  }
  return rows;
};
