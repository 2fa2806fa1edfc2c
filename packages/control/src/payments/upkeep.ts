import type { Delivery } from "@durable-payments/protocol";
import type { Replay } from "@durable-payments/replay";
import { prune, type PruneOptions } from "../actions/prune.ts";
import { recover, type RecoverOptions, type RecoveryReport } from "../actions/recovery.ts";
import {
  replayRuns,
  type ReplaySelection,
  selectRuns,
  type SkippedRuns,
} from "../actions/replay.ts";
import { openWorkersLedger } from "../facts/connection/connections.ts";
import type { Connections } from "../facts/connection/open-connections.ts";
import { testWebhook } from "../views/doctor/doctor.ts";
import type { Installation } from "./settings.ts";

/** Runs that were replayed, and those of the selection that were not. */
export interface Replayed {
  readonly runs: ReadonlyArray<Replay>;
  readonly skipped: ReadonlyArray<SkippedRuns>;
}

/** Which runs are replayed, and against which code. */
export interface ReplayGiven extends ReplaySelection {
  /** Path of the module that exports the workflows; default: those of this project. */
  readonly workflows?: string | undefined;
  /** Called after each run with the numbers of runs, and of different ones, so far. */
  readonly onPart?: (runs: number, different: number) => void;
}

/** Rare work on an installation: recover, replay, prune, back up, migrate, test the webhook. */
export interface Upkeep {
  /**
   * Recovers after Temporal's database or the ledger was lost, or restored to an earlier copy.
   *
   * @param options `isDryRun`: only reports.
   * @returns the runs and files that the recovery concerns.
   * @throws InvalidInput without a reason, unless it only reports; ConnectionFailed.
   * @example
   * ```ts
   * const { files, unfinished } = await payments.upkeep.recover({ by: "ada", isDryRun: true });
   * ```
   */
  readonly recover: (options: RecoverOptions) => Promise<RecoveryReport>;
  /**
   * Replays the histories of runs against workflow code, to see whether they would continue under it.
   *
   * @throws NotFound if there is no such run; InvalidInput if the workflows cannot be bundled; ConnectionFailed.
   * @example
   * ```ts
   * const { runs } = await payments.upkeep.replay({ isOpen: true, workflows: "src/workflows.ts" });
   * ```
   */
  readonly replay: (options: ReplayGiven) => Promise<Replayed>;
  /** Removes the texts and logs of old runs. @returns their number. @throws InvalidInput if `before` is too recent. */
  readonly prune: (options: Omit<PruneOptions, "keepDays">) => Promise<number>;
  /** Copies a SQLite ledger to a new file, while it is in use. @throws ConnectionFailed for PostgreSQL, which its own tools copy. */
  readonly backup: (file: string) => Promise<void>;
  /** Creates or migrates the tables of the ledger. @returns its address. @throws ConnectionFailed. */
  readonly migrate: (onMigration?: (version: number) => void) => Promise<string>;
  /** Has a worker post one test notification. @throws ConnectionFailed if none answers; NotAllowed if none has an address. */
  readonly testWebhook: () => Promise<Delivery>;
}

/** Makes the upkeep of an installation. */
export const upkeepOf = (
  { connections: settings, keepDays }: Installation,
  connections: Connections,
): Upkeep => ({
  recover: (options) => connections.both((connected) => recover(connected, options)),
  replay: ({ onPart, workflows, ...selection }) =>
    connections.both(async (connected) => {
      const skipped: Array<SkippedRuns> = [];
      const selected = selectRuns(connected, selection, (some) => skipped.push(some));
      const runs: Array<Replay> = [];
      let different = 0;
      for await (const run of replayRuns(selected, workflows)) {
        runs.push(run);
        if (!run.deterministic) different += 1;
        onPart?.(runs.length, different);
      }
      return { runs, skipped };
    }),
  prune: (options) => connections.ledger((opened) => prune(opened, { ...options, keepDays })),
  backup: (file) => connections.ledger(({ ledger }) => ledger.backup(file)),
  migrate: async (onMigration = () => undefined) => {
    const ledger = await openWorkersLedger(settings.ledger, onMigration);
    await ledger.close();
    return ledger.place;
  },
  testWebhook: () => connections.sources(testWebhook),
});
