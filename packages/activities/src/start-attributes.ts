import {
  intentMark,
  keyOfStep,
  type OnboardCardholderInput,
  ownershipKeys,
  PAYMENT_ACCOUNT,
  PAYMENT_CURRENCY,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  PAYMENT_STAGE,
  type PayoutInput,
  STEP,
} from "@durable-payments/protocol";
import type { SearchAttributePair } from "@temporalio/common";
import { intentOfPayout } from "./match-rows.ts";

/** The stage of a run that has not had its first workflow task. */
export const STARTING = "starting";

/** Give what every run is started with, as far as it is known. */
export const startAttributes = ({
  account,
  currency,
  stage = STARTING,
}: {
  /** Hash of the account that it moves money of; a run that is not given it asks its first worker. */
  readonly account?: string | undefined;
  readonly currency?: string;
  /** The step that it begins with, where that is known. */
  readonly stage?: string;
}): ReadonlyArray<SearchAttributePair> => [
  { key: PAYMENT_STAGE, value: stage },
  ...(currency === undefined ? [] : [{ key: PAYMENT_CURRENCY, value: currency }]),
  ...(account === undefined ? [] : [{ key: PAYMENT_ACCOUNT, value: account }]),
];

/**
 * Give what a `payout` run is started with. A run whose first act is its send is started as it would show
 * itself by then: it is found by its key before its first workflow task, and has two events and two
 * billable actions less where its account is given, too.
 *
 * @param workflowId that it is started under: its key is derived from it.
 * @param account hash of the account that it is to be paid from, where it is known.
 */
export const payoutStartAttributes = (
  workflowId: string,
  input: PayoutInput,
  account: string | undefined,
): ReadonlyArray<SearchAttributePair> => {
  const { options, payout } = input;
  const common = { account, currency: payout.currency.toUpperCase() };
  if ("beneficiary" in input || options?.approval !== undefined) return startAttributes(common);
  const key = keyOfStep(workflowId, STEP.createPayout);
  const intent = intentOfPayout({ ...payout, beneficiary_id: input.beneficiary_id });
  return [
    ...startAttributes({ ...common, stage: STEP.createPayout }),
    { key: PAYMENT_IN_DOUBT, value: STEP.createPayout },
    { key: PAYMENT_IDS, value: [key, ...ownershipKeys({}, key), intentMark(intent)] },
  ];
};

/**
 * Give what an `onboardCardholder` run is started with. It is known by then what its first send makes: a run
 * that is given its account, and creates its cardholder, writes less of it. The mark of whom it creates it writes itself:
 * its worker has the secret for that.
 *
 * @param known hash of the account that the card is to be paid from, where it is known, and the currency.
 */
export const onboardStartAttributes = (
  input: OnboardCardholderInput,
  known: { readonly account: string | undefined; readonly currency: string },
): ReadonlyArray<SearchAttributePair> => {
  // A run that has to ask for its account writes that before its first send.
  if (!("cardholder" in input) || known.account === undefined) return startAttributes(known);
  return [
    ...startAttributes({ ...known, stage: STEP.createCardholder }),
    { key: PAYMENT_IN_DOUBT, value: STEP.createCardholder },
  ];
};
