import type { Ledger } from "@durable-payments/ledger";

/** What the plugin has to know of where it works. */
export interface WorkerProcess {
  /** The variables that count for what settings leave out. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Whether the Temporal server skips waiting, as one for tests does. Then no tracker is kept running and waits
   * poll: a tracker's activity lasts for hours, for which the server would wait.
   */
  readonly skipsTime: boolean;
  /** A ledger that is open already, and stays open: of a test that reads it, too. */
  readonly ledger?: Ledger;
}

/** Variables by their names. */
export type Environment = WorkerProcess["environment"];
