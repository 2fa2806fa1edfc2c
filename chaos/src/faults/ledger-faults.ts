import { delay } from "../delay.ts";
import type { LedgerServer } from "../environment/ledger-server.ts";
import type { Random } from "../plan/random.ts";

/** How long commits and answers are slow; a commit that is to break comes as soon as that. */
const FOR_MS = 8_000;

type LedgerFault = (server: LedgerServer, random: Random, signal: AbortSignal) => Promise<unknown>;

const breakAtCommit =
  (moment: "before" | "after"): LedgerFault =>
  ({ proxy }, _, signal) =>
    Promise.race([proxy.breakAt(/^COMMIT/, moment), delay(FOR_MS, signal)]);

const slow =
  (what: "commitDelayMs" | "answerDelayMs", least: number, most: number): LedgerFault =>
  async ({ proxy }, random, signal) => {
    proxy[what] = random.int(least, most);
    await delay(FOR_MS, signal);
    proxy[what] = 0;
  };

/** Faults of a ledger in PostgreSQL, other than a failover, for all connections of workers and tools. */
export const LEDGER_FAULTS: Readonly<Record<string, LedgerFault>> = {
  "backends terminated": ({ terminateBackends }) => terminateBackends(),
  "broken before a commit": breakAtCommit("before"),
  "slow commits": slow("commitDelayMs", 600, 3_000),
  "broken after a commit": breakAtCommit("after"),
  "server restarted": ({ restart }, random) => restart(random.int(0, 3_000)),
  "half closed": async ({ proxy }) => proxy.breakAll("halfClose"),
  silent: async ({ proxy }) => proxy.breakAll("hang"),
  "slow answers": slow("answerDelayMs", 20, 300),
};
