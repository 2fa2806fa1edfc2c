import { redact } from "@durable-payments/client/effect";
import { isRecord, messageOf } from "@durable-payments/client/values";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/common";
import { failureTypes } from "./calls.ts";

/** The reason why a run, or a part of it, failed. */
export interface Failure {
  /** A type of `failureTypes`, or the user's own type; else Cancelled, Terminated, TimedOut or Failed. */
  readonly type: string;
  /** Without account numbers, tokens and other secrets; the beginning of a long one. */
  readonly message: string;
  /** The first of those that were thrown, for the rules of a retry; no screen shows it. */
  readonly details?: unknown;
  /** The step that failed, or the type of the activity or child of a user's own; undefined if the workflow's own code did. */
  readonly step?: string | undefined;
}

/** The facts that a failure of this project names, see `FailureFacts`; none of another one. */
export const factsOf = (
  failure: Pick<Failure, "details"> | null,
): Readonly<Record<string, unknown>> => (isRecord(failure?.details) ? failure.details : {});

const OURS: ReadonlySet<string> = new Set(Object.values(failureTypes));

/** An event with all of a long message is more than a webhook takes, and would hold up those after it. */
const LONG = /^(.{2000}).+$/su;

const typeOf = (error: unknown): string => {
  if (error instanceof CancelledFailure) return "Cancelled";
  if (error instanceof TerminatedFailure) return "Terminated";
  return error instanceof TimeoutFailure ? "TimedOut" : "Failed";
};

/** The innermost part of the run that failed. */
const stepOf = (chain: ReadonlyArray<unknown>): string | undefined => {
  const part = chain.findLast(
    (cause) => cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure,
  );
  return part instanceof ActivityFailure ? part.activityType : part?.workflowType;
};

/**
 * Reads a failure: the one that this project made, else the outermost one of the workflow. Its message begins with what
 * the workflow's own code says.
 */
export const readFailure = (error: unknown): Failure => {
  const chain: Array<unknown> = [error];
  for (let last = error; last instanceof Error && last.cause instanceof Error; last = last.cause)
    chain.push(last.cause);
  const applications = chain.filter((cause) => cause instanceof ApplicationFailure);
  const found = applications.find(({ type }) => OURS.has(type ?? "")) ?? applications[0];
  const last = chain.at(-1);
  const cause = messageOf(found ?? last);
  const said = messageOf(applications[0] ?? last);
  const details: unknown = found?.details?.[0];
  const { step } = factsOf({ details });
  return {
    type: found === undefined ? typeOf(last) : (found.type ?? "Failed"),
    message: redact(said.includes(cause) ? said : `${said} Cause: ${cause}`).replace(LONG, "$1…"),
    details,
    step: typeof step === "string" ? step : stepOf(chain),
  };
};
