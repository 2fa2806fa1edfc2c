import type { Card, Input } from "@durable-payments/api-core";
import { STEP, intentOf } from "@durable-payments/protocol";
import { activities } from "../run/activities.ts";
import type { Run } from "../run/run.ts";
import { sendAndReconcile } from "./send.ts";

/** A card to issue. */
export interface CardToIssue {
  readonly card_holder_id: string;
  readonly balance_id: string;
  readonly product_code: string;
  /** Initial recharge, a decimal string in USD, taken from the balance. */
  readonly card_limit: string;
}

/** A card as the service answered it, with the key that was sent; unknown where a person found it. */
export interface IssuedCard extends Card {
  readonly sentKey?: string;
  /** The initial recharge with which it was issued. */
  readonly card_limit: string;
}

/**
 * Issue a card and fund it with `card_limit`, exactly once: every send carries the same key,
 * derived from the run and the step, and the service ignores repeats of a key. Cards have no list:
 * where the answer to a repeat names no card, a person is asked.
 *
 * @param card its cardholder, balance and product, and the initial recharge as a decimal string in USD.
 * @param step name of the step, where a run issues several cards.
 * @returns the card as the service answered it, with the key that was sent.
 * @throws Refused where the service says no, unless the run asks a person then.
 * @throws Abandoned where a person ends the run.
 * @example
 * ```ts
 * const card = await issueCard(run, { card_holder_id, balance_id, product_code, card_limit: "50" });
 * ```
 */
export const issueCard = (
  run: Run,
  card: CardToIssue,
  step: string = STEP.issueCard,
): Promise<IssuedCard> =>
  run.step(step, `issuing the card with ${card.card_limit} USD`, () =>
    sendAndReconcile<Input<"createCard">, IssuedCard>(run, {
      step,
      operation: "createCard",
      // The key is the step's: see isKeyed.
      request: { ...card, unique_request_id: "" },
      intent: ({ card_holder_id, card_limit, product_code }) =>
        intentOf("createCard", [card_holder_id, product_code, card_limit]),
      isKeyed: true,
      send: (request, intent) => {
        const { card_limit, unique_request_id } = request;
        return activities.createCard
          .executeWithOptions({ summary: `Issue the card with ${card_limit} USD` }, [
            request,
            intent,
          ])
          .then((issued) => ({ ...issued, sentKey: unique_request_id, card_limit }));
      },
      whenLost: "resend",
      shown: (request) => ({ ...request }),
      idsWanted: ["card_id"],
      fromIds: async ({ card_id = "" }, { card_limit }) => ({ card_id, card_limit }),
      ids: ({ card_id }) => ({ card_id }),
    }),
  );

/**
 * Confirm that a card was issued, as far as the service shows it: by the answer's status and key,
 * and by naming the card, where a name is given.
 *
 * @returns the card as it was answered.
 * @throws Refused where the card was not issued after all.
 */
export const confirmCard = (
  run: Run,
  { card, card_name }: { readonly card: IssuedCard; readonly card_name?: string | undefined },
): Promise<Card> =>
  run.step(STEP.confirmCard, `confirming the card ${card.card_id}`, () =>
    activities.confirmCard.executeWithOptions({ summary: `Confirm the card ${card.card_id}` }, [
      {
        card,
        ...(card.sentKey !== undefined && { unique_request_id: card.sentKey }),
        ...(card_name !== undefined && { card_name }),
      },
    ]),
  );

/** Cancel a card: its remaining balance goes back to the USD balance. */
export const cancelCard = (card_id: string): Promise<void> =>
  activities.cancelCard.executeWithOptions(
    { summary: `Cancel the card ${card_id}`, scheduleToCloseTimeout: "1 day" },
    [{ card_id }],
  );
