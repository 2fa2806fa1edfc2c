import { redact } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/common";
import { failureTypes } from "./calls.ts";

/** The reason why a run, or a part of it, failed. */
export interface Failure {
  /** A type of `failureTypes`, or the user's own type; else Cancelled, Terminated, TimedOut or Failed. */
  readonly type: string;
  /** Without account numbers, tokens and other secrets. */
  readonly message: string;
  /** The first of those that were thrown, for the rules of a retry; no screen shows it. */
  readonly details?: unknown;
}

const OURS: ReadonlySet<string> = new Set(Object.values(failureTypes));

const typeOf = (error: unknown): string => {
  if (error instanceof CancelledFailure) return "Cancelled";
  if (error instanceof TerminatedFailure) return "Terminated";
  return error instanceof TimeoutFailure ? "TimedOut" : "Failed";
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
  return {
    type: found === undefined ? typeOf(last) : (found.type ?? "Failed"),
    message: redact(said.includes(cause) ? said : `${said} Cause: ${cause}`),
    details: found?.details?.[0],
  };
};
