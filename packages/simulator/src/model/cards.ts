import { CARD_CURRENCY } from "@durable-payments/client/contract";
import { formatAmount } from "@durable-payments/client/decimal";
import type {
  Cardholder,
  CreateCardholderInput,
  CreateCardInput,
  Input,
  ListCardholdersInput,
  UpdateCardInput,
  WithdrawFromCardInput,
} from "@durable-payments/client/effect";
import { BigDecimal } from "effect";
import { randomInt, randomUUID } from "node:crypto";
import { fits, pageOf } from "./lists.ts";
import { move, parseAmount, ZERO } from "./money.ts";
import type { RecordOf } from "./records.ts";
import { refuse, type Unit } from "./unit.ts";

type CardRecord = RecordOf<"cards">;
type CardholderRecord = RecordOf<"cardholders">;

/** The outcomes of an identity check, by the number that filters use. */
const STATUSES = { "-1": "FAILED", "0": "PENDING", "1": "SUCCESS", "2": "INCOMPLETE" } as const;

/** The outcomes of an identity check. */
export const VERIFICATIONS = ["SUCCESS", "FAILED", "INCOMPLETE", "PENDING"] as const;

/** The outcomes of an identity check. */
export type Verification = (typeof VERIFICATIONS)[number];

/** The cardholder of that id, removed or not; a missing one is refused. */
const cardholderOf = (unit: Unit, id: string): CardholderRecord =>
  unit.get("cardholders", id) ?? refuse("Cardholder not found");

/** Records a person, whose identity is checked from now on. */
export const createCardholder = (unit: Unit, request: CreateCardholderInput) => {
  const card_holder_id = randomUUID();
  const { verifyAfter } = unit.behaviour;
  unit.put("cardholders", card_holder_id, {
    ...request,
    card_holder_id,
    // The check decides, whatever the request says.
    card_holder_status: "PENDING",
    removed: false,
    create_time: unit.time,
    update_time: unit.time,
    ...(verifyAfter === undefined ? {} : { due_at: unit.now + verifyAfter }),
  });
  return { card_holder_id };
};

/** Ends an identity check, or opens it again; afterwards it ends only on demand. */
export const setVerification = (unit: Unit, id: string, status: Verification): void => {
  const { due_at: _, ...record } = cardholderOf(unit, id);
  unit.put("cardholders", id, { ...record, card_holder_status: status, update_time: unit.time });
};

/** How the check of some last names ends; of `Pending`, only on demand. */
const ENDS_AS: ReadonlyMap<string, Verification> = new Map([
  ["Refused", "FAILED"],
  ["Incomplete", "INCOMPLETE"],
  ["Pending", "PENDING"],
]);

/** Ends an identity check when its time has come. */
export const endVerification = (unit: Unit, id: string): void =>
  setVerification(unit, id, ENDS_AS.get(cardholderOf(unit, id).last_name) ?? "SUCCESS");

/** Removes a cardholder, once. */
export const removeCardholder = (
  unit: Unit,
  { card_holder_id }: Input<"removeCardholder">,
): undefined => {
  const { due_at: _, ...record } = cardholderOf(unit, card_holder_id);
  if (record.removed) refuse("Cardholder already removed");
  unit.put("cardholders", card_holder_id, { ...record, removed: true, update_time: unit.time });
};

/** Lists the cardholders that were not removed. */
export const listCardholders = (unit: Unit, query: ListCardholdersInput) => {
  const { card_account_id, card_holder_status: status, name = "" } = query;
  const cardsOf = ({ card_holder_id }: CardholderRecord) =>
    unit.all("cards").filter((card) => card.card_holder_id === card_holder_id);
  const matches = (record: CardholderRecord): boolean =>
    !record.removed &&
    fits<string>(status === undefined ? status : STATUSES[status], record.card_holder_status) &&
    `${record.first_name} ${record.last_name}`.toLowerCase().includes(name.toLowerCase()) &&
    (card_account_id === undefined ||
      cardsOf(record).some(({ balance_id }) => balance_id === card_account_id));
  return pageOf(unit, unit.all("cardholders").filter(matches), query, (record): Cardholder => ({
    ...record,
    card_num: cardsOf(record).length,
  }));
};

const cardOf = (unit: Unit, id: string): CardRecord =>
  unit.get("cards", id) ?? refuse("Card not found");

/** The card of that id; a missing or cancelled one is refused. */
const usableCardOf = (unit: Unit, id: string): CardRecord => {
  const card = cardOf(unit, id);
  return card.card_status === "cancelled" ? refuse("Card is cancelled") : card;
};

const put = (unit: Unit, card: CardRecord): undefined => {
  unit.put("cards", card.card_id, { ...card, update_time: unit.time });
};

const moveFor = (unit: Unit, { card_id }: CardRecord, amount: BigDecimal.BigDecimal): void => {
  const type = BigDecimal.isNegative(amount) ? "card charge" : "transfer";
  move(unit, { currency: CARD_CURRENCY, amount, type, reference_id: card_id });
};

/** The data of the first response to a request with the same key. */
export class Repeated<Data> {
  readonly data: Data;
  constructor(data: Data) {
    this.data = data;
  }
}

/** Does the work of a key once; a repeat returns the data of the first time. */
const once = <Data extends Readonly<Record<string, string>>>(
  unit: Unit,
  id: string,
  work: () => Data,
): Data | Repeated<Data> => {
  const used = unit.get("usedKeys", id);
  // The id begins with the operation's name, so it was this operation's data.
  if (used !== undefined) return new Repeated(used.answer as Data);
  const data = work();
  unit.put("usedKeys", id, { answer: data });
  return data;
};

/** Issues a card to a verified cardholder and charges the balance. */
export const createCard = (unit: Unit, request: CreateCardInput) =>
  once(unit, `createCard ${request.unique_request_id}`, () => {
    const { card_holder_status, removed } = cardholderOf(unit, request.card_holder_id);
    if (removed) refuse("Cardholder not found");
    if (card_holder_status !== "SUCCESS") {
      refuse(`Cardholder is not verified: ${card_holder_status}`);
    }
    if (unit.get("balances", CARD_CURRENCY)?.balance_id !== request.balance_id) {
      refuse(`balance_id must be that of a ${CARD_CURRENCY} balance`);
    }
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
  });

/** Takes money from a card back to the balance. */
export const withdrawFromCard = (unit: Unit, request: WithdrawFromCardInput) =>
  once(unit, `withdrawFromCard ${request.unique_request_id}`, () => {
    const card = cardOf(unit, request.card_id);
    if (card.card_number !== request.card_number) refuse("card_number is not that of the card");
    if (card.card_status === "frozen") refuse("Card is frozen");
    if (card.card_status === "cancelled") refuse("Card is cancelled");
    const amount = parseAmount("amount", request.amount, CARD_CURRENCY);
    const left = BigDecimal.subtract(BigDecimal.fromStringUnsafe(card.available_balance), amount);
    if (BigDecimal.isNegative(left)) refuse("Insufficient card balance");
    moveFor(unit, card, amount);
    put(unit, { ...card, available_balance: formatAmount(left, CARD_CURRENCY) });
    return { ...request };
  });

/** Renames a card. */
export const updateCard = (unit: Unit, { card_id, card_name }: UpdateCardInput): undefined =>
  put(unit, { ...usableCardOf(unit, card_id), card_name });

/** Freezes a card, once. */
export const freezeCard = (unit: Unit, { card_id }: Input<"freezeCard">): undefined => {
  const card = usableCardOf(unit, card_id);
  if (card.card_status === "frozen") refuse("Card is already frozen");
  return put(unit, { ...card, card_status: "frozen" });
};

/** Cancels a card, once, and refunds its rest to the balance. */
export const cancelCard = (unit: Unit, { card_id }: Input<"cancelCard">): undefined => {
  const card = cardOf(unit, card_id);
  if (card.card_status === "cancelled") refuse("Card is already cancelled");
  const left = BigDecimal.fromStringUnsafe(card.available_balance);
  if (BigDecimal.isPositive(left)) moveFor(unit, card, left);
  const available_balance = formatAmount(ZERO, CARD_CURRENCY);
  return put(unit, { ...card, card_status: "cancelled", available_balance });
};
