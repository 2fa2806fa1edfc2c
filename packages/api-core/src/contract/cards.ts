import * as Schema from "effect/Schema";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { confirmed, enveloped, Refusal } from "./envelope.ts";
import {
  Amount,
  AmountAsNumber,
  answeredId,
  answeredOrUnset,
  text,
  UniqueRequestId,
} from "./fields.ts";
import { Idempotency } from "./operation-facts.ts";
import { SignedIn } from "./signed-in.ts";

/** The one currency of cards and of the balance that funds them. */
export const CARD_CURRENCY = "USD";

/** Body of createCard. `card_limit` is the initial recharge: a decimal string here, a number on the wire. */
const CreateCard = Schema.Struct({
  card_holder_id: text(),
  product_code: text(),
  balance_id: text(),
  card_limit: AmountAsNumber,
  unique_request_id: UniqueRequestId,
});

/** Answer of createCard. */
export const Card = Schema.Struct({
  card_id: answeredId,
  card_status: answeredOrUnset,
  unique_request_id: answeredOrUnset,
});

/** A card as the service shows it. */
export type Card = typeof Card.Type;

/** Body of withdrawFromCard. */
const WithdrawFromCard = Schema.Struct({
  card_id: text(),
  card_number: text(),
  amount: Amount,
  unique_request_id: UniqueRequestId,
});

/** Answer of withdrawFromCard: the request again. */
const CardWithdrawal = Schema.Struct({
  card_id: answeredId,
  card_number: answeredOrUnset,
  amount: answeredOrUnset,
  unique_request_id: answeredOrUnset,
});

const CardById = Schema.Struct({ card_id: text() });

/** Source: service interface, "Cards". */
export const cards = HttpApiGroup.make("cards", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createCard", "/api/v1/cards/create", {
      payload: CreateCard,
      success: enveloped(Card),
      error: Refusal,
    }).annotate(Idempotency, "keyed"),
    HttpApiEndpoint.post("withdrawFromCard", "/api/v1/cards/withdraw", {
      payload: WithdrawFromCard,
      success: enveloped(CardWithdrawal),
      error: Refusal,
    }).annotate(Idempotency, "keyed"),
    HttpApiEndpoint.post("updateCard", "/api/v1/cards/update", {
      payload: Schema.Struct({ card_id: text(), card_name: text() }),
      success: confirmed,
      error: Refusal,
    }).annotate(Idempotency, "idempotent"),
    HttpApiEndpoint.post("cancelCard", "/api/v1/cards/cancel", {
      payload: CardById,
      success: confirmed,
      error: Refusal,
    }).annotate(Idempotency, "idempotent"),
    HttpApiEndpoint.post("freezeCard", "/api/v1/cards/freeze", {
      payload: CardById,
      success: confirmed,
      error: Refusal,
    }).annotate(Idempotency, "idempotent"),
  )
  .middleware(SignedIn);
