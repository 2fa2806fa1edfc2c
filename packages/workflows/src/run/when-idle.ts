import { type CancellationScope, condition } from "@temporalio/workflow";

/**
 * Does something whenever the workflow has done all that it can do for now, before the worker tells
 * the server: commands that it gives go with those that the workflow has given.
 *
 * @param shield where a cancellation does not come: it is done in a cancelled run, too.
 */
export const wheneverIdle = (shield: CancellationScope, work: () => void): void => {
  // A condition that is looked at and never fulfilled: one that is fulfilled and waited for anew
  // costs a dozen promises, of each of which the SDK takes the stack.
  void shield.run(async () => {
    void condition(() => {
      work();
      return false;
    });
  });
};
