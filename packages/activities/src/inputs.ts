/**
 * Parses the inputs of activities.
 *
 * Any workflow may have written one, and the types of TypeScript end there. So each activity of payments gets its input
 * from here, in the shape that its type promises, or is not called.
 */
import { faultsText } from "@durable-payments/client/effect";
import { faultsOf } from "@durable-payments/client/settings";
import { failureTypes, UNDO, WAIT } from "@durable-payments/protocol/calls";
import * as payloads from "@durable-payments/protocol/payloads";
import { ApplicationFailure } from "@temporalio/common";
import { Result } from "effect";
import * as Schema from "effect/Schema";

/** Inputs by activity type. The contract checks the inputs of reads. */
const INPUTS: Readonly<Record<string, Schema.Codec<unknown>>> = {
  [UNDO]: payloads.undoCall,
  [WAIT.payout]: payloads.payoutWait,
  [WAIT.return]: payloads.payoutWait,
  [WAIT.cardholder]: payloads.cardholderWait,
  [WAIT.balance]: payloads.fundsWait,
  startRows: payloads.batchChunk,
  track: payloads.trackerInput,
  notify: payloads.notifierInput,
};

/**
 * Has activities parse their inputs.
 *
 * @param isWrite whether an activity type is a write, the contract's or your own.
 * @returns the activities; each fails as `InvalidRequest`, for good, if its input has another shape.
 */
export const parsing = <Activities extends object>(
  activities: Activities,
  isWrite: (type: string) => boolean,
): Activities => {
  // Each is called with what its schema has read.
  const all = Object.entries<(input: unknown) => unknown>({ ...activities } as never);
  const parsed = all.map(([type, activity]) => {
    const schema = INPUTS[type] ?? (isWrite(type) ? payloads.writeCall : undefined);
    if (schema === undefined) return [type, activity] as const;
    const decode = Schema.decodeUnknownResult(schema, { errors: "all" });
    return [
      type,
      async (input: unknown): Promise<unknown> => {
        const read = decode(input);
        if (Result.isSuccess(read)) return activity(read.success);
        throw ApplicationFailure.create({
          type: failureTypes.invalidRequest,
          message: `Nothing was sent. The input of ${type} is invalid: ${faultsText(faultsOf(read.failure.issue))}.`,
          nonRetryable: true,
          details: [{ operation: type, step: type }],
        });
      },
    ] as const;
  });
  return Object.fromEntries(parsed) as Activities;
};
