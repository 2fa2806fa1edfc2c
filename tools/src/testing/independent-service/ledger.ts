import { randomUUID } from "node:crypto";

/** A JSON body of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** The service refuses. */
export class Refusal extends Error {}

/** Something that was made, with the body that asked for it, whatever of that the service shows. */
interface Made {
  readonly id: number;
  /** Milliseconds since 1970, by a clock that is right. */
  readonly at: number;
  readonly asked: Body;
}

/** A payout as the service knows it; its amount is in 1/10000 of the currency's unit. */
export interface IndependentPayout extends Made {
  readonly amount: bigint;
}

/** A cardholder as the service knows it. */
export interface IndependentCardholder extends Made {
  readonly isRemoved: boolean;
}

/** A card as the service knows it; its balance is in 1/10000 USD. */
export interface IndependentCard extends Made {
  readonly cardNumber: string;
  readonly balance: bigint;
  readonly status: string;
}

const UNITS = 10_000n;

/** Writes an amount with four digits. */
export const money = (amount: bigint): string => {
  const digits = String(amount).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
};

const textOf = (body: Body, field: string): string => {
  const value = body[field];
  if (typeof value !== "string" || value === "") throw new Refusal(`${field} is missing`);
  return value;
};

const unitsOf = (text: string): bigint => {
  const parts = /^(\d{1,15})(?:\.(\d{1,4}))?$/.exec(text);
  if (parts === null) throw new Refusal("amount is not an amount");
  const [, whole = "", fraction = ""] = parts;
  return BigInt(whole) * UNITS + BigInt(fraction.padEnd(4, "0"));
};

const amountOf = (text: string): bigint => {
  const amount = unitsOf(text);
  if (amount === 0n) throw new Refusal("amount is zero");
  return amount;
};

/** The records of the service, and the rules for changing them. Written from the service's document alone. */
export class IndependentLedger {
  readonly beneficiaries = new Map<string, Body>();
  readonly payouts: Array<IndependentPayout> = [];
  readonly cardholders: Array<IndependentCardholder> = [];
  readonly cards: Array<IndependentCard> = [];
  readonly balances = new Map<string, { readonly id: number; amount: bigint }>();
  readonly #usedKeys = new Set<string>();
  #lastId = 880_000_000;
  readonly #verifyAfterMs: number;

  constructor(verifyAfterMs: number, balances: Readonly<Record<string, string>>) {
    this.#verifyAfterMs = verifyAfterMs;
    for (const [currency, amount] of Object.entries(balances)) {
      this.openBalance({ currency }, unitsOf(amount));
    }
  }

  #make(asked: Body): Made {
    this.#lastId += 17;
    return { id: this.#lastId, at: Date.now(), asked };
  }

  #take(currency: string, amount: bigint): void {
    const balance = this.balanceOf(currency);
    if (balance.amount < amount) throw new Refusal("not enough money");
    balance.amount -= amount;
  }

  balanceOf(currency: string): { readonly id: number; amount: bigint } {
    const balance = this.balances.get(currency);
    if (balance === undefined) throw new Refusal(`no account in ${currency}`);
    return balance;
  }

  openBalance(body: Body, amount = 0n): void {
    const currency = textOf(body, "currency");
    if (this.balances.has(currency)) throw new Refusal("account is there already");
    this.balances.set(currency, { id: this.#make(body).id, amount });
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
    const payout = { ...this.#make(body), amount };
    this.payouts.push(payout);
    return payout;
  }

  addCardholder(body: Body): number {
    for (const field of ["email", "first_name", "last_name", "date_birth", "phone_number"]) {
      textOf(body, field);
    }
    if (typeof body["card_holder_status"] !== "number") throw new Refusal("status is wrong");
    const holder = { ...this.#make(body), isRemoved: false };
    this.cardholders.push(holder);
    return holder.id;
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

  /** A card; undefined if the key was used: the repeat is ignored. */
  addCard(body: Body): IndependentCard | undefined {
    const key = `card ${textOf(body, "unique_request_id")}`;
    if (this.#usedKeys.has(key)) return undefined;
    const holder = this.cardholders.find(({ id }) => String(id) === body["card_holder_id"]);
    if (holder === undefined || holder.isRemoved) throw new Refusal("no such cardholder");
    if (!this.isVerified(holder)) throw new Refusal("cardholder is not checked");
    if (String(this.balanceOf("USD").id) !== body["balance_id"]) throw new Refusal("wrong balance");
    const balance = unitsOf(String(body["card_limit"]));
    this.#take("USD", balance);
    this.#usedKeys.add(key);
    const made = this.#make(body);
    const cardNumber = `4000${String(made.id).padStart(12, "0")}`;
    const card = { ...made, cardNumber, balance, status: "pending" };
    this.cards.push(card);
    return card;
  }

  #cardOf(body: Body): IndependentCard {
    const card = this.cards.find(({ id }) => String(id) === body["card_id"]);
    if (card === undefined) throw new Refusal("no such card");
    return card;
  }

  changeCard(body: Body, change: Partial<IndependentCard>): void {
    const card = this.#cardOf(body);
    this.cards[this.cards.indexOf(card)] = { ...card, ...change };
  }

  /** Takes money from a card; false if the key was used: the repeat is ignored. */
  withdraw(body: Body): boolean {
    const key = `withdrawal ${textOf(body, "unique_request_id")}`;
    if (this.#usedKeys.has(key)) return false;
    const { balance, cardNumber } = this.#cardOf(body);
    if (cardNumber !== body["card_number"]) throw new Refusal("no such card");
    const amount = amountOf(textOf(body, "amount"));
    if (balance < amount) throw new Refusal("not enough on the card");
    this.changeCard(body, { balance: balance - amount });
    this.#usedKeys.add(key);
    return true;
  }
}
