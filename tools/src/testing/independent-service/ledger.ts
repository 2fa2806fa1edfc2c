import { randomUUID } from "node:crypto";

/** A JSON body of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** The service refuses. */
export class Refusal extends Error {}

/** A payout as the service knows it. */
export interface IndependentPayout {
  readonly id: number;
  /** Milliseconds since 1970, by a clock that is right. */
  readonly at: number;
  /** In 1/10000 of the currency's unit. */
  readonly amount: bigint;
  /** The body that asked for it, the caller's key included, which the service never shows. */
  readonly asked: Body;
}

/** A cardholder as the service knows it. */
export interface IndependentCardholder {
  readonly id: number;
  readonly at: number;
  readonly asked: Body;
  readonly isRemoved: boolean;
}

/** A card as the service knows it. */
export interface IndependentCard {
  readonly id: number;
  readonly cardNumber: string;
  readonly asked: Body;
  /** In 1/10000 USD. */
  readonly balance: bigint;
  readonly status: string;
}

const UNITS = 10_000n;

const textOf = (body: Body, field: string): string => {
  const value = body[field];
  if (typeof value !== "string" || value === "") throw new Refusal(`${field} is missing`);
  return value;
};

const amountOf = (text: string): bigint => {
  const parts = /^(\d{1,15})(?:\.(\d{1,4}))?$/.exec(text);
  if (parts === null) throw new Refusal("amount is not an amount");
  const [, whole = "", fraction = ""] = parts;
  const amount = BigInt(whole) * UNITS + BigInt(fraction.padEnd(4, "0"));
  if (amount === 0n) throw new Refusal("amount is zero");
  return amount;
};

/** What the service knows, and what it does. Written from the service's document alone. */
export class IndependentLedger {
  readonly beneficiaries = new Map<string, Body>();
  readonly payouts: Array<IndependentPayout> = [];
  readonly cardholders: Array<IndependentCardholder> = [];
  readonly cards: Array<IndependentCard> = [];
  readonly withdrawals: Array<Body> = [];
  readonly balances = new Map<string, { readonly id: number; amount: bigint }>();
  readonly #usedKeys = new Set<string>();
  #lastId = 880_000_000;
  readonly #verifyAfterMs: number;

  constructor(verifyAfterMs: number) {
    this.#verifyAfterMs = verifyAfterMs;
    for (const currency of ["USD", "EUR"]) {
      this.balances.set(currency, { id: this.#nextId(), amount: 100_000n * UNITS });
    }
  }

  #nextId(): number {
    this.#lastId += 17;
    return this.#lastId;
  }

  #take(currency: string, amount: bigint): void {
    const balance = this.balances.get(currency);
    if (balance === undefined) throw new Refusal(`no account in ${currency}`);
    if (balance.amount < amount) throw new Refusal("not enough money");
    balance.amount -= amount;
  }

  balanceOf(currency: string): { readonly id: number; readonly amount: bigint } {
    const balance = this.balances.get(currency);
    if (balance === undefined) throw new Refusal(`no account in ${currency}`);
    return balance;
  }

  openBalance(body: Body): void {
    const currency = textOf(body, "currency");
    if (this.balances.has(currency)) throw new Refusal("account is there already");
    this.balances.set(currency, { id: this.#nextId(), amount: 0n });
  }

  addBeneficiary(body: Body): string {
    for (const field of ["bank_country", "account_currency", "entity_type", "payment_method"]) {
      textOf(body, field);
    }
    const id = randomUUID();
    this.beneficiaries.set(id, body);
    return id;
  }

  beneficiary(id: string): Body {
    const known = this.beneficiaries.get(id);
    if (known === undefined) throw new Refusal("no such payee");
    return known;
  }

  addPayout(body: Body): IndependentPayout {
    const beneficiary = this.beneficiary(textOf(body, "beneficiary_id"));
    for (const field of ["payout_reason", "payment_date", "is_payer"]) textOf(body, field);
    const currency = textOf(body, "currency");
    if (beneficiary["account_currency"] !== currency) throw new Refusal("currencies differ");
    const amount = amountOf(textOf(body, "amount"));
    this.#take(currency, amount);
    const payout = { id: this.#nextId(), at: Date.now(), amount, asked: body };
    this.payouts.push(payout);
    return payout;
  }

  addCardholder(body: Body): number {
    for (const field of ["email", "first_name", "last_name", "date_birth", "phone_number"]) {
      textOf(body, field);
    }
    if (typeof body["card_holder_status"] !== "number")
      throw new Refusal("card_holder_status is wrong");
    const id = this.#nextId();
    this.cardholders.push({ id, at: Date.now(), asked: body, isRemoved: false });
    return id;
  }

  isVerified({ at }: IndependentCardholder): boolean {
    return Date.now() - at >= this.#verifyAfterMs;
  }

  removeCardholder(id: string): void {
    const at = this.cardholders.findIndex((each) => String(each.id) === id && !each.isRemoved);
    const found = this.cardholders[at];
    if (found === undefined) throw new Refusal("no such cardholder");
    this.cardholders[at] = { ...found, isRemoved: true };
  }

  /** A card; undefined where the key was used: the repeat is ignored. */
  addCard(body: Body): IndependentCard | undefined {
    const key = textOf(body, "unique_request_id");
    if (this.#usedKeys.has(`card ${key}`)) return undefined;
    const holder = this.cardholders.find(({ id }) => String(id) === body["card_holder_id"]);
    if (holder === undefined || holder.isRemoved) throw new Refusal("no such cardholder");
    if (!this.isVerified(holder)) throw new Refusal("cardholder is not checked");
    if (String(this.balanceOf("USD").id) !== body["balance_id"]) throw new Refusal("wrong balance");
    const limit = BigInt(Math.round(Number(body["card_limit"]) * Number(UNITS)));
    this.#take("USD", limit);
    this.#usedKeys.add(`card ${key}`);
    const id = this.#nextId();
    const cardNumber = `4000${String(id).padStart(12, "0")}`;
    const card = { id, cardNumber, asked: body, balance: limit, status: "pending" };
    this.cards.push(card);
    return card;
  }

  changeCard(body: Body, change: Partial<IndependentCard>): void {
    const at = this.cards.findIndex(({ id }) => String(id) === body["card_id"]);
    const card = this.cards[at];
    if (card === undefined) throw new Refusal("no such card");
    this.cards[at] = { ...card, ...change };
  }

  /** Takes money from a card; false where the key was used: the repeat is ignored. */
  withdraw(body: Body): boolean {
    const key = textOf(body, "unique_request_id");
    if (this.#usedKeys.has(`withdrawal ${key}`)) return false;
    const card = this.cards.find(({ id }) => String(id) === body["card_id"]);
    if (card === undefined || card.cardNumber !== body["card_number"])
      throw new Refusal("no such card");
    const amount = amountOf(textOf(body, "amount"));
    if (card.balance < amount) throw new Refusal("not enough on the card");
    this.changeCard(body, { balance: card.balance - amount });
    this.#usedKeys.add(`withdrawal ${key}`);
    this.withdrawals.push(body);
    return true;
  }
}
