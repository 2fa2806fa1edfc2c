import type { EndedRun } from "./run-endings.ts";
import type { Ledger } from "../environment/simulator-ledger.ts";
import type { PauseWindow } from "../operator/operator.ts";
import type { PlannedRun } from "../plan/planned-run.ts";

/** What a chaos run leaves behind. */
export interface Evidence {
  readonly runs: readonly PlannedRun[];
  /** How each run ended, by workflow id. */
  readonly endings: ReadonlyMap<string, EndedRun>;
  readonly ledger: Ledger;
  /** What was paid into the account, by currency. */
  readonly funds: Readonly<Record<string, string>>;
  /** When a person abandoned a run, by workflow id, in milliseconds since 1970. */
  readonly abandoned: ReadonlyMap<string, number>;
  /** When a run was cancelled or terminated, by workflow id, unless it was retried by its id since. */
  readonly ended: ReadonlyMap<string, number>;
  /** Runs that the starter lists as ended in doubt. */
  readonly inDoubt: ReadonlySet<string>;
  readonly pauses: readonly PauseWindow[];
  /** Whether the server's database was put back: what runs said before does not count. */
  readonly restored: boolean;
}
