import * as Schema from "effect/Schema";
import { post } from "effect/http-api/HttpApiEndpoint";
import { answer, answeredId, answeredOrUnset, confirmed, enveloped } from "./answers.ts";
import { Amount, AmountAsNumber, GivenId, text, UniqueRequestId } from "./fields.ts";
import { endpointGroup, Idempotency, SignedIn } from "./operation-facts.ts";
import { type Named, named } from "./rules.ts";

/** The currency of all cards and of the balance that funds them. */
export const CARD_CURRENCY = "USD";

/** Fields of createCard. */
export interface CreateCardInput extends Named<typeof CreateCardInputSchema> {}
const CreateCardInputSchema = named<CreateCardInput>()({
  /** The owner of the card: the id that createCardholder returned. */
  card_holder_id: GivenId,
  /** Code of the card product. */
  product_code: text(),
  /** Balance in USD that funds the card: the id that retrieveBalance answers. */
  balance_id: GivenId,
  /** Initial recharge in USD: a decimal string, zero or above, such as `"100.00"`. */
  card_limit: AmountAsNumber,
  /** Your own id of this card, 1 to 36 characters: the service ignores a request that repeats one. */
  unique_request_id: UniqueRequestId,
});

/** A card as the service shows it. */
export interface Card extends Named<typeof CardSchema> {}
const CardSchema = named<Card>()({
  /** The service's id of the card. */
  card_id: answeredId,
  /** State in the service's own words, such as `pending`; the document does not list them. */
  card_status: answeredOrUnset,
  /** The id that was sent. */
  unique_request_id: answeredOrUnset,
});

const byIdFields = {
  /** The card: the id that createCard answered. */
  card_id: GivenId,
};

/** Fields of withdrawFromCard. */
export interface WithdrawFromCardInput extends Named<typeof WithdrawFromCardInputSchema> {}
const WithdrawFromCardInputSchema = named<WithdrawFromCardInput>()({
  ...byIdFields,
  /** The card's number. */
  card_number: text(),
  /** Amount to withdraw, in USD: a decimal string above zero, such as `"12.50"`. */
  amount: Amount,
  /** Your own id of this withdrawal, 1 to 36 characters: the service ignores a request that repeats one. */
  unique_request_id: UniqueRequestId,
});

/** A withdrawal from a card: what was requested. */
export interface CardWithdrawal extends Named<typeof CardWithdrawalSchema> {}
const CardWithdrawalSchema = named<CardWithdrawal>()({
  /** The card's id. */
  card_id: answeredId,
  /** The card's number. */
  card_number: answeredOrUnset,
  /** Amount of the withdrawal, in USD: a decimal string. */
  amount: answeredOrUnset,
  /** The id that was sent. */
  unique_request_id: answeredOrUnset,
});

/** Fields of updateCard. */
export interface UpdateCardInput extends Named<typeof UpdateCardInputSchema> {}
const UpdateCardInputSchema = named<UpdateCardInput>()({
  ...byIdFields,
  /** The card's new name. */
  card_name: text(),
});

/** Source: service interface, "Cards". */
export const cardOperations = {
  /**
   * Issue a card to a verified cardholder and recharge it by `card_limit` USD, a decimal string, from a USD
   * balance.
   *
   * Idempotency class `keyed`: the service ignores a repeated `unique_request_id`. After a lost answer send
   * the same fields with the same one, at most 36 characters, and never with another.
   *
   * @example
   * const { card_id } = await client.createCard({
   *   card_holder_id,
   *   product_code: "prepaid-usd",
   *   balance_id,
   *   card_limit: "100.00",
   *   unique_request_id: "card-of-ada",
   * });
   */
  createCard: post("createCard", "/cards/create", {
    payload: CreateCardInputSchema,
    success: enveloped(answer(CardSchema)),
  }).annotate(Idempotency, "keyed"),
  /**
   * Withdraw `amount` USD, a decimal string, from the balance of a card.
   *
   * Idempotency class `keyed`: the service ignores a repeated `unique_request_id`. After a lost answer send
   * the same fields with the same one, at most 36 characters, and never with another.
   *
   * @example
   * await client.withdrawFromCard({
   *   card_id,
   *   card_number,
   *   amount: "5.00",
   *   unique_request_id: "withdrawal-7",
   * });
   */
  withdrawFromCard: post("withdrawFromCard", "/cards/withdraw", {
    payload: WithdrawFromCardInputSchema,
    success: enveloped(answer(CardWithdrawalSchema)),
  }).annotate(Idempotency, "keyed"),
  /**
   * Rename a card.
   *
   * Idempotency class `idempotent`: sent twice it leaves the same name; it is sent again after a lost answer.
   *
   * @example
   * await client.updateCard({ card_id, card_name: "Travel" });
   */
  updateCard: post("updateCard", "/cards/update", {
    payload: UpdateCardInputSchema,
    success: confirmed,
  }).annotate(Idempotency, "idempotent"),
  /**
   * Cancel a card; what remains on it is refunded to the account's balance of its currency.
   *
   * Idempotency class `idempotent`: sent twice it leaves the card cancelled; it is sent again after a lost
   * answer.
   *
   * @example
   * await client.cancelCard({ card_id });
   */
  cancelCard: post("cancelCard", "/cards/cancel", {
    payload: Schema.Struct(byIdFields),
    success: confirmed,
  }).annotate(Idempotency, "idempotent"),
  /**
   * Freeze a card: no transactions can be made on it.
   *
   * Idempotency class `idempotent`: sent twice it leaves the card frozen; it is sent again after a lost answer.
   *
   * @example
   * await client.freezeCard({ card_id });
   */
  freezeCard: post("freezeCard", "/cards/freeze", {
    payload: Schema.Struct(byIdFields),
    success: confirmed,
  }).annotate(Idempotency, "idempotent"),
};

/** The cards of the service. */
export const cards = endpointGroup("cards", cardOperations).middleware(SignedIn);
