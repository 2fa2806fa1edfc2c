import type { Input, Payout } from "@durable-payments/api-core";
import { beginRun, createPayout } from "../../src/index.ts";
import type { Timing } from "./activity-execution.ts";
import type { AttemptChain } from "./activity-states.ts";
import type { JournalLog } from "./journal-io.ts";
import type { RunChain } from "./run-situations.ts";

/** A payment that a step is to make. */
export type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** How often something may go wrong on one way through a scenario. */
export interface Budget {
  /** Answers that do not come, of sends that were carried out or not. */
  readonly lostAnswers: number;
  /** Workers that are disconnected from the server; they continue their activity at any time. */
  readonly lostWorkers: number;
  /** Runs that are reset, to the beginning of one of their steps. */
  readonly resets: number;
  /** Whether a copy of the server's database is made, and put back later. */
  readonly restores: number;
  /** Calls of the journal that fail, whether it was written or not. */
  readonly journalFaults: number;
  /** Requests that the service rejects. */
  readonly rejections: number;
  /** Tasks that a person resolves by ending the run. */
  readonly abandons: number;
  /** Runs that are cancelled, at any time. */
  readonly cancels: number;
}

/** What is to be paid, how the service and the server behave, and what may go wrong. */
export interface Scenario {
  readonly name: string;
  /** By workflow id: the payments of its steps, in order. */
  readonly runs: Readonly<Record<string, Readonly<Record<string, Payment>>>>;
  readonly service: Timing & {
    /** What the service shows as `unique_request_id`. */
    readonly keys: "ours" | "its own" | "none";
    /** How a payout looks in its list. */
    readonly listed?: (payout: Payout) => Payout;
  };
  /** Whether all workers share a journal that outlives them, or each activity begins with an empty one. */
  readonly journal: "shared" | "none";
  readonly budget: Budget;
  /** Whether there is something that only a person can decide. */
  readonly mayAsk: boolean;
}

/** A payout that the service has created. */
export interface CreatedPayout {
  readonly payout: Payout;
  /** Who truly made it: no code under test can read it. */
  readonly workflowId: string;
  readonly step: string;
  /** When the list shows it at the latest. */
  readonly listedBy: number;
  /** Whether it was seen in the list: from then on it is. */
  readonly isListed: boolean;
}

/** A run as the server knows it. */
export interface RunRecord {
  readonly workflowId: string;
  readonly chain: RunChain;
  /** Whether it is the latest of its workflow id. */
  readonly isCurrent: boolean;
  /** The oldest version of its PaymentIds that the server's list can still show; -1 while it can lack the run. */
  readonly oldestShown: number;
  /** The latest attempts of its activities, by number, and when there will be another one. */
  readonly attempts: Readonly<
    Record<number, { readonly attempt: number; readonly nextAt?: number }>
  >;
}

/** An activity that a worker executes. */
export interface Process {
  readonly chain: AttemptChain;
  /** Whether the server accepts its outcome. */
  readonly isConnected: boolean;
  /** The calls of the journal of this worker, where workers share none. */
  readonly journal?: JournalLog;
  /** An answer that is on its way. */
  readonly coming?: { readonly answer: unknown };
}

/** Everything that can change. */
export interface State {
  readonly now: number;
  readonly ledger: ReadonlyArray<CreatedPayout>;
  readonly runs: ReadonlyArray<RunRecord>;
  readonly backup: ReadonlyArray<RunRecord> | undefined;
  readonly processes: ReadonlyArray<Process>;
  readonly journal: JournalLog;
  readonly budget: Budget;
}

/** The beginning of a run, milliseconds. */
export const BEGIN = Date.UTC(2026, 0, 5);

/** A workflow that makes its payments one after the other. */
export const workflowOf =
  ({ runs }: Scenario) =>
  (workflowId: string) =>
  () => {
    const run = beginRun();
    return run.execute(async () => {
      for (const [step, payment] of Object.entries(runs[workflowId] ?? {})) {
        await createPayout(run, payment, step);
      }
    });
  };

const recordKey = ({ attempts, chain, isCurrent, oldestShown }: RunRecord): string =>
  `${chain.id}${isCurrent ? "" : "-"}${oldestShown}${JSON.stringify(attempts)}`;

/** The same for states from which the same can happen. */
export const keyOf = ({ backup, budget, journal, ledger, now, processes, runs }: State): string =>
  [
    now,
    journal.id,
    ledger.map(({ isListed, payout }) => payout.payout_id + (isListed ? "+" : "")).join(),
    runs.map(recordKey).join(),
    backup?.map(recordKey).join() ?? "",
    processes
      .map(
        ({ chain, coming, isConnected, journal: own }) =>
          `${chain.id}/${own?.id ?? ""}${isConnected ? "+" : ""}${coming === undefined ? "" : JSON.stringify(coming)}`,
      )
      .toSorted()
      .join(),
    Object.values(budget).join(),
  ].join("|");
