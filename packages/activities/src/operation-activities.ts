import {
  type Input,
  operation,
  type OperationName,
  operationNames,
  OutcomeUnknown,
  type Output,
  type PaymentsError,
  type RepeatClass,
  Unavailable,
} from "@durable-payments/api-core";
import { Context } from "@temporalio/activity";
import type { Effect } from "effect";
import type { Brake } from "./brake.ts";
import { paused, toApplicationFailure } from "./failures.ts";
import { invalidRequest, type MaxAmounts, overLimit } from "./limits.ts";
import { type PaymentsRuntime, runInActivity } from "./run-operation.ts";

/** One activity per operation of the contract, by the operation's own name; plain JSON both ways. */
export type OperationActivities = {
  readonly [Name in OperationName]: (input: Input<Name>) => Promise<Output<Name>>;
};

type AnyOperation = (input: unknown) => Effect.Effect<unknown, PaymentsError>;

/**
 * Whether Temporal's own retry would do harm: a second send of these must be decided by the
 * workflow, which remembers what happened to the first.
 */
const isDecidedByWorkflow = (repeat: RepeatClass): boolean =>
  repeat === "once" || repeat === "keyed";

const neverOnItsOwn = new Set<PaymentsError["_tag"]>(["InvalidRequest", "Refused"]);

/** Nobody could tell whether sends are paused, so that nothing was sent. */
const notSent = (operation: OperationName, error: unknown): Unavailable => {
  Context.current().cancellationSignal.throwIfAborted();
  return new Unavailable({
    operation,
    carriedOut: "no",
    message: `${operation} was not sent: the Temporal server did not tell whether sends are paused (${error instanceof Error ? error.message : String(error)}).`,
  });
};

/** Derives the activities from the contract. */
export const makeOperationActivities = (
  runtime: PaymentsRuntime,
  { brake, maxAmounts }: { readonly brake: Brake; readonly maxAmounts: MaxAmounts },
): OperationActivities =>
  Object.fromEntries(
    operationNames.map((name) => {
      const { repeat } = operation(name);
      const toFailure = (error: PaymentsError) =>
        toApplicationFailure(error, {
          nonRetryable: isDecidedByWorkflow(repeat) || neverOnItsOwn.has(error._tag),
        });
      const activity = async (input: unknown) => {
        if (isDecidedByWorkflow(repeat) && Context.current().info.attempt > 1) {
          // The first attempt's worker was lost. It may have sent the request.
          throw toFailure(
            new OutcomeUnknown({
              operation: name,
              carriedOut: "unknown",
              message: `${name} may have been sent by a worker that was lost before it could tell.`,
            }),
          );
        }
        const faults = overLimit(name, input, maxAmounts);
        if (faults.length > 0) throw toFailure(invalidRequest(name, faults));
        const pause =
          repeat === "safe"
            ? undefined
            : await brake().catch((error: unknown) => {
                throw toFailure(notSent(name, error));
              });
        if (pause !== undefined) {
          throw paused(pause, { nonRetryable: isDecidedByWorkflow(repeat) });
        }
        return runInActivity(
          runtime,
          // Looked up by one of the contract's names; the input is checked by the call itself.
          (client) => (client[name] as AnyOperation)(input),
          toFailure,
        );
      };
      return [name, activity];
    }),
    // One entry per operation, each with the contract's input and output.
  ) as OperationActivities;
