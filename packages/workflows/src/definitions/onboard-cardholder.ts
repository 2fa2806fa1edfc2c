import type { OnboardCardholderInput, OnboardCardholderResult } from "@durable-payments/protocol";
import { setCurrentDetails } from "@temporalio/workflow";
import { refuseFaults } from "../run.ts";
import { checkRequests, confirmCard, createCardholder, issueCard } from "../steps/operations.ts";
import { awaitFunds, awaitVerification } from "../steps/waits.ts";
import { undo } from "../steps/write.ts";

/** Cards, and the balance that funds them, are in USD only. */
const currency = "USD";

/**
 * Creates the cardholder or takes an existing one, waits for the identity check and for the funds, and issues the card.
 *
 * @param input the cardholder or its id, and the card; `card_limit` is a decimal string in USD.
 * @returns the ids of cardholder, card and balance.
 * @throws InvalidRequest, Refused, NotVerified, NotFunded, and the other failures of `issueCard`.
 */
export async function onboardCardholder(
  input: OnboardCardholderInput,
): Promise<OnboardCardholderResult> {
  refuseFaults("onboardCardholder", input);
  const { account, key, options = {} } = input;
  const { card_limit, card_name, product_code } = input.card;
  const made: Array<string> = [];
  try {
    let card_holder_id: string;
    if ("cardholder" in input) {
      setCurrentDetails("Creating the cardholder.");
      checkRequests({
        createCard: [{ product_code, card_limit }],
        updateCard: card_name === undefined ? [] : [{ card_name }],
      });
      made.push("createCardholder");
      ({ card_holder_id } = await createCardholder(input.cardholder, { account, key }));
    } else {
      ({ card_holder_id } = input);
    }

    setCurrentDetails(`Waiting for the identity check of the cardholder ${card_holder_id}.`);
    await awaitVerification({ card_holder_id }, { account, within: options.verifyWithin });

    setCurrentDetails(`Waiting until the ${currency} balance holds ${card_limit}.`);
    const needed = { amount: card_limit, currency };
    const { balance_id } = await awaitFunds(needed, { account, within: options.fundWithin });

    setCurrentDetails("Issuing the card.");
    made.push("createCard");
    const ordered = { card_holder_id, balance_id, product_code, card_limit };
    const card = await issueCard(ordered, { account, key });
    if (card_name !== undefined) await confirmCard(card, { card_name }, { account, key });
    const { card_id, card_status = null } = card;
    setCurrentDetails(`The card ${card_id} was issued.`);
    return { card_holder_id, card_id, card_status, balance_id, card_limit };
  } catch (error) {
    if (options.onFailure === "compensate") {
      for (const step of made.toReversed()) await undo(step, { key });
    }
    throw error;
  }
}
