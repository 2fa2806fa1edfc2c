import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { Record } from "effect";
import { DAY_MS } from "./copied-payouts.ts";
import { filledLedgers } from "./filled-ledger.ts";
import { type BenchContext, interleave } from "./rounds.ts";
import { NO_MORE, type Row } from "./row.ts";

/*
 * The cost of a list and a report in a ledger of a million payouts. The baseline is the promised time, so a ratio of at most 1
 * keeps the promise.
 */

const measures = async (
  where: string,
  address: string,
  rounds: number,
  context: BenchContext,
): Promise<ReadonlyArray<Row>> => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  const timed = (work: () => Promise<unknown>) => async () => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const page = { limit: 50 };
  const pages = {
    "list, first page": () => ledger.listRuns({}, page),
    "list --status failed, first page": () => ledger.listRuns({ statuses: ["failed"] }, page),
    "list --payee, first page": () => ledger.listRuns({ payees: ["B7"] }, page),
    "list --currency, first page": () => ledger.listRuns({ currency: "USD" }, page),
  };
  const reports = {
    report: () => ledger.sums({ paidSince: 0 }),
    "report --by payee": () => ledger.sums({ paidSince: 0 }, "payee"),
    "report --by day": () => ledger.sums({ paidSince: 0 }, "day"),
    "report --by batch": () => ledger.sums({ paidSince: 0 }, "batch"),
    "report of a week": () => ledger.sums({ paidSince: Date.now() - 7 * DAY_MS }),
  };
  const all = Record.map({ ...pages, ...reports }, timed);
  const readings = await interleave(all, rounds, context);
  await ledger.close();
  return Object.entries(readings).map(([name, ours]) => ({
    name: `${name}, ${where}`,
    unit: "ms; the baseline is the promise",
    ours,
    baseline: ours.map(() => (name in pages ? 100 : 2_000)),
    target: NO_MORE,
  }));
};

/** Lists and reports of a million payouts, in SQLite and in PostgreSQL if that is installed. */
export const measureLists = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const [payouts, rounds] = context.quick ? [10_000, 2] : [1_000_000, 7];
  const rows: Array<Row> = [];
  for await (const { address, where } of filledLedgers(payouts, 60, context))
    rows.push(...(await measures(where, address, rounds, context)));
  return rows;
};
