import { isExecutionMissing } from "@durable-payments/activities/missing-execution";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import { checkActing, checkOptions } from "../acting.ts";
import { changing } from "../connection/changing.ts";
import type { Temporal } from "../connection/temporal.ts";
import type { Unanswered } from "../connection/workers.ts";
import { Refused, refused } from "../errors.ts";
import type { StepInDoubt } from "@durable-payments/workflows";
import { stepsInDoubt } from "../history/in-doubt.ts";
import { undoesAtEnd } from "./undoes-at-end.ts";
import { askProgress } from "../runs/progress.ts";
import { Unreadable } from "../history/events.ts";
import { readInput } from "../history/read-input.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { type NextRetry, retryWay } from "../retry/way.ts";
import { describeExpected, isUnderWay } from "../runs/state.ts";

/** Who ends a run, and why. */
export interface EndOptions {
  readonly by: string;
  readonly reason: string;
  /** The run that they have seen: where it is not the latest any more nothing is done. */
  readonly expectedRunId?: string | undefined;
}

/** A run that was asked to end. */
export interface CancelAsked {
  readonly runId: string;
  /** Whether it undoes what it has done. */
  readonly undoes: boolean;
  /** Why it does not end yet, where no worker answers. */
  readonly unanswered?: Unanswered;
}

const ended = (workflowId: string): Error =>
  refused(`The run ${workflowId} has ended. Nothing was done.`);

const openRun = async (
  temporal: Temporal,
  workflowId: string,
  { expectedRunId }: Pick<EndOptions, "expectedRunId">,
) => {
  const run = await describeExpected(temporal, workflowId, expectedRunId);
  if (!isUnderWay(run)) throw ended(workflowId);
  return run;
};

const orEnded = async <A>(workflowId: string, act: Promise<A>): Promise<A> => {
  try {
    return await act;
  } catch (error) {
    if (isExecutionMissing(error)) throw ended(workflowId);
    throw error;
  }
};

const about = (workflowId: string, done: string) =>
  ({
    mayBe: `The run ${workflowId} may have been ${done}`,
    next: { operation: "describe", workflowId },
  }) as const;

/** Terminate a run. An attempt whose answer was lost may have done it: the run has its reason then. */
const terminate = async (
  { client }: Temporal,
  { runId, workflowId }: WorkflowExecutionDescription,
  { by, reason: why }: Pick<EndOptions, "by" | "reason">,
): Promise<void> => {
  const reason = `${why} (${by})`;
  try {
    await client.workflowService.terminateWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
      reason,
      identity: by,
    });
  } catch (error) {
    if (!isExecutionMissing(error)) throw error;
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const terminated = events?.at(-1)?.workflowExecutionTerminatedEventAttributes;
    const isOwn = terminated?.reason === reason && terminated.identity === by;
    if (!isOwn) throw ended(workflowId);
  }
};

/**
 * Ask a run to end. It ends by itself, when it is known what became of what it has sent. No money is
 * called back.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param options who asks, and why; both are kept.
 * @returns the run id, whether the run was started to undo what it has done, and whether a worker answers.
 * @throws InvalidInput where name or reason are empty; NotFound where there is no such run; Refused where it
 *   has ended, or is not the expected one.
 * @example
 * const { undoes } = await cancelRun(temporal, "invoice-2026-005", { by: "Ada", reason: "paid by hand" });
 */
export const cancelRun = async (
  temporal: Temporal,
  workflowId: string,
  ending: EndOptions,
): Promise<CancelAsked> => {
  const { by, expectedRunId, reason } = checkOptions(ending);
  checkActing({ by, reason });
  const run = await openRun(temporal, workflowId, { expectedRunId });
  const startedWith = await readInput(temporal, run).catch((error: unknown) => {
    // Nothing keeps a person from ending it.
    if (error instanceof Unreadable) return undefined;
    throw error;
  });
  const { client } = temporal;
  await orEnded(
    workflowId,
    changing(temporal, about(workflowId, "asked to end"), () =>
      client.workflowService.requestCancelWorkflowExecution({
        namespace: client.options.namespace,
        workflowExecution: { workflowId, runId: run.runId },
        reason: `${reason} (${by})`,
        identity: by,
        // A second request for the same run is the same request.
        requestId: `cancel-${run.runId}`,
      }),
    ),
  );
  // It is asked to end all the same.
  const asked = await askProgress(temporal, run).catch(() => undefined);
  return {
    runId: run.runId,
    undoes: undoesAtEnd(startedWith),
    ...(asked?._tag === "NoAnswer" && {
      unanswered: { message: asked.message, ...(asked.next && { next: asked.next }) },
    }),
  };
};

/** A run that was terminated. */
export interface TerminatedRun {
  readonly runId: string;
  /** The steps whose sends may have been carried out. */
  readonly inDoubt: ReadonlyArray<StepInDoubt>;
  /** How it is retried; left out where it cannot be. */
  readonly retry?: NextRetry;
}

/**
 * End a run at once: its own code is not asked, so that nothing is undone or reconciled. Cancel it
 * instead where it still answers.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param options who ends it, and why; both are kept.
 * @returns the run id, the steps whose sends may have been carried out, and how it is retried.
 * @throws InvalidInput where name or reason are empty; NotFound where there is no such run; Refused where it
 *   has ended, or is not the expected one.
 */
export const terminateRun = async (
  temporal: Temporal,
  workflowId: string,
  ending: EndOptions,
): Promise<TerminatedRun> => {
  const { by, expectedRunId, reason } = checkOptions(ending);
  checkActing({ by, reason });
  const run = await openRun(temporal, workflowId, { expectedRunId });
  const executed = await changing(temporal, about(workflowId, "terminated"), async () => {
    await terminate(temporal, run, { by, reason });
    return await readExecutionHistory(temporal, run).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      throw refused(
        `The run ${workflowId} was terminated. What it has sent cannot be read. ${error.message} Check with the service what was paid before it is paid in another way.`,
        { operation: "describe", workflowId },
      );
    });
  });
  const way = retryWay(workflowId, executed);
  return {
    runId: run.runId,
    inDoubt: stepsInDoubt(executed),
    ...("next" in way && { retry: way.next }),
  };
};
