import type { Card, CreateCardInput } from "@durable-payments/api-core";
import { STEP, intentOf, textAt } from "@durable-payments/protocol";
import { activities } from "../run/activities.ts";
import { expectReadable, object } from "../run/input-faults.ts";
import { type Run, stateOf } from "../run/run.ts";
import { expectUnowned } from "./ownership.ts";
import { sendAndReconcile } from "./send.ts";

/** A card to issue. */
export interface CardToIssue {
  /** Who owns the card: a verified cardholder. */
  readonly card_holder_id: string;
  /** The USD balance that funds it. */
  readonly balance_id: string;
  /** Code of the card product. */
  readonly product_code: string;
  /** Initial recharge, a decimal string in USD, taken from the balance. */
  readonly card_limit: string;
}

/** A card as the service answered it, with the key that was sent; unknown where a person found it. */
export interface IssuedCard extends Card {
  /** The `unique_request_id` that was sent. */
  readonly sentKey?: string;
  /** The initial recharge with which it was issued. */
  readonly card_limit: string;
  /** Who gave its id, where a person did: the service has no read of a card to confirm it by. */
  readonly givenBy?: string;
}

/**
 * Issue a card and fund it with `card_limit`, exactly once: every send carries the same key,
 * derived from the run and the step, and the service ignores repeats of a key. Cards have no list:
 * where the answer to a repeat names no card, a person is asked.
 *
 * @param card its cardholder, balance and product, and the initial recharge as a decimal string in USD.
 * @param step name of the step, where a run issues several cards.
 * @param card_name the name that the card gets: one whose id a person gives is named at once, so that an id
 *   that the service does not know is asked for again. Nothing else of the service shows a card.
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
  card_name?: string,
): Promise<IssuedCard> =>
  run.step(step, `issuing the card with ${textAt(card, "card_limit") ?? "?"} USD`, async () => {
    expectReadable(card, step, object());
    return sendAndReconcile<CreateCardInput, IssuedCard>(run, {
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
      fromIds: async ({ card_id = "" }, { card_limit }, _, givenBy) => {
        if (givenBy === undefined) return { card_id, card_limit };
        if (card_name !== undefined && stateOf(run).goesBy(GIVEN_CARDS)) {
          // Nobody else's card is renamed.
          await expectUnowned(stateOf(run), step, { card_id });
          await confirm({ card: { card_id }, card_name });
        }
        return { card_id, card_limit, givenBy };
      },
      ids: ({ card_id }) => ({ card_id }),
    });
  });

/** Histories of before have cards of people that were not named before they were taken. */
const GIVEN_CARDS = "a card that a person gives is named before it is taken";

const confirm = (answered: {
  readonly card: Card;
  readonly unique_request_id?: string;
  readonly card_name?: string;
}): Promise<Card> =>
  activities.confirmCard.executeWithOptions(
    { summary: `Confirm the card ${answered.card.card_id}` },
    [answered],
  );

/**
 * Confirm that a card was issued, as far as the service shows it: by the answer's status and key,
 * and by naming the card, where a name is given. That the service has not confirmed a card whose id a
 * person gave is written into the audit trail.
 *
 * @returns the card as it was answered.
 * @throws Refused where the card was not issued after all.
 */
export const confirmCard = (
  run: Run,
  { card, card_name }: { readonly card: IssuedCard; readonly card_name?: string | undefined },
): Promise<Card> =>
  run.step(STEP.confirmCard, `confirming the card ${card.card_id}`, () => {
    const reason = notConfirmed(card, card_name);
    if (reason !== undefined) {
      const { card_id } = card;
      const detail = { card_id, reason };
      const entry = { who: "run", step: STEP.confirmCard, what: "not confirmed", detail } as const;
      stateOf(run).audit.add(entry);
    }
    const { givenBy: _, ...answered } = card;
    return confirm({
      card: answered,
      ...(card.sentKey !== undefined && { unique_request_id: card.sentKey }),
      ...(card_name !== undefined && { card_name }),
    });
  });

/**
 * Say what the service has not confirmed of a card.
 *
 * @param card as {@link issueCard} returned it.
 * @param card_name the name that it was given, where it was given one.
 * @returns undefined where the service itself answered with the card.
 */
export const notConfirmed = (
  { card_id, givenBy }: IssuedCard,
  card_name: string | undefined,
): string | undefined => {
  if (givenBy === undefined) return undefined;
  const shown =
    card_name === undefined
      ? "not confirmed by the service"
      : "the service has taken a name for it, and does not show whose it is";
  return `card_id ${card_id} is as given by ${givenBy}: ${shown}`;
};

/** Cancel a card: its remaining balance goes back to the USD balance. */
export const cancelCard = (card_id: string): Promise<void> =>
  activities.cancelCard.executeWithOptions(
    { summary: `Cancel the card ${card_id}`, scheduleToCloseTimeout: "1 day" },
    [{ card_id }],
  );
