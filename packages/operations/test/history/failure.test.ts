import { WorkflowFailedError } from "@temporalio/client";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  RetryState,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/common";
import { expect, it } from "vitest";
import { type Failure, readFailure } from "../../src/history/failure.ts";

const failedWith = (cause: Error | undefined) =>
  new WorkflowFailedError("Workflow execution failed", cause, RetryState.NON_RETRYABLE_FAILURE);

const byActivity = (cause: Error) =>
  new ActivityFailure(
    "Activity task failed",
    "createPayout",
    "1",
    RetryState.NON_RETRYABLE_FAILURE,
    "worker",
    cause,
  );

const refused = ApplicationFailure.create({
  type: "Refused",
  message: "createPayout was refused: Insufficient balance",
  details: [{ _tag: "Refused", code: 400 }],
});

it.each<[string, Error, Failure]>([
  [
    "of the workflow itself",
    failedWith(ApplicationFailure.nonRetryable("late", "FundsOverdue", { currency: "USD" }, "x")),
    { type: "FundsOverdue", message: "late", details: [{ currency: "USD" }, "x"] },
  ],
  [
    "of an activity",
    failedWith(byActivity(refused)),
    { type: "Refused", message: refused.message, details: { code: 400 } },
  ],
  [
    "that has a cause",
    failedWith(
      ApplicationFailure.create({
        type: "CompensationIncomplete",
        message: "not all could be undone",
        cause: byActivity(refused),
      }),
    ),
    {
      type: "CompensationIncomplete",
      message: "not all could be undone",
      cause: { type: "Refused", message: refused.message, details: { code: 400 } },
    },
  ],
  [
    "a cancellation",
    failedWith(new CancelledFailure("Workflow canceled")),
    { type: "Cancelled", message: "The run was cancelled." },
  ],
  [
    "a termination",
    failedWith(new TerminatedFailure("by hand")),
    { type: "Terminated", message: "by hand" },
  ],
  [
    "a timeout",
    failedWith(new TimeoutFailure("Workflow execution timed out", undefined, "START_TO_CLOSE")),
    { type: "TimedOut", message: "Workflow execution timed out" },
  ],
  [
    "that has no message",
    failedWith(undefined),
    { type: "Failed", message: "Workflow execution failed" },
  ],
])("reads a failure %s", (_, error, failure) => {
  expect(readFailure(error)).toEqual(failure);
});
