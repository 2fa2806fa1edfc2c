import { CancellationScope, condition } from "@temporalio/workflow";

/**
 * Keep one of something for each run, by the outermost scope of each workflow: modules are loaded once
 * for all the workflows of a worker's thread, and share their variables.
 *
 * @returns what the workflow has that runs now.
 */
export const perRun = <A>(make: () => A): (() => A) => {
  const all = new WeakMap<CancellationScope, A>();
  return () => {
    let scope = CancellationScope.current();
    while (scope.parent !== undefined) scope = scope.parent;
    const known = all.get(scope);
    if (known !== undefined) return known;
    const made = make();
    all.set(scope, made);
    return made;
  };
};

/** Whether a cancellation of the run does not concern what is done now. */
export const isShielded = (): boolean => {
  let scope: CancellationScope | undefined = CancellationScope.current();
  while (scope?.cancellable === true) scope = scope.parent;
  return scope !== undefined;
};

/**
 * Do something whenever the workflow has done all that it can do for now, before the worker reports to
 * the server: commands that it gives go with those that the workflow has given.
 *
 * @param shield where a cancellation does not come: it is done in a cancelled run, too.
 */
export const wheneverIdle = (shield: CancellationScope, work: () => void): void => {
  // A condition that is checked and never fulfilled: one that is fulfilled and waited for anew
  // costs a dozen promises, of each of which the SDK takes the stack.
  void shield.run(async () => {
    void condition(() => {
      work();
      return false;
    });
  });
};
