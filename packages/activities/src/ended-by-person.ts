import { lookUp } from "@durable-payments/api-core/values";
import { type EndingDecision, textAt } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";

const WHAT: Readonly<Record<string, EndingDecision["what"]>> = {
  Abandoned: "abandoned",
  Rejected: "rejected",
};

const decisionIn = (error: unknown): Pick<EndingDecision, "by" | "what" | "why"> | undefined => {
  if (!(error instanceof Error)) return undefined;
  const what = error instanceof ApplicationFailure ? lookUp(WHAT, error.type ?? "") : undefined;
  if (what === undefined) return decisionIn(error.cause);
  const [details] = (error as ApplicationFailure).details ?? [];
  const by = textAt(details, "by") ?? "unknown";
  return { what, by, why: textAt(details, "why") ?? error.message };
};

/**
 * Read the decision of a person by which a run has failed: the failure itself, or what it wraps.
 *
 * @returns undefined where it did not fail by one.
 */
export const readEndingDecision = async (
  client: Client,
  {
    closedAt,
    runId,
    workflowId,
  }: {
    readonly workflowId: string;
    readonly runId: string;
    readonly closedAt: Date;
  },
): Promise<EndingDecision | undefined> => {
  const error: unknown = await client.workflow
    .getHandle(workflowId, runId, { followRuns: false })
    .result()
    .then(
      () => undefined,
      (failure: unknown) => failure,
    );
  const decision = decisionIn(error);
  return decision && { ...decision, runId, at: closedAt.toISOString() };
};
