/*
 * How soon the trackers of some accounts notice that payouts have settled, and at what cost, with up to a million of them open.
 *
 * Nobody can wait for a day of payouts, so time is virtual: the service's, the ledger's and the pauses of the trackers. All else
 * is real: the trackers' own readings and notifications, and a ledger in SQLite, which all accounts share. Payouts settle in the
 * order in which they were made, and the service lists some of them later than others.
 *
 * The processor works in no virtual time, so an account that takes all of it delays nobody here. Its time is a figure instead.
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
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ACCOUNT, copying, DAY_MS, numbersInSqlite, payoutOf, SEED } from "./copied-payouts.ts";
import type { BenchContext } from "./rounds.ts";
import { atShare, figure, NO_MORE, type Row, rowOf, type Target } from "./row.ts";
import { START, VirtualTime } from "./virtual-time.ts";

/** Time of a request, and of a call of Temporal. */
const REQUEST_MS = 100;
const CALL_MS = 5;

/** A payout is listed after one of these times. */
const LISTED_AFTER_MS = [0, 2_000, 5_000, 20_000];

/** Each of this number of payouts fails: no list of what has settled shows it. */
const FAILS = 50;

/** Requests a second of both readers of payouts, if no rate limits the account. */
const BUDGET = 20;

/** Heartbeats of a tracker, and those of the witness of its ledger in addition. */
const HEARTBEATS_PER_SECOND = 0.2;
const WITNESS_PER_SECOND = 0.5;

/** The load of an account. */
interface AccountLoad {
  readonly perSecond: number;
  /** Payouts that are open all the time: each settles after this number of others. */
  readonly open: number;
  /** Requests a second that the service permits; left out if it has no limit. */
  readonly rate?: number;
}

/** A load of the trackers of one ledger. */
export interface TrackedLoad {
  readonly accounts: ReadonlyArray<AccountLoad>;
  /** Virtual time. */
  readonly forMs: number;
}

/** The id of the nth payout of an account, of its run and of its wait. */
const idOf = (account: string, n: number | string): string => `${account}-${n}`;

/** The service of an account. The nth payout settles `n` spacings after the start. */
const serviceOf = (time: VirtualTime, account: string, { open, perSecond, rate }: AccountLoad) => {
  const spacingMs = 1_000 / perSecond;
  const settledAt = (n: number) => START + n * spacingMs;
  const isListed = (n: number) =>
    settledAt(n) + (LISTED_AFTER_MS[n % LISTED_AFTER_MS.length] ?? 0) <= time.now;
  const timeOf = (at: number): string => new Date(at).toISOString();
  const payoutOf = (n: number): Payout => {
    const shown = { payout_id: idOf(account, n), create_time: timeOf(settledAt(n - open)) };
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
    rate: () => rate,
    listPayouts,
    retrievePayout: ({ payout_id }: Pick<Payout, "payout_id">) =>
      answer(() => {
        const n = Number(payout_id.split("-")[1]);
        if (idOf(account, n) !== payout_id) throw new Error(`${payout_id} is of another account`);
        return payoutOf(n);
      }),
  };
  return { client, settledAt, requests: () => requests };
};

/** Makes a payout by the ledger, and returns a function that copies it, with its run and its wait, by SQL. */
const copierOf = async (ledger: Ledger, file: string, time: VirtualTime) => {
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
  /** @param readAfter when the payouts are read first: an expression of `n` and of the time at which each was made. */
  const copy = (
    account: string,
    { open, perSecond }: AccountLoad,
    [from, to]: readonly [number, number],
    readAfter: (madeAt: string) => string,
  ): void => {
    const madeAt = `CAST(${START} + (n - ${open}) * ${1_000 / perSecond} AS INTEGER)`;
    const id = `'${idOf(account, "")}' || n`;
    const varied: Readonly<Record<string, string>> = {
      account: `'${account}'`,
      workflow_id: id,
      owner_id: id,
      root_id: id,
      made_id: id,
      thing: id,
      standing: "'made'",
      word: "'processing'",
      word_asks: "0",
      word_unlisted: "0",
      status: "'waiting'",
      changed_at: madeAt,
      since: madeAt,
      closed_at: "NULL",
    };
    for (const table of ["writes", "runs", "waits"]) {
      const columns = database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name: column }) => String(column));
      const values = table === "writes" ? { ...varied, read_after: readAfter(madeAt) } : varied;
      database.exec(copying(table, columns, values, numbersInSqlite(from, to)));
    }
  };
  return { copy, close: () => database.close() };
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

/** Seconds within which the given share of some payouts was noticed, by their delays. */
const within = (share: number, delays: ReadonlyArray<number>): number =>
  atShare(delays, share) / 1_000;

/** Runs the trackers under a load, and returns their figures: times in seconds, costs a second, memory in megabytes. */
export const runTracker = async (
  { accounts: loads, forMs }: TrackedLoad,
  { defer, progress, signal }: Pick<BenchContext, "defer" | "progress" | "signal">,
) => {
  const folder = makeTestFolder();
  defer(folder.remove);
  const file = join(folder.path, "ledger.sqlite");
  const time = new VirtualTime();
  const opened = await openLedger(readLedgerPlace(`sqlite:${file}`, ""), { clock: () => time.now });
  const { close, copy } = await copierOf(opened, file, time);
  const ledger = new Proxy(opened, {
    get: (of, name) => {
      const method: unknown = Reflect.get(of, name);
      return typeof method === "function"
        ? (...args: ReadonlyArray<unknown>) =>
            time.during(async () => Reflect.apply(method, of, args) as unknown)
        : method;
    },
  });
  const noticedAt = new Map<string, number>();
  const complete = async ({ workflowId }: { readonly workflowId: string }) => {
    await time.sleep(CALL_MS);
    noticedAt.set(workflowId, time.now);
  };
  // Nothing else of a client is asked for.
  const client = { activity: { complete } } as unknown as Client;
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
  const accounts = loads.map((load, index) => {
    const account = `account${index + 1}`;
    progress(`makes ${load.open} open payouts`);
    copy(account, load, [1, load.open], () => `${START} + (n * 7919) % 60000`);
    const { client: service, ...of } = serviceOf(time, account, load);
    const { count, parts } = readings({
      account,
      ledger,
      client,
      watermark: undefined,
      warn: (message) => progress(message),
      // It answers as the service does.
      call: (call) => time.during(() => Effect.runPromise(call(service as never))),
    });
    let made = load.open;
    /** Makes the payouts that are due. */
    const pay = async () => {
      const now = load.open + Math.floor(((time.now - START) * load.perSecond) / 1_000);
      if (now > made) copy(account, load, [made + 1, now], (madeAt) => `${madeAt} + 1000`);
      made = now;
    };
    const works = [...Object.values(parts), () => notifyRuns(ledger, client, account), pay];
    const begin = (): void => {
      for (const work of works) void loop(1_000, work);
      void loop(60_000, count);
    };
    return { ...of, account, begin, load };
  });
  const statements = countStatements();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const processor = process.cpuUsage();
  let memory = 0;
  const observe = async () => {
    memory = Math.max(memory, process.memoryUsage().heapUsed - before);
    progress(`${Math.round((time.now - START) / 1_000)} s`);
  };
  for (const { begin } of accounts) begin();
  void loop(1_000, observe);
  await time.runUntil(START + forMs, signal);
  statements.stop();
  const { system, user } = process.cpuUsage(processor);
  if (faults.length > 0) throw new AggregateError(faults, "a loop of the tracker has failed");
  close();
  await opened.close();
  const eachSecond = (number: number) => (number * 1_000) / forMs;
  const each = accounts.map(({ account, load, requests, settledAt }) => {
    const { perSecond, rate } = load;
    const last = Math.floor(((forMs - 2 * 60_000) * perSecond) / 1_000);
    const delaysOf = (isCompleted: boolean) =>
      Array.from({ length: last }, (_none, index) => index + 1)
        .filter((n) => (n % FAILS !== 0) === isCompleted)
        .map((n) => (noticedAt.get(idOf(account, n)) ?? time.now) - settledAt(n));
    const completed = delaysOf(true);
    return {
      load,
      completed,
      p99: within(0.99, completed),
      failed: delaysOf(false),
      requests: eachSecond(requests()),
      budget: rate === undefined ? BUDGET : rate / 4,
    };
  });
  const delays = each.flatMap((one) => one.completed);
  const failed = each.flatMap((one) => one.failed);
  return {
    accounts: each,
    noticed: noticedAt.size,
    median: within(0.5, delays),
    p99: within(0.99, delays),
    failed: within(0.5, failed),
    requests: each.reduce((sum, one) => sum + one.requests, 0),
    statements: eachSecond(statements.count()),
    actions:
      eachSecond(noticedAt.size) + HEARTBEATS_PER_SECOND * accounts.length + WITNESS_PER_SECOND,
    megabytes: memory / 2 ** 20,
    processor: (user + system) / 1_000 / forMs,
  };
};

/** Shares of the accounts of a ledger. */
const SHARES = [0.8, 0.15, 0.05];

const shared = (perSecond: number, open: number): ReadonlyArray<AccountLoad> =>
  SHARES.map((share) => ({ perSecond: perSecond * share, open: open * share }));

/** At 100 a second, a million are open although they settle in less than a day. */
const LOADS: ReadonlyArray<TrackedLoad & { readonly within: number }> = [
  { accounts: shared(0.1, 0.1 * (DAY_MS / 1_000)), forMs: 3_600_000, within: 60 },
  { accounts: shared(10, 10 * (DAY_MS / 1_000)), forMs: 600_000, within: 60 },
  { accounts: shared(100, 1_000_000), forMs: 600_000, within: 120 },
  // A small account with a low limit, and a large one without a limit.
  {
    accounts: [
      { perSecond: 10, open: 1_000_000 },
      { perSecond: 0.1, open: 0.1 * (DAY_MS / 1_000), rate: 2 },
    ],
    forMs: 1_800_000,
    within: 60,
  },
];

/** The trackers under some loads. */
export const measureTracker = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = [];
  for (const load of LOADS) {
    const accounts = load.accounts.map((one) => ({
      ...one,
      open: Math.round(context.quick ? one.open / 100 : one.open),
    }));
    const forMs = context.quick ? 240_000 : load.forMs;
    const seen = await runTracker({ accounts, forMs }, context);
    const sum = (field: "open" | "perSecond") => accounts.reduce((all, one) => all + one[field], 0);
    const named = (perSecond: number, open: number): string =>
      `${figure(perSecond)} payouts a second, ${open} open`;
    const perSecond = sum("perSecond");
    const name = named(perSecond, sum("open"));
    const row = (what: string, unit: string, figures: readonly [number, number], target?: Target) =>
      rowOf(`${name}: ${what}`, unit, figures, target);
    const each = "a second; the baseline is the payouts";
    const promise = "the baseline is the promise";
    rows.push(
      row("noticed, median", `s; ${promise}`, [seen.median, load.within]),
      row("noticed, 99th percentile", `s; ${promise}`, [seen.p99, load.within], NO_MORE),
      ...seen.accounts.flatMap(({ budget, load: one, p99, requests }) => {
        const what = `account with ${named(one.perSecond, one.open)}`;
        return [
          row(`${what}, 99th percentile`, `s; ${promise}`, [p99, load.within], NO_MORE),
          row(
            `${what}, requests`,
            "a second; the baseline is a budget",
            [requests, budget],
            NO_MORE,
          ),
        ];
      }),
      row("a failed one noticed, median", "s; the baseline is an hour", [seen.failed, 3_600]),
      row("requests", each, [seen.requests, perSecond]),
      row("statements of the ledger", each, [seen.statements, perSecond]),
      row("Temporal actions", each, [seen.actions, perSecond]),
      row("memory of the trackers", `MB; ${promise}`, [seen.megabytes, 200], NO_MORE),
      row("processor of all", "s a second; the baseline is a core", [seen.processor, 1], NO_MORE),
    );
  }
  return rows;
};
