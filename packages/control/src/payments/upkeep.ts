import { NotOfLedger } from "@durable-payments/ledger";
import type { Delivery } from "@durable-payments/protocol";
import type { Replay } from "@durable-payments/replay";
import type { ChosenRun, PreviewOptions } from "../actions/preview/preview.ts";
import { prune, type PruneOptions } from "../actions/prune.ts";
import { recover, type RecoverOptions, type RecoveryReport } from "../actions/recovery.ts";
import {
  replayRuns,
  type ReplaySelection,
  selectRuns,
  type SkippedRuns,
} from "../actions/replay.ts";
import { invalidInput } from "../errors.ts";
import { openWorkersLedger } from "../facts/connection/connections.ts";
import type { Connections } from "../facts/connection/open-connections.ts";
import { check, checkRedelivered, checkText, isList } from "../rules/filter.ts";
import { groupsOf, type PreviewedGroup, type PreviewedRun } from "../rules/preview.ts";
import { knownCursor } from "../views/events.ts";
import { testWebhook } from "../views/doctor/doctor.ts";
import { checkOptions } from "./checks.ts";
import type { Installation } from "./settings.ts";

/** Rare work on an installation: recover, replay, prune, back up, migrate, test the webhook. */
export type Upkeep = ReturnType<typeof upkeepOf>;

/** Runs that were replayed, and those of the selection that were not. */
export interface Replayed {
  readonly runs: ReadonlyArray<Replay>;
  readonly skipped: ReadonlyArray<SkippedRuns>;
}

/** The preview of retries. */
export interface RetryPreview {
  /** The same, by outcome and reason. */
  readonly groups: ReadonlyArray<PreviewedGroup>;
  readonly runs: ReadonlyArray<PreviewedRun>;
}

/** Which runs are replayed, and against which code. */
export interface ReplayGiven extends ReplaySelection {
  /** Path of the module that exports the workflows; default: those of this project. */
  readonly workflows?: string | undefined;
  /** Called after each run with the numbers of runs, and of different ones, so far. */
  readonly onPart?: (runs: number, different: number) => void;
}

export type { ChosenRun as PreviewedRetry, PreviewOptions as PreviewGiven };

/** Which events are delivered again. */
export interface RedeliverGiven {
  /** Name or hash; default: the account that pays. */
  readonly account?: string | undefined;
  /** Id of the first event; default: all events that the ledger has. */
  readonly from?: string | undefined;
  /** Id of the last event; default: the last delivered one. */
  readonly to?: string | undefined;
}

/** Makes the upkeep of an installation. */
export const upkeepOf = (
  { connections: settings, keepDays }: Installation,
  connections: Connections,
  accountOf: (name: string | undefined) => string,
) => ({
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
  recover: async (options: RecoverOptions): Promise<RecoveryReport> => {
    checkOptions("recover", options);
    return connections.both((connected) => recover(connected, options));
  },
  /**
   * Replays the histories of runs against workflow code, to see whether they would continue under it.
   *
   * @throws NotFound if there is no such run; InvalidInput if the workflows cannot be bundled; ConnectionFailed.
   * @example
   * ```ts
   * const { runs } = await payments.upkeep.replay({ isOpen: true, workflows: "src/workflows.ts" });
   * ```
   */
  replay: async (given: ReplayGiven) => {
    checkOptions("replay", given);
    const { onPart, workflows, ...selection } = given;
    return connections.both(async (connected): Promise<Replayed> => {
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
    });
  },
  /**
   * Previews the retry of runs against other workflow code: what each would send, ask, or fail with. Nothing is sent, and
   * nothing is changed. It needs Temporal's time-skipping test server on this machine.
   *
   * @param chosen at most 500 runs.
   * @throws InvalidInput if the workflows cannot be found or bundled; ConnectionFailed.
   * @example
   * ```ts
   * const { groups } = await payments.upkeep.previewRetries([{ workflowId }], { against: "../next-release" });
   * ```
   */
  previewRetries: async (chosen: ReadonlyArray<ChosenRun>, given: PreviewOptions) => {
    check("preview", { chosen: isList }, { chosen: chosen ?? null }, "Nothing was done.");
    checkOptions("previewRetries", given);
    return connections.both(async (connected): Promise<RetryPreview> => {
      // Loaded only for a preview, because it has a worker and a simulator.
      const { previewRetries } = await import("../actions/preview/preview.ts");
      const runs = await previewRetries(connected, chosen, given);
      return { groups: groupsOf(runs), runs };
    });
  },
  /** Removes the texts and logs of old runs. @returns their number. @throws InvalidInput if `before` is too recent. */
  prune: async (options: Omit<PruneOptions, "keepDays">): Promise<number> => {
    checkOptions("prune", options);
    return connections.ledger((opened) => prune(opened, { ...options, keepDays }));
  },
  /** Copies a SQLite ledger to a new file, while it is in use. @throws InvalidInput for PostgreSQL, which its own tools copy. */
  backup: async (file: string): Promise<void> => {
    checkText("file", file);
    return connections.ledger(({ ledger }) =>
      ledger.backup(file).catch((error: unknown) => {
        throw error instanceof NotOfLedger ? invalidInput(error.message) : error;
      }),
    );
  },
  /** Creates or migrates the tables of the ledger. @returns its address. @throws ConnectionFailed. */
  migrate: async (onMigration: (version: number) => void = () => undefined) => {
    const ledger = await openWorkersLedger(settings.ledger, onMigration);
    await ledger.close();
    return ledger.place;
  },
  /** Has a worker post one test notification. @throws ConnectionFailed if none answers; NotAllowed if none has an address. */
  testWebhook: (): Promise<Delivery> => connections.sources(testWebhook),
  /**
   * Has the notifiers deliver events again: from `from` to `to`, both included, before new ones.
   *
   * @returns the number of webhooks.
   * @throws InvalidInput if one is not the id of an event; NotAllowed if the ledger does not have it, or `from` is after `to`;
   *   ConnectionFailed.
   */
  redeliver: async (given: RedeliverGiven): Promise<number> => {
    checkRedelivered(given);
    const { account, ...range } = given;
    return connections.ledger(({ ledger }) =>
      knownCursor(() => ledger.redeliver(accountOf(account), range)),
    );
  },
});
