import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { answerTasks } from "./child.ts";

/** Prunes for so long, or reads again and again; at least once. */
export interface LedgerTask {
  readonly kind: "prune" | "read";
  readonly forMs: number;
  /** Milliseconds since 1970. */
  readonly before?: number;
}

/** The longest time of each read in milliseconds, or the payouts that were pruned each second. */
export type LedgerReading = Readonly<Record<string, number>>;

const ledger = await openLedger(readLedgerPlace(process.argv[2], ""));

const reads = {
  overview: () => ledger.overview(),
  attention: () => ledger.attention({ lateAfterMs: 86_400_000 }),
  list: () => ledger.listRuns({}, { limit: 50 }),
  "list of what failed": () => ledger.listRuns({ statuses: ["failed"] }, { limit: 50 }),
  "open batches": () => ledger.batches({ states: ["approved"] }),
  "rows of ended runs": () =>
    ledger.rows({ account: "a", states: ["sending", "unknown"], isRunEnded: true, limit: 200 }),
  "forgotten runs": () => ledger.forgottenRuns("a", 200),
  "report of a day": () => ledger.sums({ paidSince: Date.now() - 86_400_000 }),
  report: () => ledger.sums({ paidSince: 0 }),
};

const readUntil = async (end: number): Promise<LedgerReading> => {
  const longest: Record<string, number> = {};
  do {
    for (const [name, read] of Object.entries(reads)) {
      const begun = performance.now();
      // PostgreSQL ends a report after ten seconds.
      const ms = await read().then(
        () => performance.now() - begun,
        () => Infinity,
      );
      longest[name] = Math.max(longest[name] ?? 0, ms);
    }
  } while (performance.now() < end);
  return longest;
};

const pruneUntil = async (end: number, before: number): Promise<LedgerReading> => {
  const begun = performance.now();
  const actor = { by: "bench", how: "bench", reason: "measured" };
  let pruned = 0;
  const stop = new Error("The time is over.");
  await ledger
    .prune(before, actor, (count) => {
      pruned = count;
      // As an interruption would: the next prune continues.
      if (performance.now() > end) throw stop;
    })
    .catch((error: unknown) => {
      if (error !== stop) throw error;
    });
  return { perSecond: pruned / ((performance.now() - begun) / 1_000) };
};

await answerTasks(async ({ before = 0, forMs, kind }: LedgerTask) => {
  const end = performance.now() + forMs;
  return kind === "read" ? readUntil(end) : pruneUntil(end, before);
});
