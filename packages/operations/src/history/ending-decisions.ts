import { lookUp } from "@durable-payments/api-core/values";
import { type EndingDecision, type RetryInstruction, textAt } from "@durable-payments/protocol";
import type { temporal } from "@temporalio/proto";
import { EndedByPerson } from "../errors.ts";
import { decoded, type Event, timeOf } from "./events.ts";

/** A decision as the failure of the run has it that it ended. */
export type EndingDecisionInFailure = Omit<EndingDecision, "overruled" | "runId">;

const WHAT: Readonly<Record<string, EndingDecision["what"]>> = {
  Abandoned: "abandoned",
  Rejected: "rejected",
};

/** The decision of a person that a run failed with: the failure itself, or what it wraps. */
const decisionIn = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
  at: string,
): EndingDecisionInFailure | undefined => {
  if (!failure) return undefined;
  const what = lookUp(WHAT, failure.applicationFailureInfo?.type ?? "");
  if (what === undefined) return decisionIn(failure.cause, at);
  const details = decoded(failure.applicationFailureInfo?.details?.payloads?.[0]);
  return {
    what,
    by: textAt(details, "by") ?? "unknown",
    why: textAt(details, "why") ?? failure.message ?? "",
    at,
  };
};

/** Read the decision of a person by which a run ended, if the event is the end of such a run. */
export const endingDecisionOf = (event: Event): EndingDecisionInFailure | undefined =>
  decisionIn(event.workflowExecutionFailedEventAttributes?.failure, timeOf(event));

/**
 * The decisions by which people ended runs of a workflow id, oldest first: as the runs' own failures
 * have them, and overruled by a retry instruction that was taken up.
 */
export const allDecisions = (
  inFailures: ReadonlyArray<EndingDecision>,
  instructions: ReadonlyArray<RetryInstruction>,
): ReadonlyArray<EndingDecision> => {
  const byRun = new Map(inFailures.map((decision) => [decision.runId, decision]));
  for (const { decisions = [] } of instructions) {
    for (const decision of decisions) byRun.set(decision.runId, decision);
  }
  return [...byRun.values()].toSorted((a, b) => a.at.localeCompare(b.at));
};

/** Those that nobody has overruled. */
export const standing = (decisions: ReadonlyArray<EndingDecision>): ReadonlyArray<EndingDecision> =>
  decisions.filter(({ overruled }) => overruled === undefined);

const described = ({ at, by, what, why }: EndingDecision): string =>
  `was ${what} by ${by} on ${at.slice(0, 16).replace("T", " ")} UTC (${why})`;

/** Why a run is not retried that a person has ended. */
export const endedByDecisions = (
  workflowId: string,
  decisions: ReadonlyArray<EndingDecision>,
): EndedByPerson =>
  new EndedByPerson({
    message: `The run ${workflowId} ${decisions.map(described).join(", and ")}. What a person has ended stays ended, unless that is overruled by name and with a reason. Nothing was done.`,
    next: { operation: "retry", workflowId, overrule: true },
  });
