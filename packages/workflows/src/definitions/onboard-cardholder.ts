import {
  type OnboardCardholderInput,
  type OnboardCardholderResult,
  STEP,
} from "@durable-payments/protocol";
import {
  amount,
  duration,
  nullable,
  object,
  optional,
  optionsOf,
  refuseUnreadable,
  text,
} from "../run/input-faults.ts";
import { accountOf, beginRun, type Run, stateOf } from "../run/run.ts";
import { awaitApproval } from "../steps/approval.ts";
import { awaitFunds, ensureBalance } from "../steps/balance.ts";
import { cancelCard, confirmCard, issueCard, notConfirmed } from "../steps/card.ts";
import { awaitVerification, createCardholder, removeCardholder } from "../steps/cardholder.ts";
import { checkRequests } from "../steps/check-requests.ts";
import { isMadeBefore } from "../steps/send.ts";

/** Cards and the balance that funds them are in USD only. */
const CURRENCY = "USD";

const readable = object({
  card: object({ card_limit: amount, card_name: optional(text) }),
  cardholder: optional(object()),
  card_holder_id: optional(text),
  options: nullable(
    object({
      verifyWithin: optional(duration),
      fundWithin: optional(duration),
      pollInterval: nullable(object({ min: optional(duration), max: optional(duration) })),
    }),
  ),
});

const requestsOf = (input: OnboardCardholderInput) => {
  const { card_name, product_code } = input.card;
  const card_limit = String(input.card.card_limit);
  const later = ["balance_id", "unique_request_id"];
  const isNew = "cardholder" in input;
  const card = {
    operation: "createCard",
    input: {
      card_limit,
      product_code,
      ...(!isNew && { card_holder_id: input.card_holder_id }),
    },
    later: isNew ? ["card_holder_id", ...later] : later,
    at: "card",
  } as const;
  const name = {
    operation: "updateCard",
    input: { card_name },
    later: ["card_id"],
    at: "card",
  } as const;
  const cardholder =
    "cardholder" in input
      ? [{ operation: "createCardholder", input: input.cardholder, at: "cardholder" } as const]
      : [];
  return [...cardholder, card, ...(card_name === undefined ? [] : [name])];
};

const waitOptions = (
  within: "verifyWithin" | "fundWithin",
  { options: { pollInterval, [within]: longest } = {} }: OnboardCardholderInput,
) => ({
  ...(longest !== undefined && { within: longest }),
  ...(pollInterval && { pollInterval }),
});

/** The input, once a second person has approved the card where the worker wants that: anew where it was amended. */
const approvedInput = async (run: Run<OnboardCardholderInput>): Promise<OnboardCardholderInput> => {
  const input = await run.input();
  if (!stateOf(run).approvals.isWanted) return input;
  const { options: how, ...payload } = input;
  const amount = String(input.card.card_limit);
  const asked = await awaitApproval(
    run,
    {},
    {
      amount,
      currency: CURRENCY,
      payload,
      how,
      shown: {
        ...accountOf(input),
        amount,
        currency: CURRENCY,
        card: input.card.product_code,
        to: ownerOf(input),
      },
      requests: requestsOf(input),
    },
  );
  return asked ? await approvedInput(run) : input;
};

const ownerOf = (input: OnboardCardholderInput): string =>
  "cardholder" in input
    ? `${input.cardholder.first_name} ${input.cardholder.last_name}`
    : input.card_holder_id;

const removeCreatedCardholder = async (run: Run): Promise<void> => {
  const { card_holder_id } = run.progress.ids;
  if (card_holder_id !== undefined) return removeCardholder(card_holder_id);
  if (run.isInDoubt(STEP.createCardholder)) {
    throw new Error("a cardholder may have been created, and its id is not known");
  }
};

const cancelIssuedCard = async (run: Run): Promise<void> => {
  const { card_id } = run.progress.ids;
  if (card_id !== undefined) return cancelCard(card_id);
  if (run.isInDoubt(STEP.issueCard)) {
    throw new Error("a card may have been issued, and its id is not known");
  }
};

/**
 * Create or take the cardholder, await the identity check, make sure that the USD balance can pay the
 * card's initial recharge, issue the card with it, and confirm the card.
 */
export function onboardCardholder(input: OnboardCardholderInput): Promise<OnboardCardholderResult> {
  const { onFailure = "keep", onRefusal } = optionsOf(input);
  const run = beginRun({ input, ...accountOf(input), ...(onRefusal && { onRefusal }) });
  return run.execute(async () => {
    const asGiven = await run.input();
    await refuseUnreadable(run, asGiven, readable);
    await checkRequests(run, requestsOf(asGiven));

    const given = await approvedInput(run);
    let card_holder_id: string;
    if ("cardholder" in given) {
      if (onFailure === "compensate") {
        run.onFailure({ what: "remove the cardholder", how: () => removeCreatedCardholder(run) });
      }
      card_holder_id = await createCardholder(run, given.cardholder);
    } else {
      ({ card_holder_id } = given);
      run.known({ card_holder_id });
    }
    await awaitVerification(run, card_holder_id, waitOptions("verifyWithin", await run.input()));

    const { balance_id } = await ensureBalance(run, CURRENCY);
    // The funds of a card that is known to be issued have been taken from the balance.
    if (!(await isMadeBefore(run, STEP.issueCard))) {
      const now = await run.input();
      const amount = String(now.card.card_limit);
      await awaitFunds(run, { amount, currency: CURRENCY }, waitOptions("fundWithin", now));
    }

    if (onFailure === "compensate") {
      run.onFailure({ what: "cancel the card", how: () => cancelIssuedCard(run) });
    }
    const { card_limit, card_name, product_code } = (await run.input()).card;
    const card = await issueCard(
      run,
      { card_holder_id, balance_id, product_code, card_limit: String(card_limit) },
      STEP.issueCard,
      card_name,
    );

    const named = (await run.input()).card.card_name;
    const { card_id, card_status = null } = await confirmCard(run, { card, card_name: named });
    const not_confirmed = notConfirmed(card, named);
    return {
      card_holder_id,
      card_id,
      card_status,
      balance_id,
      card_limit: card.card_limit,
      ...(not_confirmed !== undefined && { not_confirmed }),
    };
  });
}
