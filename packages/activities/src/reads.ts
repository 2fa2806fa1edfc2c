import {
  type Endpoints,
  type Input,
  isSensitiveField,
  operationNames,
  type Output,
  type PaymentsError,
} from "@durable-payments/client/effect";
import { operation } from "@durable-payments/client/contract";
import { isRecord } from "@durable-payments/client/values";
import { lastFour, temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { Result } from "effect";
import { operationOf, type PaymentsRuntime, runCall, notYet } from "./run-operation.ts";
import { waitAfterMs, withReason } from "./write/outcomes.ts";
import type { Ledger } from "@durable-payments/ledger";
import { failureTypes } from "@durable-payments/protocol/calls";

/** The operations that change nothing. */
export type ReadName = Extract<keyof Endpoints, "ping" | `list${string}` | `retrieve${string}`>;

/** One activity per read of the contract, by the operation's own name; plain JSON both ways. */
export type ReadActivities = {
  readonly [Name in ReadName]: (input: Input<Name>) => Promise<Output<Name>>;
};

/**
 * Returns the failure of an activity that reads. A read does not affect money: Temporal retries every failure that may
 * pass.
 */
export const readFailure = (error: PaymentsError, attempt: number): ApplicationFailure => {
  const { _tag: tag, operation: name } = error;
  const isFinal = tag === "InvalidRequest" || tag === "RequestRefused";
  return ApplicationFailure.create({
    type: tag === "RequestRefused" ? failureTypes.refused : tag,
    message: withReason(error),
    nonRetryable: isFinal,
    details: [{ operation: name }],
    // Other waits are those of the caller's retry policy.
    ...((tag === "RateLimited" || tag === "NotAuthenticated") && {
      nextRetryDelay: waitAfterMs(error, attempt),
    }),
  });
};

/** Temporal keeps every answer, so account and card numbers are masked to their end. */
const withoutNumbers = (value: unknown, field = ""): unknown => {
  if (typeof value === "string") return isSensitiveField(field) ? lastFour(value) : value;
  if (Array.isArray(value)) return value.map((item) => withoutNumbers(item, field));
  return isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, withoutNumbers(item, name)]),
      )
    : value;
};

/** Makes the activities of all reads. */
export const makeReadActivities = (runtime: PaymentsRuntime): ReadActivities =>
  Object.fromEntries(
    operationNames
      .filter((name) => operation(name).idempotency === "safe")
      .map((name) => {
        const read = async (input: unknown): Promise<unknown> => {
          const { cancellationSignal, info } = Context.current();
          const result = await runCall(
            runtime,
            (client) => operationOf(client, name)(input),
            cancellationSignal,
          );
          if (Result.isFailure(result)) throw readFailure(result.failure, info.attempt);
          return withoutNumbers(result.success);
        };
        return [name, read];
      }),
    // One entry for each read, with the contract's input and output.
  ) as ReadActivities;

/** Every failure may be repaired in the meantime: a key, a network, a database. */
const AGAIN_AFTER_MS = 2_000;

/** Makes the activity that checks a new version of a worker. */
export const makeWorkerCheckActivities = (runtime: PaymentsRuntime, ledger: Ledger) => ({
  /** Signs in, pings the service, and reads the ledger. Moves no money. */
  checkWorker: async (): Promise<void> => {
    const { cancellationSignal } = Context.current();
    const result = await runCall(runtime, (client) => client.ping(), cancellationSignal);
    if (Result.isFailure(result)) throw notYet(result.failure.message, AGAIN_AFTER_MS);
    try {
      await ledger.mark();
    } catch (error) {
      throw notYet(temporalReason(error), AGAIN_AFTER_MS);
    }
  },
});
