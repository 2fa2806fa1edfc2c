import type { Assumptions } from "@durable-payments/api-core";
import type { PayoutInput, PayoutOptions } from "@durable-payments/protocol";
import * as Schema from "effect/Schema";
import { AccountName, Amount, checkEither, Duration, Id, operationInput } from "./fields.ts";
import { inCapitals, type PlannedRun, plannedRun } from "./planned-run.ts";

// Every option of the workflow stands here, and no other: the compiler sees to it.
const options = {
  onLostBeneficiary: Schema.optionalKey(Schema.Literals(["recreate", "ask"])),
  approval: Schema.optionalKey(Schema.Struct({ above: Amount })),
  completeWithin: Schema.optionalKey(Duration),
} satisfies Readonly<Record<keyof PayoutOptions, Schema.Top>>;

const shapes = (assumptions: Assumptions) => {
  const rest = {
    payout: operationInput("createPayout", assumptions, {
      beneficiary_id: "belongs beside payout, not into it",
      unique_request_id: "is made by the run: leave it out",
    }),
    account: Schema.optionalKey(AccountName),
    options: Schema.optionalKey(Schema.Struct(options)),
  };
  return {
    id: { field: "beneficiary_id", schema: Schema.Struct({ beneficiary_id: Id, ...rest }) },
    body: {
      field: "beneficiary",
      schema: Schema.Struct({
        beneficiary: operationInput("createBeneficiary", assumptions, {}),
        ...rest,
      }),
    },
  };
};

/** Makes the check of the inputs of payouts, once for many. */
export const makePayoutCheck = (assumptions: Assumptions): ((input: unknown) => PayoutInput) => {
  const known = shapes(assumptions);
  return (input) => checkEither(known, input);
};

/** Plans the run of a checked payout. */
export const plannedPayout = (input: PayoutInput): PlannedRun<PayoutInput> =>
  plannedRun("payout", "payout", inCapitals(input));

/**
 * Checks the input of a payout, and plans its run. Nothing is sent.
 *
 * @param input `{beneficiary | beneficiary_id, payout, account?, options?}` with the service's own field names; amounts
 *   are decimal strings.
 * @param assumptions what is assumed of the service; `defaultAssumptions` of api-core.
 * @returns what `startRun` needs, with an id made of the content.
 * @throws InvalidInput that names every fault.
 */
export const planPayout = (input: unknown, assumptions: Assumptions): PlannedRun<PayoutInput> =>
  plannedPayout(makePayoutCheck(assumptions)(input));
