import {
  type Body,
  type IndependentCardholder,
  type IndependentLedger,
  type IndependentPayout,
  money,
  Refusal,
} from "./ledger.ts";

/** The form of answers that the document leaves open. */
export interface AnswerOptions {
  /** How far its clock is ahead, in milliseconds; below zero: behind. Default 0. */
  readonly clockOffsetMs?: number;
  /** For how long lists do not show a new row, in milliseconds. Default 0. */
  readonly listLagMs?: number;
  /** Times in lists in full, or the days alone. Default `full`. */
  readonly listTimes?: "full" | "day";
  /** Texts in lists as they were given, or in capitals. Default `given`. */
  readonly listTexts?: "given" | "capitals";
  /** How long a payout is processing, in milliseconds. Default 500. */
  readonly settleAfterMs?: number;
}

const HOURS_EAST = 8;

interface Call {
  readonly parts: ReadonlyArray<string>;
  readonly query: URLSearchParams;
  readonly body: Body;
}

/** An operation of the document, as the service does it. */
interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly run: (call: Call) => unknown;
}

/** Some fields of a body, under their own names with a prefix. */
const pick = (given: Body, names: string, prefix = "") =>
  Object.fromEntries(names.split(" ").map((name) => [`${prefix}${name}`, given[name] ?? ""]));

const describe = (beneficiaryId: string, given: Body) => ({
  beneficiary_id: beneficiaryId,
  ...pick(given, "entity_type payment_method"),
  ...pick(given, "email nickname company_name first_name last_name", "beneficiary_"),
  ...codesOf(given),
});

const codesOf = (given: Body) => ({
  account_currency_code: given["account_currency"],
  bank_country_code: given["bank_country"],
});

const bankOf = (given: Body) => ({
  ...pick(given, "bank_name bank_address account_holder account_number iban"),
  ...codesOf(given),
});

const addressOf = (given: Body) => ({
  ...pick(given, "country_code city postal_code state"),
  street_address: given["address"],
});

/** The operations of the document, with its own choices if the document leaves them open. */
export const operationsOf = (
  ledger: IndependentLedger,
  {
    clockOffsetMs = 0,
    listLagMs = 0,
    listTexts = "given",
    listTimes = "full",
    settleAfterMs = 500,
  }: AnswerOptions,
): ReadonlyArray<Operation> => {
  const time = (at: number): string => {
    const local = new Date(at + clockOffsetMs + HOURS_EAST * 3_600_000).toISOString();
    return `${local.slice(0, 19)}+08:00`;
  };
  const listTime = (at: number) => (listTimes === "day" ? time(at).slice(0, 10) : time(at));
  const listText = (given: unknown) =>
    listTexts === "capitals" && typeof given === "string" ? given.toUpperCase() : (given ?? "");
  // Oldest first; filters have names that no caller can know, and are not there.
  const page = <Row extends { readonly at: number }>(
    rows: ReadonlyArray<Row>,
    query: URLSearchParams,
    view: (row: Row) => unknown,
  ) => {
    const number = Number(query.get("page_num"));
    const size = Number(query.get("page_size"));
    if (!(number >= 1) || !(size >= 1 && size <= 50)) throw new Refusal("which page?");
    const shown = rows.filter(({ at }) => Date.now() - at >= listLagMs);
    return {
      total_item: shown.length,
      total_page: Math.ceil(shown.length / size),
      item_list: shown.slice((number - 1) * size, number * size).map(view),
    };
  };
  const payoutRead = ({ amount, asked, at, id }: IndependentPayout, write: typeof time) => {
    const completeAt = at + settleAfterMs;
    const isComplete = Date.now() >= completeAt;
    return {
      payout_id: id,
      payout_status: isComplete ? "funds_arrived" : "processing",
      ...pick(asked, "payout_reason payout_reference beneficiary_id currency"),
      amount: money(amount),
      fee_amount: "0.0000",
      fee_paid_by: "shared",
      create_time: write(at),
      update_time: write(isComplete ? completeAt : at),
      complete_time: isComplete ? write(completeAt) : "0001-01-01T00:00:00Z",
    };
  };
  const holderView = (holder: IndependentCardholder) => ({
    card_holder_id: holder.id,
    card_holder_status: ledger.isVerified(holder) ? "SUCCESS" : "PENDING",
    card_num: ledger.cards.filter(({ asked }) => asked["card_holder_id"] === String(holder.id))
      .length,
    first_name: listText(holder.asked["first_name"]),
    last_name: listText(holder.asked["last_name"]),
    create_time: listTime(holder.at),
    update_time: listTime(holder.at),
  });
  const operation =
    (method: Operation["method"]) =>
    (name: string, path: RegExp, run: Operation["run"]): Operation => ({ name, method, path, run });
  const read = operation("GET");
  const write = operation("POST");

  return [
    write("createBeneficiary", /^beneficiaries\/create$/, ({ body }) => {
      const id = ledger.addBeneficiary(body);
      return {
        ...describe(id, body),
        beneficiary_status: "pending",
        account_number: body["account_number"] ?? "",
        beneficiary_bank_details: JSON.stringify(bankOf(body)),
        beneficiary_address: JSON.stringify(addressOf(body)),
      };
    }),
    read("retrieveBeneficiary", /^beneficiaries\/([^/]+)$/, ({ parts: [id = ""] }) => {
      const given = ledger.beneficiary(id);
      return {
        ...describe(id, given),
        beneficiary_summary: "An account",
        beneficiary_bank_details: bankOf(given),
        beneficiary_address: addressOf(given),
      };
    }),
    write("createPayout", /^payouts\/create$/, ({ body }) => {
      const { amount, at, id } = ledger.addPayout(body);
      return {
        id,
        amount: money(amount),
        ...pick(body, "currency beneficiary_id"),
        payment_date: time(Date.parse(String(body["payment_date"]))),
        reason: body["payout_reason"],
        reference: body["payout_reference"] ?? "",
        status: "processing",
        create_time: time(at),
        update_time: time(at),
      };
    }),
    read("listPayouts", /^payouts$/, ({ query }) =>
      page(ledger.payouts, query, (payout) => ({
        ...payoutRead(payout, listTime),
        payout_reason: listText(payout.asked["payout_reason"]),
        payout_reference: listText(payout.asked["payout_reference"]),
        payment_date: payout.asked["payment_date"],
      })),
    ),
    read("retrievePayout", /^payouts\/([^/]+)\/retrieve$/, ({ parts: [id] }) => {
      const found = ledger.payouts.find((payout) => String(payout.id) === id);
      if (found === undefined) throw new Refusal("no such payout");
      return { ...payoutRead(found, time), payout_date: found.asked["payment_date"] };
    }),
    read("listPayers", /^payers$/, () => []),
    write("createBalance", /^balances\/create$/, ({ body }) => ledger.openBalance(body)),
    read("retrieveBalance", /^balances\/retrieve\/([A-Z]{3})$/, ({ parts: [currency = ""] }) => {
      const { amount, id } = ledger.balanceOf(currency);
      return { balance_id: id, currency, available_balance: money(amount) };
    }),
    write("createCardholder", /^cardholders\/create$/, ({ body }) => ({
      card_holder_id: ledger.addCardholder(body),
    })),
    read("listCardholders", /^cardholders$/, ({ query }) =>
      page(
        ledger.cardholders.filter(({ isRemoved }) => !isRemoved),
        query,
        holderView,
      ),
    ),
    write("removeCardholder", /^cardholders\/([^/]+)\/remove$/, ({ parts: [id = ""] }) =>
      ledger.removeCardholder(id),
    ),
    write("createCard", /^cards\/create$/, ({ body }) => {
      const card = ledger.addCard(body);
      if (card === undefined) return undefined;
      const { id: card_id, status: card_status } = card;
      return { card_id, card_status, unique_request_id: body["unique_request_id"] };
    }),
    write("withdrawFromCard", /^cards\/withdraw$/, ({ body }) =>
      ledger.withdraw(body) ? body : undefined,
    ),
    write("updateCard", /^cards\/update$/, ({ body }) => ledger.changeCard(body, {})),
    write("cancelCard", /^cards\/cancel$/, ({ body }) =>
      ledger.changeCard(body, { status: "cancelled" }),
    ),
    write("freezeCard", /^cards\/freeze$/, ({ body }) =>
      ledger.changeCard(body, { status: "frozen" }),
    ),
  ];
};
