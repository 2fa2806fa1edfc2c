import {
  type Assumptions,
  type Fault,
  firstFaults,
  type OperationName,
} from "@durable-payments/api-core";
import { checkInput } from "@durable-payments/api-core/contract";
import { isRecord } from "@durable-payments/api-core/values";
import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import { inputFaults } from "@durable-payments/protocol/inputs";
import { invalidInput } from "../errors.ts";
import { inCapitals, type PlannedRun, plannedRun } from "./planned-run.ts";

/** Fields that the run fills in, each with what to say to who gives it anyhow. */
type FilledIn = Readonly<Record<string, string>>;

const BY_THE_RUN = "is filled in by the run: leave it out";

/** The faults of an operation's request, which an input holds in a field; none where it holds no object there. */
const requestFaults = (
  name: OperationName,
  assumptions: Assumptions,
  at: string,
  request: unknown,
  filledIn: FilledIn = {},
): ReadonlyArray<Fault> =>
  isRecord(request)
    ? [
        ...Object.entries(filledIn).flatMap(([field, problem]) =>
          field in request ? [{ field, problem }] : [],
        ),
        ...checkInput(name, request, { assumptions, later: Object.keys(filledIn) }),
      ].map(({ field, problem }) => ({ field: field === "" ? at : `${at}.${field}`, problem }))
    : [];

const checked = (
  workflow: Parameters<typeof inputFaults>[0],
  input: unknown,
  faultsOfRequests: (input: Readonly<Record<string, unknown>>) => ReadonlyArray<Fault>,
): unknown => {
  if (!isRecord(input))
    throw invalidInput("The file must hold a JSON object. Nothing was started.");
  const faults = firstFaults([...faultsOfRequests(input), ...inputFaults(workflow, input)]);
  if (faults.length === 0) return input;
  throw invalidInput("The input is wrong. Nothing was started.", faults);
};

/** Checks the input of a payout. @throws InvalidInput that names every fault. */
export const checkPayout = (input: unknown, assumptions: Assumptions): PayoutInput =>
  // Every field was checked.
  checked("payout", input, ({ beneficiary, payout }) => [
    ...requestFaults("createBeneficiary", assumptions, "beneficiary", beneficiary),
    ...requestFaults("createPayout", assumptions, "payout", payout, {
      beneficiary_id: "belongs beside payout, not into it",
      unique_request_id: "is made by the run: leave it out",
    }),
  ]) as PayoutInput;

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
  plannedPayout(checkPayout(input, assumptions));

/** The card is issued by one operation and named by another. */
const cardFaults = (card: unknown, assumptions: Assumptions): ReadonlyArray<Fault> => {
  if (!isRecord(card)) return [];
  const { card_name, ...issued } = card;
  const named = card_name === undefined ? undefined : { card_name };
  return [
    ...requestFaults("createCard", assumptions, "card", issued, {
      card_holder_id: BY_THE_RUN,
      balance_id: BY_THE_RUN,
      unique_request_id: BY_THE_RUN,
    }),
    ...requestFaults("updateCard", assumptions, "card", named, { card_id: BY_THE_RUN }),
  ];
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
): PlannedRun<OnboardCardholderInput> => {
  const onboarding = checked("onboardCardholder", input, ({ card, cardholder }) => [
    ...requestFaults("createCardholder", assumptions, "cardholder", cardholder),
    ...cardFaults(card, assumptions),
  ]);
  // Every field was checked.
  return plannedRun("onboardCardholder", "onboard", onboarding as OnboardCardholderInput);
};
