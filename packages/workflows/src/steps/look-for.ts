import { intentMark } from "@durable-payments/protocol";
import type { RunState } from "../run/run-state.ts";
import { reconcile, type Reconciled, type Unanswered } from "./reconcile.ts";
import type { LookUp, Sending, Sought } from "./send.ts";

/** What is to be looked for. */
type LookedFor<Request, A> = Pick<Unanswered<A>, "isWorkerLost" | "seen" | "tell"> &
  Pick<Sought<A>, "keys" | "since"> & { readonly request: Request };

/** Looks for what a step has sent until it can be known whether it was carried out, or not. */
export const lookFor = <Request extends object, A>(
  run: RunState,
  { ids, intent, step }: Pick<Sending<Request, A>, "ids" | "intent" | "step">,
  { find, shown }: LookUp<Request, A>,
  { isWorkerLost, keys, request, seen, since, tell }: LookedFor<Request, A>,
): Promise<Reconciled<A>> => {
  const mark = intentMark(intent(request));
  return run.shielded(() =>
    reconcile(run, {
      step,
      find: (before) => find(request, { step, since, keys, seen: before, intentMark: mark }),
      ids,
      shown,
      intentMark: mark,
      isWorkerLost,
      seen,
      tell,
    }),
  );
};
