import type { Input } from "@durable-payments/api-core";
import type { Duration } from "../run/duration.ts";
import type { PollInterval } from "../run/pace.ts";
import { beginRun, type Run } from "../run/run.ts";
import { awaitFunds, ensureBalance } from "../steps/balance.ts";
import { cancelCard, confirmCard, issueCard } from "../steps/card.ts";
import { awaitVerification, createCardholder, removeCardholder } from "../steps/cardholder.ts";
import { checkRequests } from "../steps/check-requests.ts";

/** Cards and the balance that funds them are in USD only. */
const CURRENCY = "USD";

/** A card for an existing cardholder, or for one that is created first. */
export type OnboardCardholderInput = (
  | { readonly cardholder: Input<"createCardholder"> }
  | { readonly card_holder_id: string }
) & {
  readonly card: {
    readonly product_code: string;
    /** Initial recharge in USD, a decimal string; or a number, as the service's document has it. */
    readonly card_limit: string | number;
    /** Names the card, which also shows that it exists. */
    readonly card_name?: string;
  };
  readonly options?: OnboardCardholderOptions;
};

/** What an onboarding may be told. */
export interface OnboardCardholderOptions {
  /** `compensate`: when the run fails, cancel the card and remove the cardholder that it created. */
  readonly onFailure?: "keep" | "compensate";
  /** `ask`: when the service refuses a request, a person may amend it, and the run goes on. */
  readonly onRefusal?: "fail" | "ask";
  /** Longest time to wait for the identity check, default 7 days. */
  readonly verifyWithin?: Duration;
  /** Longest time to wait for funds, default 30 days. */
  readonly fundWithin?: Duration;
  /**
   * Time between two looks of the run's own while waiting: default an hour to six for the identity
   * check, a second to 15 minutes for funds.
   */
  readonly pollInterval?: PollInterval;
}

/** What was issued, and to whom. */
export interface OnboardCardholderResult {
  readonly card_holder_id: string;
  readonly card_id: string;
  readonly card_status: string | null;
  readonly balance_id: string;
  readonly card_limit: string;
}

const planned = (input: OnboardCardholderInput) => {
  const { card_name, product_code } = input.card;
  const card_limit = String(input.card.card_limit);
  const card = {
    operation: "createCard",
    input: { card_limit, product_code },
    later: ["card_holder_id", "balance_id", "unique_request_id"],
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

const takeOrCreateCardholder = (
  run: Run,
  input: OnboardCardholderInput,
): string | Promise<string> => {
  if ("card_holder_id" in input) {
    run.known({ card_holder_id: input.card_holder_id });
    return input.card_holder_id;
  }
  if (input.options?.onFailure === "compensate") {
    run.onFailure({
      what: "remove the cardholder",
      how: async () => {
        const { card_holder_id } = run.progress.ids;
        if (card_holder_id !== undefined) return removeCardholder(card_holder_id);
        if (run.isInDoubt("createCardholder")) {
          throw new Error("a cardholder may have been created, and its id is not known");
        }
      },
    });
  }
  return createCardholder(run, input.cardholder);
};

const waitingFor = (
  within: "verifyWithin" | "fundWithin",
  { options: { pollInterval, [within]: longest } = {} }: OnboardCardholderInput,
) => ({
  ...(longest !== undefined && { within: longest }),
  ...(pollInterval && { pollInterval }),
});

const cancelIssuedCard = async (run: Run): Promise<void> => {
  const { card_id } = run.progress.ids;
  if (card_id !== undefined) return cancelCard(card_id);
  if (run.isInDoubt("issueCard")) {
    throw new Error("a card may have been issued, and its id is not known");
  }
};

/**
 * Creates or takes the cardholder, awaits the identity check, makes sure that the USD balance can
 * pay the card's initial recharge, issues the card with it, and confirms the card.
 */
export function onboardCardholder(input: OnboardCardholderInput): Promise<OnboardCardholderResult> {
  const { onFailure, onRefusal } = input.options ?? {};
  const run = beginRun({ ...(onRefusal && { onRefusal }) });
  return run.conduct(async () => {
    await run.withInput(input, (now) => checkRequests(run, planned(now)));
    const card_holder_id = await run.withInput(input, (now) => takeOrCreateCardholder(run, now));
    await run.withInput(input, (now) =>
      awaitVerification(run, card_holder_id, waitingFor("verifyWithin", now)),
    );
    const { balance_id } = await ensureBalance(run, CURRENCY);
    await run.withInput(input, (now) => {
      // The funds of a card that is known to be issued have been taken from the balance.
      if (run.isKnownBefore("issueCard")) return undefined;
      const amount = String(now.card.card_limit);
      return awaitFunds(run, { amount, currency: CURRENCY }, waitingFor("fundWithin", now));
    });
    if (onFailure === "compensate") {
      run.onFailure({ what: "cancel the card", how: () => cancelIssuedCard(run) });
    }
    const card = await run.withInput(input, ({ card: { card_limit, product_code } }) =>
      issueCard(run, {
        card_holder_id,
        balance_id,
        product_code,
        card_limit: String(card_limit),
      }),
    );
    const { card_id, card_status = null } = await run.withInput(input, ({ card: { card_name } }) =>
      confirmCard(run, { card, card_name }),
    );
    return { card_holder_id, card_id, card_status, balance_id, card_limit: card.card_limit };
  });
}
