import { describe, expect, it } from "vitest";
import type { OperationName } from "../../src/effect.ts";
import { operation } from "../../src/client/operations.ts";
import { exchange, clientFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { type Reply, startServer, success } from "../support/server.ts";

const beneficiary_id = "7b6f1a52-4f51-4ddd-9c4f-0c2f7a7f1a01";
const payout_id = "f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11";
const payer_id = "5d2a90c1-3b6e-4b0f-9a51-2f1f6c1d8e22";
const unique_request_id = "0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d";
const ZERO_TIME = "0001-01-01T00:00:00Z";

const page = (item: object) => ({ total_item: 1, total_page: 1, item_list: [item] });

/** Without the fields that are unset: missing, null, empty or the zero time. */
const set = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => ![undefined, null, "", ZERO_TIME].includes(value as ""),
    ),
  );

/** An operation as the service's document describes it. */
interface Row {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Every field of its request. */
  readonly request: object;
  /** What of it is the query, by the names on the wire. */
  readonly query?: Readonly<Record<string, string>>;
  /** What of it is the body. */
  readonly body?: object;
  /** The answer's data with every field. */
  readonly data?: unknown;
  /** As it is read. */
  readonly read?: unknown;
}

const listed = {
  payout_status: "trade_settled",
  payout_reason: "salary",
  payout_reference: "November",
  beneficiary_id,
  unique_request_id,
  amount: "100.50",
  fee_amount: "1.25",
  currency: "USD",
  fee_paid_by: "shared",
  create_time: "2026-11-20T10:00:00+08:00",
  update_time: "2026-11-20T10:00:01+08:00",
};

const bank = {
  bank_name: "Erste Bank",
  bank_address: "Ring 1",
  bank_country_code: "DE",
  account_holder: "Engines GmbH",
  account_currency_code: "EUR",
  account_number: "532013000",
  iban: "DE89370400440532013000",
  swift_code: "COBADEFFXXX",
  clearing_system: "SEPA",
  routing_code_type1: "sort_code",
  routing_code_value1: "370400",
  routing_code_type2: "",
  routing_code_value2: "",
};
const address = {
  country_code: "DE",
  city: "Berlin",
  street_address: "Allee 2",
  postal_code: "10115",
  state: "",
};
const described = {
  beneficiary_id,
  entity_type: "company",
  payment_method: "swift",
  beneficiary_email: "pay@engines.example",
  beneficiary_nickname: "Engines",
  beneficiary_company_name: "Engines GmbH 7",
  beneficiary_first_name: "",
  beneficiary_last_name: "",
  account_currency_code: "EUR",
  bank_country_code: "DE",
};
const readBeneficiary = {
  ...set(described),
  beneficiary_bank_details: set(bank),
  beneficiary_address: set(address),
};

const company = {
  payer_id,
  entity_type: "company",
  company_name: "Engines Ltd",
  first_name: "",
  last_name: "",
  address: "1 Ring",
  city: "London",
  state_or_province: "",
  country: "GB",
  postal_code: "N1",
  date_of_birth: "",
  identification_type: "incorporation_number",
  identification_value: "09876543",
};

const account = {
  account_bank_id: "1",
  account_id: "2",
  account_holder: "Engines Ltd",
  account_number: "000123456789",
  bank_name: "First Bank",
  bank_code: "7144",
  bank_address: "1 Main Street",
  country_code: "SG",
  currency_code: "USD",
  clearing_system_type: "Faster Payments",
  clearing_system_code: "FPS",
  payment_reference: "REF-1",
};

const transaction = {
  transaction_id: "t-1",
  account_name: "Main",
  transaction_type: "card charge",
  currency: "USD",
  amount: "-3.10",
  create_time: "2026-11-20T10:00:00+08:00",
  settle_time: "2026-11-20T11:00:00+08:00",
  complete_time: ZERO_TIME,
  transaction_status: "failed",
  reference_id: payout_id,
  short_reference_id: "P261121-AB12CD34",
};

const cardholder = {
  card_holder_id: "ch-1",
  card_holder_status: "INCOMPLETE",
  card_num: 2,
  first_name: "Ada",
  last_name: "Lovelace",
  create_time: "2026-11-20T10:00:00+08:00",
  update_time: ZERO_TIME,
};

const { beneficiary_id: _, ...updated } = requests.updateBeneficiary;
const pageRead = (item: object) => ({ ...page(item), unreadable: [] });

/** Source: the service interface, operation by operation. */
const OPERATIONS: { readonly [Name in Exclude<OperationName, "ping">]: Row } = {
  createBeneficiary: {
    method: "POST",
    path: "/api/v1/beneficiaries/create",
    request: {
      ...requests.createBeneficiary,
      company_name: "Engines GmbH 7",
      iban: "DE89370400440532013000",
      swift_code: "COBADEFFXXX",
      clearing_system: "SEPA",
      routing_code_type1: "sort_code",
      routing_code_value1: "370400",
      routing_code_type2: "branch",
      routing_code_value2: "44",
    },
    data: {
      ...described,
      account_number: "532013000",
      beneficiary_status: "pending",
      beneficiary_bank_details: JSON.stringify(bank),
      beneficiary_address: JSON.stringify(address),
    },
    read: { ...readBeneficiary, account_number: "532013000", beneficiary_status: "pending" },
  },
  updateBeneficiary: {
    method: "POST",
    path: `/api/v1/beneficiaries/${beneficiary_id}/update`,
    request: requests.updateBeneficiary,
    body: updated,
  },
  retrieveBeneficiary: {
    method: "GET",
    path: `/api/v1/beneficiaries/${beneficiary_id}`,
    request: { beneficiary_id },
    data: {
      ...described,
      beneficiary_summary: "Engines, EUR, 3000",
      beneficiary_bank_details: bank,
      beneficiary_address: address,
    },
    read: { ...readBeneficiary, beneficiary_summary: "Engines, EUR, 3000" },
  },
  createPayout: {
    method: "POST",
    path: "/api/v1/payouts/create",
    request: {
      ...requests.createPayout,
      payout_reference: "November",
      is_payer: "Y",
      payer_id,
      entity_type: "individual",
      company_name: "",
      first_name: "Ada",
      last_name: "Lovelace",
      birth_date: "1990-12-10",
      country: "US",
      address: "2 Main Street",
      city: "Austin",
      state_or_province: "TX",
      postal_code: "73301",
      identification_type: "passport",
      identification_value: "X1234567",
      unique_request_id,
    },
    data: {
      id: payout_id,
      amount: "100.50",
      currency: "USD",
      beneficiary_id,
      payer_id,
      payment_date: "2026-11-21T00:00:00+08:00",
      reason: "salary",
      reference: "November",
      short_reference: "P261121-AB12CD34",
      status: "processing",
      unique_request_id,
      create_time: "2026-11-20T10:00:00+08:00",
      update_time: "2026-11-20T10:00:01+08:00",
    },
    read: {
      payout_id,
      payout_status: "processing",
      amount: "100.50",
      currency: "USD",
      short_reference: "P261121-AB12CD34",
      payout_reason: "salary",
      payout_reference: "November",
      beneficiary_id,
      payer_id,
      unique_request_id,
      payment_date: "2026-11-21T00:00:00+08:00",
      create_time: "2026-11-20T10:00:00+08:00",
      update_time: "2026-11-20T10:00:01+08:00",
    },
  },
  listPayouts: {
    method: "GET",
    path: "/api/v1/payouts",
    request: {
      page_num: 2,
      page_size: 50,
      date_type: "settle_time",
      scope: "clients_account",
      short_reference_id: "P261121-AB12CD34",
      status: "funds_arrived",
      start: 1_763_600_000_000,
      end: 1_763_686_400_000,
    },
    query: {
      page_num: "2",
      page_size: "50",
      date_type: "settle_time",
      scope: "clients_account",
      short_reference_id: "P261121-AB12CD34",
      status: "funds_arrived",
      start_time: "1763600000000",
      end_time: "1763686400000",
    },
    data: page({
      ...listed,
      payout_id,
      reference_id: "P261121-AB12CD34",
      payment_date: "2026-11-21",
      beneficiary_name: "Ada Lovelace",
      complete_time: ZERO_TIME,
    }),
    read: pageRead({
      ...listed,
      payout_id,
      short_reference: "P261121-AB12CD34",
      payment_date: "2026-11-21",
      beneficiary_name: "Ada Lovelace",
    }),
  },
  retrievePayout: {
    method: "GET",
    path: `/api/v1/payouts/${payout_id}/retrieve`,
    request: { payout_id },
    data: {
      ...listed,
      payout_id,
      payer_id,
      short_reference_id: "P261121-AB12CD34",
      payout_date: "2026-11-21",
      complete_time: "2026-11-22T10:00:00+08:00",
    },
    read: {
      ...listed,
      payout_id,
      payer_id,
      short_reference: "P261121-AB12CD34",
      payment_date: "2026-11-21",
      complete_time: "2026-11-22T10:00:00+08:00",
    },
  },
  listPayers: {
    method: "GET",
    path: "/api/v1/payers",
    request: {},
    data: [{ code: 200, message: "Success", data: [company] }],
    read: [set(company)],
  },
  createBalance: {
    method: "POST",
    path: "/api/v1/balances/create",
    request: { currency: "USD", name: "Main" },
  },
  retrieveBalance: {
    method: "GET",
    path: "/api/v1/balances/retrieve/USD",
    request: { currency: "usd" },
    data: { balance_id: "b-1", currency: "USD", available_balance: "99999999999999999999.99" },
    read: { balance_id: "b-1", currency: "USD", available_balance: "99999999999999999999.99" },
  },
  retrieveBalanceBankDetails: {
    method: "GET",
    path: "/api/v1/balances/USD/bank_details",
    request: { currency: "USD" },
    data: { local: [account], swift: null, status: "opened" },
    read: { local: [account], swift: [], status: "opened" },
  },
  listTransactions: {
    method: "GET",
    path: "/api/v1/transactions",
    request: {
      page_num: 1,
      page_size: 100,
      scope: "house_account",
      short_reference_id: "P261121-AB12CD34",
      transaction_type: "card charge",
      transaction_status: "-1",
      date_type: "complete_time",
      start: 1_763_600_000_000,
      end: 1_763_600_000_001,
    },
    query: {
      page_num: "1",
      page_size: "100",
      scope: "house_account",
      short_reference_id: "P261121-AB12CD34",
      transaction_type: "card charge",
      transaction_status: "-1",
      date_type: "complete_time",
      start_time: "1763600000000",
      end_time: "1763600000001",
    },
    data: page(transaction),
    read: pageRead(set(transaction)),
  },
  createCardholder: {
    method: "POST",
    path: "/api/v1/cardholders/create",
    request: {
      ...requests.createCardholder,
      residential_address: "2 Main Street",
      delivery_address: "3 Main Street",
      card_holder_status: -1,
    },
    data: { card_holder_id: "ch-1" },
    read: { card_holder_id: "ch-1" },
  },
  listCardholders: {
    method: "GET",
    path: "/api/v1/cardholders",
    request: {
      page_num: 1,
      page_size: 50,
      direct_account_id: "da-1",
      card_account_id: "ca-1",
      card_holder_status: 2,
      name: "Ada L",
    },
    query: {
      page_num: "1",
      page_size: "50",
      direct_account_id: "da-1",
      card_account_id: "ca-1",
      card_holder_status: "2",
      name: "Ada L",
    },
    data: page(cardholder),
    read: pageRead(set(cardholder)),
  },
  removeCardholder: {
    method: "POST",
    path: "/api/v1/cardholders/ch-1/remove",
    request: { card_holder_id: "ch-1" },
    body: {},
  },
  createCard: {
    method: "POST",
    path: "/api/v1/cards/create",
    request: requests.createCard,
    body: { ...requests.createCard, card_limit: 100 },
    data: { card_id: "card-1", card_status: "pending", unique_request_id },
    read: { card_id: "card-1", card_status: "pending", unique_request_id },
  },
  withdrawFromCard: {
    method: "POST",
    path: "/api/v1/cards/withdraw",
    request: requests.withdrawFromCard,
    data: requests.withdrawFromCard,
    read: requests.withdrawFromCard,
  },
  updateCard: { method: "POST", path: "/api/v1/cards/update", request: requests.updateCard },
  cancelCard: { method: "POST", path: "/api/v1/cards/cancel", request: requests.cancelCard },
  freezeCard: { method: "POST", path: "/api/v1/cards/freeze", request: requests.freezeCard },
};

const rows = Object.entries(OPERATIONS) as ReadonlyArray<[Exclude<OperationName, "ping">, Row]>;

describe.each(rows)("%s", (name, { body, data, method, path, query = {}, read, request }) => {
  it("is sent as the document has it, and its answer is read", async () => {
    const { result, sent } = await exchange(name, request, success(data));
    expect(sent).toMatchObject({ method, path, query });
    expect(sent.headers).toMatchObject({
      accept: "application/json",
      "x-client-id": "client-7",
      "x-auth-token": "Bearer token-1",
      ...(method === "POST" && { "content-type": "application/json" }),
    });
    expect(sent.headers).not.toHaveProperty("x-api-key");
    expect(sent.body === "" ? undefined : JSON.parse(sent.body)).toStrictEqual(
      method === "POST" ? (body ?? request) : undefined,
    );
    expect(result).toStrictEqual(read);
  });

  it("has its envelope read in any form: code as a text, no message, unknown fields", async () => {
    for (const envelope of [
      { code: "200", message: " SUCCESS ", trace: { id: 7 } },
      { code: 200, message: null },
      { code: 200 },
    ]) {
      const { result } = await exchange(name, request, { body: { ...envelope, data } });
      expect(result).toStrictEqual(read);
    }
  });

  it("is sent on a connection of its own if it must not be sent twice", async () => {
    const { sent } = await exchange(name, request, success(data));
    const isOnce = operation(name).idempotency === "none";
    expect(sent.headers.connection).toBe(isOnce ? "close" : "keep-alive");
  });
});

describe("the sign-in and ping", () => {
  it("sign in once, with client id and API key in headers, no body and no token", async () => {
    const token = { auth_token: "eyJhbGciOi.J9-_x", expired_at: 4_000_000_000, scope: ["all"] };
    await using server = await startServer(
      (): Reply => ({ body: { message: "pong", at: 3 } }),
      () => success(token),
    );
    await using client = clientFor(server.url);
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    await client.ping();
    expect(server.signIns).toMatchObject([
      { method: "POST", path: "/api/v1/auth/signin", query: {}, body: "" },
    ]);
    expect(server.signIns[0]?.headers).toMatchObject({
      "x-client-id": "client-7",
      "x-api-key": "key-of-the-test",
    });
    expect(server.signIns[0]?.headers).not.toHaveProperty("x-auth-token");
    expect(server.requests[1]).toMatchObject({ method: "GET", path: "/api/v1/ping", body: "" });
    expect(server.requests[1]?.headers["x-auth-token"]).toBe("Bearer eyJhbGciOi.J9-_x");
  });
});

it.each(rows)("%s needs no more than the least of its answer", async (name, { request }) => {
  const { result } = await exchange(name, request, answers[name]);
  expect(result === undefined || typeof result === "object").toBe(true);
});
