import { newRow, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "./child.ts";
import { DAY_MS, type FilledLedger, filledLedgers } from "./filled-ledger.ts";
import type { LedgerReading, LedgerTask } from "./large-ledger-process.ts";
import type { BenchContext } from "./rounds.ts";
import type { Row } from "./row.ts";

/*
 * A ledger of ten million payouts, two weeks of ten a second. Each read alone; then sends, while one process prunes, another
 * one scrapes, lists and reports, all at once, as in a busy office. The baseline is the promised time.
 */

/** A send every so often. */
const SEND_EVERY_MS = 40;

/** The promised times, in milliseconds. A report reads every payment: no time is promised. */
const PROMISED: Readonly<Record<string, number>> = { list: 100, overview: 100, attention: 1_000 };

const spread = (times: ReadonlyArray<number>) => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
  return { median: at(0.5), p99: at(0.99) };
};

const measure = async (
  { address, bytes, where }: FilledLedger,
  payouts: number,
  forMs: number,
  context: BenchContext,
): Promise<ReadonlyArray<Row>> => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  let count = 0;
  const send = async (): Promise<number> => {
    const workflowId = `live-${++count}`;
    const name = { account: "a", workflowId, step: "createPayout" };
    const payment = { amount: "1.00", currency: "EUR", payee: "B7", reference: "Invoice" };
    const request = { ...payment, hash: workflowId, terms: "t", paymentDate: null, facts: {} };
    const ids = { ownerId: workflowId, rootId: workflowId, runId: "r" };
    const call = { ...ids, name, operation: "createPayout", request };
    const begun = performance.now();
    await ledger.look(name);
    await ledger.transact(name, (look) => ({ row: { ...newRow(look, call), state: "sending" } }));
    return performance.now() - begun;
  };
  const sendWhile = async (isBusy: () => boolean) => {
    const times: Array<number> = [];
    for (; isBusy(); await sleep(SEND_EVERY_MS)) times.push(await send());
    return spread(times);
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
  const rowOf = (name: string, ours: number, baseline: number | undefined): Row => ({
    name: title(name),
    unit: baseline === undefined ? "ms" : "ms; the baseline is the promise",
    ours: [ours],
    baseline: [baseline ?? ours],
    ...(baseline !== undefined && { target: { atMost: 1 } }),
  });
  return [
    { name: title("size"), unit: "bytes a payout", ours: [bytes / payouts], baseline: [NaN] },
    ...Object.entries(alone).map(([name, ms]) => rowOf(name, ms, PROMISED[name])),
    ...Object.entries(beside).map(([name, ms]) =>
      rowOf(`${name}, during all others`, ms, undefined),
    ),
    rowOf("send, median", sends.median, 100),
    rowOf("send, 99th percentile", sends.p99, 100),
    rowOf("send during prune and reads, median", busySends.median, 100),
    rowOf("send during prune and reads, 99th percentile", busySends.p99, 100),
    { name: title("pruned"), unit: "a second", ours: [pruned["perSecond"] ?? 0], baseline: [NaN] },
  ];
};

/** Reads, sends and a prune in a ledger of ten million payouts. It needs 20 GB of disk. */
export const measureLargeLedger = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const [payouts, forMs] = context.quick ? [20_000, 4_000] : [10_000_000, 120_000];
  const rows: Array<Row> = [];
  for await (const filled of filledLedgers(payouts, 12, context)) {
    rows.push(...(await measure(filled, payouts, forMs, context)));
    await filled.remove();
  }
  return rows;
};
