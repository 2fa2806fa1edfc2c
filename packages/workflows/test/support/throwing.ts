import { ApplicationFailure } from "@temporalio/workflow";

const refuse = (): never => {
  throw ApplicationFailure.nonRetryable("not this one", "Refused");
};

/** Fails, a function deep. */
export async function throwing(): Promise<void> {
  refuse();
}
