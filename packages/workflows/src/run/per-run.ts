import { CancellationScope } from "@temporalio/workflow";

/**
 * Keeps one of something for each run, by the outermost scope of each workflow: modules are loaded once
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
