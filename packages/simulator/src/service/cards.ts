import { formatAmount } from "@durable-payments/api-core/decimal";
import { CARD_CURRENCY } from "@durable-payments/api-core/contract";
import { BigDecimal, Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { randomInt, randomUUID } from "node:crypto";
import { Faults } from "../faults/faults.ts";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import { parseAmount } from "../ledger/request-amounts.ts";
import { move } from "../ledger/movements.ts";
import type { RecordOf } from "../ledger/records.ts";
import { Settings } from "../settings.ts";
import { emptyAnswer, refusalAnswer } from "./answers.ts";
import { cardholderOf } from "./cardholders.ts";
import { confirm } from "./confirm.ts";
import { refuse } from "./refuse.ts";
import { SimulatedApi } from "./simulated-api.ts";

type CardRecord = RecordOf<"cards">;

const cardOf = (unit: Unit, id: string): CardRecord =>
  unit.get("cards", id) ?? refuse("Card not found");

const put = (unit: Unit, card: CardRecord): void =>
  unit.put("cards", card.card_id, { ...card, update_time: unit.time });

const moveFor = (unit: Unit, card: CardRecord, amount: BigDecimal.BigDecimal): void => {
  move(unit, {
    currency: CARD_CURRENCY,
    amount,
    type: BigDecimal.isNegative(amount) ? "card charge" : "transfer",
    status: "completed",
    reference_id: card.card_id,
    short_reference_id: "",
  });
};

interface CreateCard {
  readonly card_holder_id: string;
  readonly product_code: string;
  readonly balance_id: string;
  readonly card_limit: string;
  readonly unique_request_id: string;
}

const createCard = (unit: Unit, request: CreateCard) => {
  const cardholder = cardholderOf(unit, request.card_holder_id);
  if (cardholder.removed) refuse("Cardholder not found");
  if (cardholder.card_holder_status !== "SUCCESS") {
    refuse(`Cardholder is not verified: ${cardholder.card_holder_status}`);
  }
  const balance = unit.all("balances").find(({ balance_id }) => balance_id === request.balance_id);
  if (balance?.currency !== CARD_CURRENCY)
    refuse(`balance_id must be that of a ${CARD_CURRENCY} balance`);
  const limit = parseAmount("card_limit", request.card_limit, CARD_CURRENCY);
  const card: CardRecord = {
    ...request,
    card_id: randomUUID(),
    card_number: `400000${String(randomInt(10 ** 10)).padStart(10, "0")}`,
    card_name: "",
    card_status: "pending",
    card_limit: formatAmount(limit, CARD_CURRENCY),
    available_balance: formatAmount(limit, CARD_CURRENCY),
    create_time: unit.time,
    update_time: unit.time,
  };
  moveFor(unit, card, BigDecimal.negate(limit));
  put(unit, card);
  const { card_id, card_status, unique_request_id } = card;
  return { card_id, card_status, unique_request_id };
};

interface Withdrawal {
  readonly card_id: string;
  readonly card_number: string;
  readonly amount: string;
  readonly unique_request_id: string;
}

const withdraw = (unit: Unit, request: Withdrawal) => {
  const card = cardOf(unit, request.card_id);
  if (card.card_number !== request.card_number) refuse("card_number is not that of the card");
  if (card.card_status === "frozen") refuse("Card is frozen");
  if (card.card_status === "cancelled") refuse("Card is cancelled");
  const amount = parseAmount("amount", request.amount, CARD_CURRENCY);
  const left = BigDecimal.subtract(BigDecimal.fromStringUnsafe(card.available_balance), amount);
  if (BigDecimal.isNegative(left)) refuse("Insufficient card balance");
  moveFor(unit, card, amount);
  put(unit, { ...card, available_balance: formatAmount(left, CARD_CURRENCY) });
  const { card_id, card_number, unique_request_id } = request;
  return { amount: request.amount, card_id, card_number, unique_request_id };
};

const rename = (unit: Unit, id: string, card_name: string) => {
  const card = cardOf(unit, id);
  if (card.card_status === "cancelled") refuse("Card is cancelled");
  put(unit, { ...card, card_name });
};

const freeze = (unit: Unit, id: string) => {
  const card = cardOf(unit, id);
  if (card.card_status === "cancelled") refuse("Card is cancelled");
  if (card.card_status === "frozen") refuse("Card is already frozen");
  put(unit, { ...card, card_status: "frozen" });
};

const cancel = (unit: Unit, id: string) => {
  const card = cardOf(unit, id);
  if (card.card_status === "cancelled") refuse("Card is already cancelled");
  const left = BigDecimal.fromStringUnsafe(card.available_balance);
  if (BigDecimal.isPositive(left)) moveFor(unit, card, left);
  put(unit, {
    ...card,
    card_status: "cancelled",
    available_balance: formatAmount(BigDecimal.fromBigInt(0n), CARD_CURRENCY),
  });
};

/** Does the work of a key once; a repeat finds the data of the first time. */
const once = <Data extends Readonly<Record<string, string>>>(
  unit: Unit,
  operation: string,
  key: string,
  work: () => Data,
): { readonly data: Data; readonly repeated: boolean } => {
  const id = `${operation} ${key}`;
  const used = unit.get("usedKeys", id);
  // The key holds the operation's name, so it was this operation's data.
  if (used !== undefined) return { data: used.answer as Data, repeated: true };
  const data = work();
  unit.put("usedKeys", id, { answer: data });
  return { data, repeated: false };
};

/** Operations of the group "cards". */
export const CardHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "cards",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    const settings = yield* Settings;
    const faults = yield* Faults;

    const answerOnce = Effect.fnUntraced(function* <Data extends Readonly<Record<string, string>>>(
      operation: string,
      key: string,
      work: (unit: Unit) => Data,
    ) {
      const { data, repeated } = yield* store.transact((unit) =>
        once(unit, operation, key, () => work(unit)),
      );
      if (!repeated) return data;
      const fault = yield* faults.strikeRepeat(operation);
      switch (fault?.kind ?? `repeated-key-${settings.repeatedKey}`) {
        case "repeated-key-empty":
          return emptyAnswer;
        case "repeated-key-refusal":
          return refusalAnswer("unique_request_id was used before", { status: 400 });
        default:
          return data;
      }
    });

    return handlers.handleAll({
      createCard: ({ payload }) =>
        answerOnce("createCard", payload.unique_request_id, (unit) => createCard(unit, payload)),
      withdrawFromCard: ({ payload }) =>
        answerOnce("withdrawFromCard", payload.unique_request_id, (unit) =>
          withdraw(unit, payload),
        ),
      updateCard: ({ payload }) =>
        confirm(store, (unit) => rename(unit, payload.card_id, payload.card_name)),
      cancelCard: ({ payload }) => confirm(store, (unit) => cancel(unit, payload.card_id)),
      freezeCard: ({ payload }) => confirm(store, (unit) => freeze(unit, payload.card_id)),
    });
  }),
);
