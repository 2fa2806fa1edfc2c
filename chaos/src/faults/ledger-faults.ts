import { delay } from "../delay.ts";
import type { LedgerServer } from "../environment/ledger-server.ts";
import type { Random } from "../plan/random.ts";

/** What happens to a ledger in PostgreSQL, other than a failover. */
export const LEDGER_FAULTS = [
  "backends terminated",
  "broken before a commit",
  "broken after a commit",
  "slow commits",
  "server restarted",
  "half closed",
  "silent",
  "slow answers",
] as const;

/** How long commits and answers are slow. */
const SLOW_FOR_MS = 8_000;

/** A commit comes soon, or there is nothing to break. */
const COMMIT_WITHIN_MS = 10_000;

/** Breaks connections of all workers and tools, or makes them slow; ends when the fault is over. */
export const injectLedgerFault = async (
  { proxy, restart, terminateBackends }: LedgerServer,
  name: (typeof LEDGER_FAULTS)[number],
  random: Random,
  signal: AbortSignal,
): Promise<void> => {
  switch (name) {
    case "backends terminated":
      return terminateBackends();
    case "broken before a commit":
    case "broken after a commit": {
      const broken = proxy.breakAt(/^COMMIT/, name.includes("before") ? "before" : "after");
      return Promise.race([broken, delay(COMMIT_WITHIN_MS, signal)]);
    }
    case "half closed":
      return proxy.breakAll("halfClose");
    case "silent":
      return proxy.breakAll("hang");
    case "server restarted":
      return restart(random.int(0, 3_000));
    case "slow commits":
      proxy.commitDelayMs = random.int(600, 3_000);
      await delay(SLOW_FOR_MS, signal);
      proxy.commitDelayMs = 0;
      return undefined;
    case "slow answers":
      proxy.answerDelayMs = random.int(20, 300);
      await delay(SLOW_FOR_MS, signal);
      proxy.answerDelayMs = 0;
      return undefined;
  }
};
