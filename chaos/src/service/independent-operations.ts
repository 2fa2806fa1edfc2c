import { randomUUID } from "node:crypto";

/** A JSON body of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** The service refuses. */
export class Refusal extends Error {}

/** Something that was made, with the body that asked for it, whatever of that the service shows. */
export interface Made {
  readonly id: number;
  /** Milliseconds since 1970, by a clock that is right. */
  readonly at: number;
  readonly asked: Body;
  /** Whether it was removed, cancelled or returned. */
  isUndone: boolean;
}

/** The true records of the service; amounts are in 1/10000 of the currency's unit. */
export type IndependentLedger = ReturnType<typeof emptyLedger>;

/** Returns the ledger of a service that has made nothing. */
export const emptyLedger = () => ({
  beneficiaries: new Map<string, Body>(),
  payouts: Array.of<Made>(),
  /** Payouts whose money is about to come back. */
  returning: new Set<Made>(),
  cardholders: Array.of<Made>(),
  cards: Array.of<Made>(),
  balances: new Map<string, { readonly id: number; amount: bigint }>(),
});

/** Choices that the document leaves open. */
export interface AnswerOptions {
  /** The initial balances, decimal text by currency. Default 100000.0000 USD and EUR. */
  readonly balances?: Readonly<Record<string, string>>;
  /** How long an identity check takes, in milliseconds. Default 500. */
  readonly verifyAfterMs?: number;
  /** How far its clock is ahead, in milliseconds; below zero: behind. Default 0. */
  readonly clockOffsetMs?: number;
  /** Whether the list of payouts shows the key that was sent. Default false. */
  readonly showsKeys?: boolean;
  /** Whether a completion changes the time of the last change. Default true. */
  readonly updates?: boolean;
  /** For how long lists do not show a new row, in milliseconds. Default 0. */
  readonly listLagMs?: number;
  /** Times in lists in full, or the days alone. Default `full`. */
  readonly listTimes?: "full" | "day";
  /** Texts in lists as they were given, or in capitals. Default `given`. */
  readonly listTexts?: "given" | "capitals";
  /** How long a payout is processing, in milliseconds. Default 500. */
  readonly settleAfterMs?: number;
  /** The first id, of which each further one is 17 more. Default 880000017. */
  readonly firstId?: number;
  /** How the list of payouts takes a window of time. Default `honoured`. */
  readonly windows?: WindowHabit;
  /** How long after they have completed every fifth payout comes back, in milliseconds. Default: none does. */
  readonly returnAfterMs?: number;
}

/**
 * `late`: begins it ten seconds later; `far`: in another time zone; `settled`: by the time of completion; `short`: ends it
 * after ten seconds; `uncounted`: counts the whole list.
 */
type WindowHabit =
  | "honoured"
  | "ignored"
  | "late"
  | "far"
  | "settled"
  | "short"
  | "uncounted"
  | "refused";

const HOURS_EAST = 8;
const ID_STEP = 17;
const UNITS = 10_000n;

/** Writes an amount with four digits. */
export const money = (amount: bigint): string => {
  const digits = String(amount).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
};

/** Requires texts in a body. */
const texts = (body: Body, names: string): ReadonlyArray<string> =>
  names.split(" ").map((field) => {
    const value = body[field];
    if (typeof value !== "string" || value === "") throw new Refusal(`${field} is missing`);
    return value;
  });

const unitsOf = (amount: string): bigint => {
  const parts = /^(\d{1,15})(?:\.(\d{1,4}))?$/.exec(amount);
  if (parts === null) throw new Refusal("amount is not an amount");
  const [, whole = "", fraction = ""] = parts;
  return BigInt(whole) * UNITS + BigInt(fraction.padEnd(4, "0"));
};

const found = <A>(what: A | undefined, name: string): A => {
  if (what === undefined) throw new Refusal(`no such ${name}`);
  return what;
};

/** Some fields of a body, under their own names with a prefix. */
const pick = (given: Body, names: string, prefix = "") =>
  Object.fromEntries(names.split(" ").map((name) => [`${prefix}${name}`, given[name] ?? ""]));

const codesOf = (given: Body) => ({
  account_currency_code: given["account_currency"],
  bank_country_code: given["bank_country"],
});

const describe = (beneficiary_id: string, given: Body) => ({
  beneficiary_id,
  ...pick(given, "entity_type payment_method"),
  ...pick(given, "email nickname company_name first_name last_name", "beneficiary_"),
  ...codesOf(given),
});

const bankOf = (given: Body) => ({
  ...pick(given, "bank_name bank_address account_holder account_number iban"),
  ...codesOf(given),
});

const addressOf = (given: Body) => ({
  ...pick(given, "country_code city postal_code state"),
  street_address: given["address"],
});

/** An operation; `part` is that of its path. It returns the data of the answer. */
type Operation = (body: Body, part: string, query: URLSearchParams) => unknown;

/** The operations of the document, by method and path, with the service's own choices if the document leaves them open. */
export const operationsOf = (
  ledger: IndependentLedger,
  {
    balances: initial = { USD: "100000", EUR: "100000" },
    clockOffsetMs = 0,
    firstId = 880_000_017,
    listLagMs = 0,
    listTexts,
    listTimes,
    returnAfterMs,
    settleAfterMs = 500,
    showsKeys = false,
    updates = true,
    verifyAfterMs = 500,
    windows = "honoured",
  }: AnswerOptions,
): Readonly<Record<string, Operation>> => {
  const { balances, beneficiaries, cardholders, cards, payouts } = ledger;
  const usedKeys = new Set<string>();
  let nextId = firstId;
  const make = (asked: Body): Made => ({
    id: (nextId += ID_STEP) - ID_STEP,
    at: Date.now(),
    asked,
    isUndone: false,
  });
  const open = (currency: string, amount: bigint) => {
    if (balances.has(currency)) throw new Refusal("account is there already");
    balances.set(currency, { id: make({}).id, amount });
  };
  for (const [currency, amount] of Object.entries(initial)) open(currency, unitsOf(amount));

  const take = (from: { amount: bigint }, amount: bigint) => {
    if (from.amount < amount) throw new Refusal("not enough money");
    from.amount -= amount;
  };
  const balanceOf = (currency: string) => found(balances.get(currency), `account: ${currency}`);
  const payee = (id: string) => found(beneficiaries.get(id), "payee");
  const present = () => cardholders.filter(({ isUndone }) => !isUndone);
  const byId = <Row extends Made>(rows: ReadonlyArray<Row>, wanted: unknown): Row => {
    const row = rows.find(({ id }) => String(id) === wanted);
    return found(row, "record");
  };
  const isVerified = ({ at }: Made) => Date.now() - at >= verifyAfterMs;

  const time = (at: number): string => {
    const local = new Date(at + clockOffsetMs + HOURS_EAST * 3_600_000).toISOString();
    return `${local.slice(0, 19)}+08:00`;
  };
  const listTime = (at: number) => (listTimes === "day" ? time(at).slice(0, 10) : time(at));
  const listText = (given: unknown) =>
    listTexts === "capitals" && typeof given === "string" ? given.toUpperCase() : (given ?? "");
  /** Whether a payout is in the window of a query, by the habit of the service. Bounds are seconds. */
  const inWindow = (query: URLSearchParams) => {
    const bounds = ["from_time", "to_time"].map((name) => query.get(name));
    const isAsked = bounds.some((bound) => bound !== null);
    if (isAsked && windows === "refused") throw new Refusal("from_time is not supported");
    if (!isAsked || windows === "ignored") return () => true;
    const shift = windows === "late" ? 10_000 : windows === "far" ? 8 * 3_600_000 : 0;
    const from = Number(bounds[0] ?? 0) * 1_000 + shift;
    const to = windows === "short" ? from + 10_000 : Number(bounds[1] ?? Infinity) * 1_000;
    const isSettled = query.get("date_type") === "settle_time" || windows === "settled";
    return ({ at }: Made) => {
      const isOpen = isSettled && Date.now() < at + settleAfterMs;
      const time = at + clockOffsetMs + (isSettled ? settleAfterMs : 0);
      return !isOpen && time >= from && time <= to;
    };
  };
  // Oldest first; other filters have names that no caller can know, and are not there.
  const page = <Row extends Made>(
    rows: ReadonlyArray<Row>,
    query: URLSearchParams,
    view: (row: Row) => unknown,
    isListed: (row: Row) => boolean = () => true,
  ) => {
    const number = Number(query.get("page_num"));
    const size = Number(query.get("page_size"));
    if (!(number >= 1) || !(size >= 1 && size <= 50)) throw new Refusal("which page?");
    const current = rows.filter(({ at }) => Date.now() - at >= listLagMs);
    const shown = current.filter(isListed);
    return {
      total_item: (windows === "uncounted" ? current : shown).length,
      total_page: Math.ceil(shown.length / size),
      item_list: shown.slice((number - 1) * size, number * size).map(view),
    };
  };
  /** Drawn by its id. Its money is back at once. */
  const comeBack = (payout: Made, to: { amount: bigint }, amount: bigint): void => {
    if (returnAfterMs === undefined || payout.id % 5 !== 0) return;
    ledger.returning.add(payout);
    setTimeout(() => {
      payout.isUndone = true;
      to.amount += amount;
      ledger.returning.delete(payout);
    }, settleAfterMs + returnAfterMs).unref();
  };
  const payoutRead = ({ asked, at, id, isUndone }: Made, write: typeof time) => {
    const completeAt = at + settleAfterMs;
    const isComplete = Date.now() >= completeAt;
    return {
      payout_id: id,
      payout_status: isUndone ? "Returned" : isComplete ? "funds_arrived" : "processing",
      ...pick(asked, "payout_reason payout_reference beneficiary_id currency"),
      amount: money(unitsOf(String(asked["amount"]))),
      fee_amount: "0.0000",
      fee_paid_by: "shared",
      create_time: write(at),
      update_time: write(isComplete && updates ? completeAt : at),
      complete_time: isComplete ? write(completeAt) : "0001-01-01T00:00:00Z",
    };
  };

  const holderView = (holder: Made) => ({
    card_holder_id: holder.id,
    card_holder_status: isVerified(holder) ? "SUCCESS" : "PENDING",
    card_num: cards.filter(({ asked }) => asked["card_holder_id"] === String(holder.id)).length,
    first_name: listText(holder.asked["first_name"]),
    last_name: listText(holder.asked["last_name"]),
    create_time: listTime(holder.at),
    update_time: listTime(holder.at),
  });

  return {
    "POST beneficiaries/create": (body) => {
      texts(body, "bank_country account_currency entity_type payment_method");
      const id = randomUUID();
      beneficiaries.set(id, body);
      return {
        ...describe(id, body),
        beneficiary_status: "pending",
        account_number: body["account_number"] ?? "",
        beneficiary_bank_details: JSON.stringify(bankOf(body)),
        beneficiary_address: JSON.stringify(addressOf(body)),
      };
    },
    "GET beneficiaries/([^/]+)": (_, id) => ({
      ...describe(id, payee(id)),
      beneficiary_summary: "An account",
      beneficiary_bank_details: bankOf(payee(id)),
      beneficiary_address: addressOf(payee(id)),
    }),
    "POST payouts/create": (body) => {
      const names = "beneficiary_id currency amount payout_reason payment_date is_payer";
      const [to = "", currency = "", written = "", reason, date = ""] = texts(body, names);
      if (payee(to)["account_currency"] !== currency) throw new Refusal("currencies differ");
      const amount = unitsOf(written);
      if (amount === 0n) throw new Refusal("amount is zero");
      const from = balanceOf(currency);
      take(from, amount);
      const payout = make(body);
      payouts.push(payout);
      comeBack(payout, from, amount);
      return {
        id: payout.id,
        amount: money(amount),
        currency,
        beneficiary_id: to,
        payment_date: time(Date.parse(date)),
        reason,
        reference: body["payout_reference"] ?? "",
        status: "processing",
        create_time: time(payout.at),
        update_time: time(payout.at),
      };
    },
    "GET payouts": (_, __, query) => {
      const view = (payout: Made) => ({
        ...payoutRead(payout, listTime),
        payout_reason: listText(payout.asked["payout_reason"]),
        payout_reference: listText(payout.asked["payout_reference"]),
        payment_date: payout.asked["payment_date"],
        ...(showsKeys && pick(payout.asked, "unique_request_id")),
      });
      return page(payouts, query, view, inWindow(query));
    },
    "GET payouts/([^/]+)/retrieve": (_, id) => {
      const payout = byId(payouts, id);
      return { ...payoutRead(payout, time), payout_date: payout.asked["payment_date"] };
    },
    "GET balances/retrieve/([A-Z]{3})": (_, currency) => {
      const { amount, id } = balanceOf(currency);
      return { balance_id: id, currency, available_balance: money(amount) };
    },
    "POST cardholders/create": (body) => {
      texts(body, "email first_name last_name date_birth phone_number");
      if (typeof body["card_holder_status"] !== "number") throw new Refusal("status is wrong");
      const holder = make(body);
      cardholders.push(holder);
      return { card_holder_id: holder.id };
    },
    "GET cardholders": (_, __, query) => page(present(), query, holderView),
    "POST cardholders/([^/]+)/remove": (_, id) => {
      byId(present(), id).isUndone = true;
    },
    "POST cards/create": (body) => {
      const [key = ""] = texts(body, "unique_request_id");
      if (usedKeys.has(key)) return undefined;
      const holder = byId(present(), body["card_holder_id"]);
      if (!isVerified(holder)) throw new Refusal("cardholder is not checked");
      const account = balanceOf("USD");
      if (String(account.id) !== body["balance_id"]) throw new Refusal("wrong balance");
      take(account, unitsOf(String(body["card_limit"])));
      usedKeys.add(key);
      const made = make({ ...body, email: holder.asked["email"] });
      cards.push(made);
      return { card_id: made.id, card_status: "pending", ...pick(body, "unique_request_id") };
    },
    "POST cards/update": (body) => void byId(cards, body["card_id"]),
    "POST cards/cancel": (body) => {
      byId(cards, body["card_id"]).isUndone = true;
    },
  };
};
