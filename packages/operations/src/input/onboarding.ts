import type { Assumptions } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import type { OnboardCardholderInput, OnboardCardholderOptions } from "@durable-payments/protocol";
import * as Schema from "effect/Schema";
import { AccountName, checkEither, Duration, Id, inputIssues, operationInput } from "./fields.ts";
import { type PlannedRun, plannedRun } from "./planned-run.ts";

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
const options = {
  onFailure: Schema.optionalKey(Schema.Literals(["keep", "compensate"])),
  verifyWithin: Schema.optionalKey(Duration),
  fundWithin: Schema.optionalKey(Duration),
} satisfies Readonly<Record<keyof OnboardCardholderOptions, Schema.Top>>;

const shapes = (assumptions: Assumptions) => {
  const rest = {
    card: card(assumptions),
    account: Schema.optionalKey(AccountName),
    options: Schema.optionalKey(Schema.Struct(options)),
  };
  return {
    id: { field: "card_holder_id", schema: Schema.Struct({ card_holder_id: Id, ...rest }) },
    body: {
      field: "cardholder",
      schema: Schema.Struct({
        cardholder: operationInput("createCardholder", assumptions, {}),
        ...rest,
      }),
    },
  };
};

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
): PlannedRun<OnboardCardholderInput> =>
  plannedRun("onboardCardholder", "onboard", checkEither(shapes(assumptions), input));
