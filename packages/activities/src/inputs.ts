/**
 * Parses the inputs of activities.
 *
 * An input is a payload in a history: a workflow of any build, in any language, may have written it, and the types of
 * TypeScript end there. So each activity of payments gets its input from here, in the shape that its type promises, or is
 * not called.
 */
import { faultsOf, faultsText } from "@durable-payments/api-core";
import { failureTypes, UNDO, WAIT } from "@durable-payments/protocol/calls";
import { inputFaults, isAmount, isKey, KEY_RULE } from "@durable-payments/protocol/inputs";
import { isNotifierState } from "@durable-payments/protocol/notifications";
import { isTracked } from "@durable-payments/protocol/tracker";
import { ApplicationFailure } from "@temporalio/common";
import { Result } from "effect";
import * as Schema from "effect/Schema";

const Text = Schema.NonEmptyString;
const Json = Schema.Record(Schema.String, Schema.Unknown);
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));
const Amount = Schema.String.check(Schema.makeFilter(isAmount, { expected: "an amount" }));
const Key = Schema.String.check(Schema.makeFilter(isKey, { expected: KEY_RULE }));
const optional = Schema.optionalKey;

const call = {
  step: Text,
  key: optional(Key),
  rootId: Text,
  runId: Text,
  isContinued: Schema.Boolean,
  call: Count,
  isFirst: Schema.Boolean,
  version: optional(Count),
  claimed: optional(Schema.Array(Text)),
  believed: optional(
    Schema.Array(
      Schema.Struct({
        account: optional(Text),
        wait: optional(Text),
        step: optional(Text),
        operation: optional(Text),
        key: optional(Key),
        ids: optional(Schema.Array(Schema.String)),
        outcome: optional(Schema.String),
      }),
    ),
  ),
};

/** Input of every write, and of operations of your own. */
const Write = Schema.Struct({
  ...call,
  isNamed: Schema.Boolean,
  request: Json,
  planned: optional(Schema.Array(Schema.Struct({ operation: Text, request: Json }))),
  mode: optional(Schema.Literal("close")),
  whenLost: optional(Schema.Literals(["resend", "ask"])),
  reuse: optional(Schema.Literal(false)),
  approveAbove: optional(Amount),
});

const Payout = Json.check(
  Schema.makeFilter((input) => faultsText(inputFaults("payout", input)) || undefined),
);
const mode = { mode: optional(Schema.Literal("look")) };
const money = { amount: Amount, currency: Text };
/** Inputs by activity type. The contract checks those of reads. */
const INPUTS: Readonly<Record<string, Schema.Codec<unknown>>> = {
  [UNDO]: Schema.Struct({ ...call, operation: Text, made: optional(Json) }),
  [WAIT.payout]: Schema.Struct({
    ...mode,
    payout_id: Text,
    sent: optional(Schema.Struct({ ...money, beneficiary_id: Text })),
  }),
  [WAIT.cardholder]: Schema.Struct({ ...mode, card_holder_id: Text }),
  [WAIT.balance]: Schema.Struct({ ...mode, ...money }),
  startRows: Schema.Struct({
    batch: Text,
    startedBy: Text,
    window: Count,
    rows: Schema.Array(Schema.Struct({ number: Count, workflowId: Text, input: Payout })),
  }),
  track: Schema.Struct({
    account: Text,
    name: optional(Text),
    known: optional(Schema.declare(isTracked, { expected: "a state of the tracker" })),
  }),
  notify: Schema.UndefinedOr(
    Schema.declare(isNotifierState, { expected: "a state with the time from which it looks" }),
  ),
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
    const schema = INPUTS[type] ?? (isWrite(type) ? Write : undefined);
    if (schema === undefined) return [type, activity] as const;
    const decode = Schema.decodeUnknownResult(schema, { errors: "all" });
    return [
      type,
      async (input: unknown): Promise<unknown> => {
        const read = decode(input);
        if (Result.isSuccess(read)) return activity(read.success);
        throw ApplicationFailure.create({
          type: failureTypes.invalidRequest,
          message: `Nothing was sent. The input of ${type} is not one of this release: ${faultsText(faultsOf(read.failure.issue))}.`,
          nonRetryable: true,
          details: [{ operation: type, step: type }],
        });
      },
    ] as const;
  });
  return Object.fromEntries(parsed) as Activities;
};
