import type { EndedRun } from "./run-endings.ts";
import type { Ledger } from "../environment/simulator-ledger.ts";
import type { Pause } from "../operator/operator.ts";
import type { PlannedRun } from "../plan/planned-run.ts";

/** What a chaos run leaves behind. */
export interface Evidence {
  readonly runs: readonly PlannedRun[];
  /** How each run ended, by workflow id. */
  readonly endings: ReadonlyMap<string, EndedRun>;
  readonly ledger: Ledger;
  /** What was paid into the account, by currency. */
  readonly funds: Readonly<Record<string, string>>;
  /** When a person gave a run up, by workflow id, in milliseconds since 1970. */
  readonly abandoned: ReadonlyMap<string, number>;
  /** When a run was asked, or made, to end, and was not retried by name since. */
  readonly ended: ReadonlyMap<string, number>;
  /** Runs that the starter lists as ended while it is not known what became of a send. */
  readonly inDoubt: ReadonlySet<string>;
  readonly pauses: readonly Pause[];
  /** Whether the server's database was put back: what was told before does not count. */
  readonly restored: boolean;
}
