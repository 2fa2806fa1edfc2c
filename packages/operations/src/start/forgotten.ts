import type { Journal, RecordedSend } from "@durable-payments/journal";
import { WorkflowNotFoundError } from "@temporalio/client";
import { readRetention } from "../connection/retention.ts";
import type { Temporal } from "../connection/temporal.ts";

/** A send of a run that Temporal has forgotten, as the journal has it. */
export interface ForgottenRunSend extends Pick<
  RecordedSend,
  "amount" | "currency" | "ids" | "operation" | "outcome" | "step"
> {
  /** ISO 8601. */
  readonly begunAt: string;
}

/** A run whose retention is over, and of which the journal still has what it sent. */
export interface ForgottenRun {
  readonly workflowId: string;
  readonly state: "forgotten";
  readonly isNew: false;
  /** Oldest first. */
  readonly sends: ReadonlyArray<ForgottenRunSend>;
  /** Whether the last send of each step was carried out. */
  readonly isDone: boolean;
}

/**
 * Find what the journal has of a run that Temporal has forgotten: its id is not to be started once more. A run
 * whose last send is younger than the namespace's retention was not forgotten: Temporal's database was put
 * back, or the run was deleted. It may be started again, and takes up what the journal has.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run that is to be started.
 * @param journal of the account that pays.
 * @returns undefined where Temporal knows the id, or the journal does not, or the run may be started again.
 */
export const findForgottenRun = async (
  temporal: Temporal,
  workflowId: string,
  journal: Journal,
): Promise<ForgottenRun | undefined> => {
  const sends = await journal.find({ workflowId });
  if (sends.length === 0 || (await isKnown(temporal, workflowId))) return undefined;
  const latest = Math.max(
    ...sends.map(({ begunAt, outcomeAt = 0 }) => Math.max(begunAt, outcomeAt)),
  );
  if (Date.now() - latest < (await readRetention(temporal))) return undefined;
  const last = new Map(sends.map((send) => [send.step, send.outcome]));
  return {
    workflowId,
    state: "forgotten",
    isNew: false,
    sends: sends.map(({ amount, begunAt, currency, ids, operation, outcome, step }) => ({
      step,
      operation,
      outcome,
      ids,
      begunAt: new Date(begunAt).toISOString(),
      ...(amount !== undefined && { amount }),
      ...(currency !== undefined && { currency }),
    })),
    isDone: [...last.values()].every((outcome) => outcome === "carriedOut"),
  };
};

const isKnown = async ({ client }: Temporal, workflowId: string): Promise<boolean> => {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
};
