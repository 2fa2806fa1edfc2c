import type { Ledger, Overview } from "@durable-payments/ledger";
import { setGauge } from "./gauges.ts";
import type { Look } from "./scrape.ts";

/** However often it is scraped, the ledger is asked once in this time. */
const LOOK_EVERY_MS = 15_000;

const sum = <A>(rows: ReadonlyArray<A>, of: (row: A) => number): number =>
  rows.reduce((all, row) => all + of(row), 0);

/** What was set by the last look and is gone since is nothing. */
const shown = {
  writes: new Map<string, Readonly<Record<string, string>>>(),
};

const showWrites = ({ writes }: Overview): void => {
  const counts = Map.groupBy(writes, ({ operation, state }) => `${operation} ${state}`);
  for (const [key, labels] of shown.writes) {
    if (!counts.has(key)) setGauge("payments_writes", 0, labels);
  }
  for (const [key, rows] of counts) {
    const [first] = rows;
    if (first === undefined) continue;
    const labels = { operation: first.operation, state: first.state };
    shown.writes.set(key, labels);
    setGauge(
      "payments_writes",
      sum(rows, (row) => row.rows),
      labels,
    );
  }
};

const showOverview = (overview: Overview): void => {
  const { state, untold, waits, writes } = overview;
  showWrites(overview);
  const asked = writes.filter(({ question }) => question !== null);
  for (const kind of ["outcome", "approval"] as const) {
    const ofKind = asked.filter(({ question }) => question === kind);
    setGauge(
      "payments_questions",
      sum(ofKind, ({ rows }) => rows),
      { kind },
    );
  }
  const since = asked.map((row) => (state.now - row.since) / 1000);
  setGauge("payments_question_oldest_seconds", Math.max(0, ...since));
  for (const kind of ["payout", "cardholder", "balance"] as const) {
    setGauge("payments_waits", waits.find((wait) => wait.kind === kind)?.count ?? 0, { kind });
  }
  setGauge("payments_untold", untold);
  setGauge("payments_ledger_sequence", state.sequence);
  setGauge("payments_ledger_stopped", state.stopped === null ? 0 : 1);
};

/** Returns a look at the ledger: once in 15 seconds at most, and only where somebody asks. */
export const lookAtLedger = (ledger: Ledger): Look => {
  let lookedAt = -Infinity;
  return async () => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = performance.now();
    showOverview(await ledger.overview());
    const pauses = await ledger.pauses();
    setGauge("payments_sends_paused", pauses.some(({ scope }) => scope === "all") ? 1 : 0);
  };
};
