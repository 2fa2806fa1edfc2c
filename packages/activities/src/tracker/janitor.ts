import { messageOf } from "@durable-payments/api-core/values";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import type { Ledger, WriteRow, WriteName } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { failureTypes, NUDGE, type Nudge, runStep } from "@durable-payments/protocol/calls";
import { NotYet, StepFailed } from "../write/outcomes.ts";

/** Returns whether a workflow id has an open run; `unknown` if Temporal knows no run of it. */
export const readRunState = async (
  client: Client,
  workflowId: string,
): Promise<"open" | "closed" | "unknown"> => {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === "RUNNING" || status.name === "PAUSED" ? "open" : "closed";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return "unknown";
    throw error;
  }
};

/** Most rows of one sweep: the others wait for the next. */
const MOST_NUDGED = 500;

/** The tool that records a decision notifies the run right after. The tracker waits this long before it does so. */
const LEFT_UNTOLD_MS = 5_000;

const noteNotified = ({ account, step, workflowId }: WriteRow, ledger: Ledger) =>
  ledger.transact({ account, workflowId, step }, ({ row }) =>
    row?.isUntold ? { row: { ...row, isUntold: false } } : {},
  );

/**
 * Notifies runs whose question is answered, or whose write was found: a decision and its signal are two writes, and the
 * second may have been lost. Returns the reason if a run could not be notified: its row stays for the next sweep.
 */
export const nudgeUntold = async (
  ledger: Ledger,
  account: string,
  client: Client,
): Promise<string | undefined> => {
  const changedBefore = (await ledger.state()).now - LEFT_UNTOLD_MS;
  const rows = await ledger.rows({ account, isUntold: true, changedBefore, limit: MOST_NUDGED });
  let fault: string | undefined;
  for (const [workflowId, untold] of Map.groupBy(rows, (row) => runStep(row).workflowId)) {
    const nudge: Nudge = { steps: untold.map((row) => runStep(row).step) };
    try {
      await client.workflow.getHandle(workflowId).signal(NUDGE, nudge);
    } catch (error) {
      // A run that has ended looks at the ledger when it is started again.
      if (!(error instanceof WorkflowNotFoundError)) {
        fault = `${workflowId} could not be notified: ${temporalReason(error)}`;
        continue;
      }
    }
    for (const row of untold) await noteNotified(row, ledger);
  }
  return fault;
};

/** Dependencies of the janitor. */
export interface JanitorOptions {
  readonly ledger: Ledger;
  readonly account: string;
  readonly client: Client;
  readonly warn: (message: string) => void;
  /** Operations whose outcome a list or time can determine. A write that is safe to repeat waits for its next run. */
  readonly operations: ReadonlyArray<string>;
  /** Reconciles a row without its run: nothing is sent. Waits that it asks for come with a later sweep. */
  readonly settle: (name: WriteName) => Promise<void>;
}

/** An attempt that is under way changes its row within this time. */
const LEFT_FOR_MS = 60_000;

/** Most rows of one sweep, the longest unchanged first. */
const MOST = 200;
const MOST_NAMED = 20;

/** Longest time until such a row is looked at again. */
const LONGEST_REST_MS = 15 * 60_000;

/** Reconciles writes of ended runs. A person sees only what the service cannot tell. */
export const janitor = ({ account, client, ledger, operations, settle, warn }: JanitorOptions) => {
  /** The last look at each row: its time and the version of the row. */
  const looks = new Map<string, { readonly at: number; readonly version: number }>();

  /** Grows as long as nothing about the row changes. */
  const isDue = ({ changedAt, step, version, workflowId }: WriteRow, now: number): boolean => {
    const key = JSON.stringify([workflowId, step]);
    const looked = looks.get(key);
    const rest = Math.min(LONGEST_REST_MS, Math.max(LEFT_FOR_MS, (now - changedAt) / 4));
    if (looked?.version === version && now - looked.at < rest) return false;
    looks.set(key, { at: now, version });
    return true;
  };

  /** Returns workflow ids of which Temporal knows no run (lost, or past their retention), and the reason if a row could not be reconciled. */
  return async () => {
    const { now } = await ledger.state();
    const rows = await ledger.rows({
      account,
      operations,
      states: ["sending", "unknown"],
      changedBefore: now - LEFT_FOR_MS,
      limit: MOST,
    });
    const lostRuns = new Set<string>();
    let fault: string | undefined;
    const isLeft = new Map<string, boolean>();
    for (const row of rows) {
      const { workflowId } = runStep(row);
      if (!isLeft.has(workflowId)) {
        const state = await readRunState(client, workflowId);
        isLeft.set(workflowId, state !== "open");
        if (state === "unknown") lostRuns.add(workflowId);
      }
      if (isLeft.get(workflowId) !== true || !isDue(row, now)) continue;
      try {
        await settle({ account, workflowId: row.workflowId, step: row.step });
      } catch (error) {
        // Time helps: it is read again. A failed step was reconciled (refused, ended), or its outcome is not known yet.
        if (error instanceof NotYet) continue;
        if (error instanceof StepFailed && error.type !== failureTypes.madeTwice) continue;
        fault = `${row.workflowId} (${row.step}) could not be reconciled: ${messageOf(error)}`;
        warn(fault);
      }
    }
    return { lostRuns: [...lostRuns].slice(0, MOST_NAMED), fault };
  };
};
