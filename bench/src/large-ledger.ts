import { newRow, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "./child.ts";
import { DAY_MS, payoutOf } from "./copied-payouts.ts";
import { type FilledLedger, filledLedgers } from "./filled-ledger.ts";
import type { LedgerReading, LedgerTask } from "./large-ledger-process.ts";
import type { BenchContext } from "./rounds.ts";
import { atShare, NO_MORE, type Row, rowOf } from "./row.ts";

/*
 * A ledger of ten million payouts, two weeks of ten a second. Each read alone; then sends, while one process prunes, another
 * one scrapes, lists and reports, all at once, as in a busy office. The baseline is the promised time.
 */

/** A send every so often. */
const SEND_EVERY_MS = 40;

/** The promised times, in milliseconds. A report reads every payment: no time is promised. */
const PROMISED: Readonly<Record<string, number>> = { list: 100, overview: 100, attention: 1_000 };

const measure = async (
  { address, bytes, where }: FilledLedger,
  payouts: number,
  forMs: number,
  context: BenchContext,
): Promise<ReadonlyArray<Row>> => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  let count = 0;
  const send = async (): Promise<number> => {
    const { call, name } = payoutOf(`live-${++count}`);
    const begun = performance.now();
    await ledger.look(name);
    await ledger.transact(name, (look) => ({ row: { ...newRow(look, call), state: "sending" } }));
    return performance.now() - begun;
  };
  const sendWhile = async (isBusy: () => boolean) => {
    const times: Array<number> = [];
    for (; isBusy(); await sleep(SEND_EVERY_MS)) times.push(await send());
    return times;
  };
  const start = () =>
    startChild<LedgerTask, LedgerReading>("large-ledger-process.ts", [address], context);
  const [pruner, reader] = await Promise.all([start(), start()]);
  context.progress(`${where}: reads, and sends, alone`);
  const alone = await reader({ kind: "read", forMs: 0 });
  const until = performance.now() + forMs / 4;
  const sends = await sendWhile(() => performance.now() < until);
  context.progress(`${where}: sends, prune, reads, all at once`);
  let isOver = false;
  const before = Date.now() - 5 * DAY_MS;
  const together = Promise.all([
    pruner({ kind: "prune", before, forMs }),
    reader({ kind: "read", forMs }),
  ]).finally(() => (isOver = true));
  const busySends = await sendWhile(() => !isOver);
  const [pruned, beside] = await together;
  await ledger.close();
  const title = (name: string) => `${payouts} payouts, ${where}: ${name}`;
  const timed = (name: string, ms: number, promised?: number): Row =>
    promised === undefined
      ? rowOf(title(name), "ms", [ms, ms])
      : rowOf(title(name), "ms; the baseline is the promise", [ms, promised], NO_MORE);
  const spread = (name: string, times: ReadonlyArray<number>) => [
    timed(`${name}, median`, atShare(times, 0.5), 100),
    timed(`${name}, 99th percentile`, atShare(times, 0.99), 100),
  ];
  return [
    rowOf(title("size"), "bytes a payout", [bytes / payouts, NaN]),
    ...Object.entries(alone).map(([name, ms]) => timed(name, ms, PROMISED[name])),
    ...Object.entries(beside).map(([name, ms]) => timed(`${name}, during all others`, ms)),
    ...spread("send", sends),
    ...spread("send during prune and reads", busySends),
    rowOf(title("pruned"), "a second", [pruned["perSecond"] ?? 0, NaN]),
  ];
};

/** Reads, sends and a prune in a ledger of ten million payouts. It needs 20 GB of disk. */
export const measureLargeLedger = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const [payouts, forMs] = context.quick ? [20_000, 4_000] : [10_000_000, 120_000];
  const rows: Array<Row> = [];
  for await (const filled of filledLedgers(payouts, 12, context))
    rows.push(...(await measure(filled, payouts, forMs, context)));
  return rows;
};
