import type { WriteState } from "@durable-payments/ledger";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { checkName } from "../acting.ts";
import { changing } from "../connection/temporal-errors.ts";
import { accountNamed, type Operations } from "../connection/operations.ts";
import { findRun } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { canonicalJson } from "../input/content.ts";
import { checkId, type PlannedRun } from "../input/planned-run.ts";
import { readInput } from "../retry/continue-run.ts";
import { checkDuplicate } from "./duplicates.ts";
import { startPayment } from "./start-payment.ts";

/** How a planned run is started. */
export interface StartOptions {
  readonly startedBy: string;
  /** A person has looked at the earlier payment, and this is another one. */
  readonly isNotDuplicate?: boolean;
}

/** A run that was started just now, or that exists under its id. */
export interface SubmittedRun {
  readonly workflowId: string;
  /** Null where Temporal has forgotten it. */
  readonly runId: string | null;
  /** Whether this call has started it. */
  readonly isNew: boolean;
  /** Temporal has forgotten the run, and the ledger has what it did. */
  readonly isForgotten?: true;
}

const SETTLED: ReadonlySet<WriteState> = new Set(["done", "ended", "undone"]);

/** The run of that id: started with the same input (`options` are how it waits), or forgotten by Temporal alone. */
const existing = async (
  { client, ledger }: Operations,
  workflowId: string,
  { input, workflowType }: PlannedRun,
): Promise<SubmittedRun | undefined> => {
  const run = await findRun(client, workflowId);
  if (run === undefined) {
    const rows = await ledger.rowsOf(workflowId);
    return rows.length > 0 && rows.every(({ state }) => SETTLED.has(state))
      ? { workflowId, runId: null, isNew: false, isForgotten: true }
      : undefined;
  }
  const { runId, type } = run;
  const content = ({ options: _, ...rest }: { readonly options?: unknown }) => canonicalJson(rest);
  const first = await readInput(client, { workflowId, runId });
  if (type === workflowType && content(first as object) === content(input))
    return { workflowId, runId, isNew: false };
  throw refused(
    `The id ${workflowId} belongs to a run of ${type} with another input. Nothing was started: give another id, or amend that run.`,
    { operation: "show", workflowId },
  );
};

/**
 * Starts a run, or finds the one of that id, running or ended. It can be called again after any failure: an id never
 * pays twice.
 *
 * @param workflowId the business key.
 * @param planned what `planPayout` or `planOnboarding` returns.
 * @throws Refused where the id belongs to another input, or the payment is likely a duplicate; InvalidInput where id or
 *   name are not valid; ConnectionFailed with `carriedOut: "unknown"` where Temporal does not answer.
 */
export const startRun = async (
  operations: Operations,
  workflowId: string,
  planned: PlannedRun,
  { isNotDuplicate = false, startedBy }: StartOptions,
): Promise<SubmittedRun> => {
  const { client, ledger, taskQueue } = operations;
  checkId(workflowId);
  checkName(startedBy, "startedBy");
  const account = accountNamed(operations, planned.account);
  const known = await existing(operations, workflowId, planned);
  if (known !== undefined) return known;
  if (!isNotDuplicate) {
    await checkDuplicate(operations, account, {
      workflowId,
      input: planned.input,
      isOwnId: workflowId !== planned.contentId,
    });
  }
  const about = {
    mayBe: `The run ${workflowId} may have been started`,
    next: { operation: "show", workflowId },
  } as const;
  try {
    const { firstExecutionRunId } = await changing(operations, about, () =>
      startPayment(client, planned.workflowType, {
        id: workflowId,
        startedBy,
        args: [planned.input],
        taskQueue,
        ledger,
        account,
      }),
    );
    return { workflowId, runId: firstExecutionRunId, isNew: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const other = await existing(operations, workflowId, planned);
    if (other === undefined) throw error;
    return other;
  }
};
