import type { Assumptions } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import type {
  OnboardCardholderInput,
  OnboardCardholderOptions,
  PayoutInput,
  PayoutOptions,
} from "@durable-payments/protocol";
import * as Schema from "effect/Schema";
import {
  AccountName,
  Amount,
  checkEither,
  Duration,
  Id,
  inputIssues,
  operationInput,
} from "./fields.ts";
import { inCapitals, type PlannedRun, plannedRun } from "./planned-run.ts";

// Every option of the workflow stands here, and no other: the compiler sees to it.
const options = {
  onLostBeneficiary: Schema.optionalKey(Schema.Literals(["recreate", "ask"])),
  approval: Schema.optionalKey(Schema.Struct({ above: Amount })),
  completeWithin: Schema.optionalKey(Duration),
} satisfies Readonly<Record<keyof PayoutOptions, Schema.Top>>;

/** Makes the check of the inputs of payouts, once for many. */
export const makePayoutCheck = (assumptions: Assumptions): ((input: unknown) => PayoutInput) => {
  const schema = Schema.Struct({
    beneficiary: Schema.optionalKey(operationInput("createBeneficiary", assumptions, {})),
    beneficiary_id: Schema.optionalKey(Id),
    payout: operationInput("createPayout", assumptions, {
      beneficiary_id: "belongs beside payout, not into it",
      unique_request_id: "is made by the run: leave it out",
    }),
    account: Schema.optionalKey(AccountName),
    options: Schema.optionalKey(Schema.Struct(options)),
  });
  const either = { body: "beneficiary", id: "beneficiary_id" };
  // Exactly one of the two is there.
  return (input) => checkEither(schema, either, input) as PayoutInput;
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

const BY_THE_RUN = "is filled in by the run: leave it out";

/** The card is issued by one operation and named by another. */
const card = (assumptions: Assumptions) =>
  Schema.declare((value): value is OnboardCardholderInput["card"] => isRecord(value), {
    expected: "an object of fields",
  }).check(
    Schema.makeFilter(({ card_name, ...issued }) => [
      ...inputIssues("createCard", issued, assumptions, {
        card_holder_id: BY_THE_RUN,
        balance_id: BY_THE_RUN,
        unique_request_id: BY_THE_RUN,
      }),
      ...(card_name === undefined
        ? []
        : inputIssues("updateCard", { card_name }, assumptions, { card_id: BY_THE_RUN })),
    ]),
  );

// Every option of the workflow stands here, and no other: the compiler sees to it.
const onboardingOptions = {
  onFailure: Schema.optionalKey(Schema.Literals(["keep", "compensate"])),
  verifyWithin: Schema.optionalKey(Duration),
  fundWithin: Schema.optionalKey(Duration),
} satisfies Readonly<Record<keyof OnboardCardholderOptions, Schema.Top>>;

const onboardingInput = (assumptions: Assumptions) =>
  Schema.Struct({
    cardholder: Schema.optionalKey(operationInput("createCardholder", assumptions, {})),
    card_holder_id: Schema.optionalKey(Id),
    card: card(assumptions),
    account: Schema.optionalKey(AccountName),
    options: Schema.optionalKey(Schema.Struct(onboardingOptions)),
  });

/**
 * Checks the input of an onboarding, and plans its run. Nothing is sent.
 *
 * @param input `{cardholder | card_holder_id, card, account?, options?}` with the service's own field names.
 * @param assumptions what is assumed of the service; `defaultAssumptions` of api-core.
 * @returns what `startRun` needs, with an id made of the content.
 * @throws InvalidInput that names every fault.
 */
export const planOnboarding = (
  input: unknown,
  assumptions: Assumptions,
): PlannedRun<OnboardCardholderInput> => {
  const either = { body: "cardholder", id: "card_holder_id" };
  const checked = checkEither(onboardingInput(assumptions), either, input);
  // Exactly one of the two is there.
  return plannedRun("onboardCardholder", "onboard", checked as OnboardCardholderInput);
};
