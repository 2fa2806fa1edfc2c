import { WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";

/** What a run failed with. */
export const failureOf = async (result: Promise<unknown>): Promise<ApplicationFailure> => {
  const error: unknown = await result.then(
    (value) => new Error(`The run did not fail, but gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) {
    return error.cause;
  }
  throw error;
};
