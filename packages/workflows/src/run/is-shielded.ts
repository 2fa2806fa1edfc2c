import { CancellationScope } from "@temporalio/workflow";

/** Whether a cancellation of the run does not concern what is done now. */
export const isShielded = (): boolean => {
  let scope: CancellationScope | undefined = CancellationScope.current();
  while (scope?.cancellable === true) scope = scope.parent;
  return scope !== undefined;
};
