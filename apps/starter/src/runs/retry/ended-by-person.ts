import type { EndingDecision, RetryInstruction } from "@durable-payments/protocol";
import { defaultPayloadConverter } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { textAt } from "../../input/fields.ts";
import { commandLine } from "../../output/command-line.ts";
import { type Event, timeOf } from "../history-steps.ts";

/** A decision as the failure of the run that it ended tells of it. */
export type ToldDecision = Omit<EndingDecision, "overruled" | "runId">;

const WHAT: Readonly<Record<string, EndingDecision["what"]>> = {
  Abandoned: "abandoned",
  Rejected: "rejected",
};

/** The decision of a person that a run failed with: the failure itself, or what it wraps. */
const decisionIn = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
  at: string,
): ToldDecision | undefined => {
  if (!failure) return undefined;
  const what = WHAT[failure.applicationFailureInfo?.type ?? ""];
  if (what === undefined) return decisionIn(failure.cause, at);
  const payload = failure.applicationFailureInfo?.details?.payloads?.[0];
  const details = payload ? defaultPayloadConverter.fromPayload<unknown>(payload) : undefined;
  return {
    what,
    by: textAt(details, "by") ?? "unknown",
    why: textAt(details, "why") ?? failure.message ?? "",
    at,
  };
};

/** The decision of a person by which a run ended, if the event is the end of such a run. */
export const endingDecisionOf = (event: Event): ToldDecision | undefined =>
  decisionIn(event.workflowExecutionFailedEventAttributes?.failure, timeOf(event));

/**
 * The decisions by which people ended runs of a workflow id, oldest first: as the runs' own failures
 * tell, and overruled where an order that was taken up says so.
 */
export const allDecisions = (
  told: ReadonlyArray<EndingDecision>,
  orders: ReadonlyArray<RetryInstruction>,
): ReadonlyArray<EndingDecision> => {
  const byRun = new Map(told.map((decision) => [decision.runId, decision]));
  for (const { decisions = [] } of orders) {
    for (const decision of decisions) byRun.set(decision.runId, decision);
  }
  return [...byRun.values()].toSorted((a, b) => a.at.localeCompare(b.at));
};

/** Those that stand. */
export const standing = (decisions: ReadonlyArray<EndingDecision>): ReadonlyArray<EndingDecision> =>
  decisions.filter(({ overruled }) => overruled === undefined);

const described = ({ at, by, what, why }: EndingDecision): string =>
  `was ${what} by ${by} on ${at.slice(0, 16).replace("T", " ")} UTC (${why})`;

/** Why a run is not retried that a person has ended. */
export const endedByPersonText = (
  workflowId: string,
  decisions: ReadonlyArray<EndingDecision>,
): string =>
  `The run ${workflowId} ${decisions.map(described).join(", and ")}. What a person has ended stays ended: to overrule that, by name and with a reason, say ${commandLine("runs", "retry", workflowId, "--overrule", "--by", "NAME", "--reason", "WHY")}. Nothing was done.`;
