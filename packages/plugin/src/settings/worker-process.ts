/** What the plugin has to know of where it works. */
export interface WorkerProcess {
  /** The variables that count for what settings leave out. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Whether the Temporal server skips waiting, as one for tests does. Then no tracker is kept running and no sign-in is
   * leased: a tracker's activity lasts for hours, and nobody takes up the run of a lease, so that the server would wait.
   */
  readonly skipsTime: boolean;
}

/** Variables by their names. */
export type Environment = WorkerProcess["environment"];
