import type { OnboardCardholderInput, OnboardCardholderResult } from "@durable-payments/protocol";
import { setCurrentDetails } from "@temporalio/workflow";
import {
  amount,
  duration,
  exactlyOne,
  object,
  oneOf,
  optional,
  refuseFaults,
  request,
  text,
} from "../run/input-faults.ts";
import { checkRequests, confirmCard, createCardholder, issueCard } from "../steps/operations.ts";
import { awaitFunds, awaitVerification } from "../steps/waits.ts";
import { undo } from "../steps/write.ts";

const readable = exactlyOne(
  "cardholder",
  "card_holder_id",
  object({
    cardholder: optional(request),
    card_holder_id: optional(text),
    card: object({ product_code: text, card_limit: amount, card_name: optional(text) }),
    account: optional(text),
    options: optional(
      object({
        onFailure: optional(oneOf("keep", "compensate")),
        verifyWithin: optional(duration),
        fundWithin: optional(duration),
      }),
    ),
  }),
);

/** Cards, and the balance that funds them, are in USD only. */
const currency = "USD";

/**
 * Creates or takes the cardholder, waits for the identity check and for the funds, and issues the card.
 *
 * @throws InvalidRequest, Refused, NotVerified, NotFunded, and what else `issueCard` throws.
 */
export async function onboardCardholder(
  input: OnboardCardholderInput,
): Promise<OnboardCardholderResult> {
  refuseFaults(input, readable);
  const { account, options = {} } = input;
  const by = account === undefined ? {} : { account };
  const { card_name, product_code } = input.card;
  const card_limit = String(input.card.card_limit);
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
      ({ card_holder_id } = await createCardholder(input.cardholder, by));
    } else {
      ({ card_holder_id } = input);
    }

    setCurrentDetails(`Waiting for the identity check of the cardholder ${card_holder_id}.`);
    const { fundWithin, verifyWithin } = options;
    await awaitVerification(
      { card_holder_id },
      { ...by, ...(verifyWithin && { within: verifyWithin }) },
    );

    setCurrentDetails(`Waiting until the ${currency} balance holds ${card_limit}.`);
    const needed = { amount: card_limit, currency };
    const { balance_id } = await awaitFunds(needed, {
      ...by,
      ...(fundWithin && { within: fundWithin }),
    });

    setCurrentDetails("Issuing the card.");
    made.push("createCard");
    const card = await issueCard({ card_holder_id, balance_id, product_code, card_limit }, by);
    if (card_name !== undefined) await confirmCard(card, { card_name }, by);
    const { card_id, card_status = null } = card;
    setCurrentDetails(`The card ${card_id} was issued.`);
    return { card_holder_id, card_id, card_status, balance_id, card_limit };
  } catch (error) {
    if (options.onFailure === "compensate") {
      for (const step of made.toReversed()) await undo(step);
    }
    throw error;
  }
}
