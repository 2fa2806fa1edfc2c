import { makeAssumptions } from "@durable-payments/client/settings";
import { checkInput } from "@durable-payments/client/contract";
import { createClient, payoutState, RequestRefused } from "@durable-payments/client";
import {
  BeforeSend,
  clientSecondsUntilExpiry,
  didYouMean,
  PaymentsClient,
  redact,
} from "@durable-payments/client/effect";
import { startSimulator } from "durable-payments/testing";
import { Effect, Result } from "effect";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";

/** The examples of the client's docstrings, against the simulated service. */
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let client: ReturnType<typeof createClient>;
let settings: { readonly baseUrl: string; readonly clientId: string; readonly apiKey: string };

beforeAll(async () => {
  simulator = await startSimulator({
    balances: { USD: "1000.00" },
    settleAfter: Infinity,
    verifyAfter: 0,
  });
  const { apiKey, clientId, url } = simulator;
  settings = { baseUrl: url, clientId, apiKey };
  client = createClient(settings);
});
afterAll(async () => {
  await client.close();
  await simulator.stop();
});

it("signs in, and reads balances", async () => {
  // #region example
  const { message } = await client.ping();
  // #endregion
  expect(message).toBe("pong");
  {
    // #region example
    const { available_balance } = await client.retrieveBalance({ currency: "USD" });
    // #endregion
    expect(available_balance).toBe("1000.00");
  }
  // #region example
  const { local, swift } = await client.retrieveBalanceBankDetails({ currency: "USD" });
  // #endregion
  expect([local, swift]).not.toContain(undefined);
  {
    const { apiKey, baseUrl, clientId } = settings;
    // #region example
    const client = createClient({ baseUrl, clientId, apiKey });
    const { available_balance } = await client.retrieveBalance({ currency: "USD" });
    await client.close();
    // #endregion
    expect(available_balance).toBe("1000.00");
  }
});

it("says how long its credentials are good", async () => {
  vi.stubEnv("PAYMENTS_BASE_URL", settings.baseUrl);
  vi.stubEnv("PAYMENTS_CLIENT_ID", settings.clientId);
  vi.stubEnv("PAYMENTS_API_KEY", settings.apiKey);
  onTestFinished(() => void vi.unstubAllEnvs());
  // #region example
  const { cert } = await Effect.runPromise(
    PaymentsClient.useSync(({ options }) => clientSecondsUntilExpiry(options)).pipe(
      Effect.provide(PaymentsClient.layerConfig),
    ),
  );
  // #endregion
  expect(cert).toBeUndefined();
});

it("pays a beneficiary", async () => {
  // The month of the transactions that are listed.
  vi.setSystemTime(new Date("2026-11-22"));
  onTestFinished(() => {
    vi.useRealTimers();
  });
  // #region example
  await client.createBalance({ currency: "EUR", name: "Suppliers in Europe" });
  // #endregion
  await simulator.fund("EUR", "20.00");
  // #region example
  const [payer] = await client.listPayers();
  // #endregion
  expect(payer).toHaveProperty("payer_id");
  // #region example
  const { beneficiary_id } = await client.createBeneficiary({
    bank_country: "DE",
    account_currency: "EUR",
    entity_type: "company",
    email: "books@example.com",
    nickname: "Engines",
    company_name: "Engines GmbH",
    payment_method: "local",
    bank_name: "First Bank",
    bank_address: "1 Main Street, Berlin",
    account_holder: "Engines GmbH",
    iban: "DE89370400440532013000",
    country_code: "DE",
    city: "Berlin",
    state: "",
    address: "2 Main Street",
    postal_code: "10115",
  });
  // #endregion
  // #region example
  const { beneficiary_nickname } = await client.retrieveBeneficiary({ beneficiary_id });
  // #endregion
  expect(beneficiary_nickname).toBe("Engines");
  // #region example
  const { payout_id } = await client.createPayout({
    beneficiary_id,
    amount: "12.50",
    currency: "EUR",
    payout_reason: "Payment for goods",
    payout_reference: "Invoice 17",
    payment_date: "2026-12-01",
    is_payer: "Y",
    unique_request_id: "invoice-17",
  });
  // #endregion
  // #region example
  const { complete_time, payout_status } = await client.retrievePayout({ payout_id });
  // #endregion
  expect([complete_time, payout_status]).toStrictEqual([undefined, "processing"]);
  // #region example
  const state = payoutState(await client.retrievePayout({ payout_id })); // "open"
  // #endregion
  expect(state).toBe("open");
  {
    await simulator.setPayoutStatus(payout_id, "awaiting_funds");
    // #region example
    const { item_list } = await client.listPayouts({
      page_num: 1,
      page_size: 50,
      status: "awaiting_funds",
    });
    // #endregion
    expect(item_list).toMatchObject([{ payout_id }]);
  }
  {
    // #region example
    const { item_list } = await client.listTransactions({
      page_num: 1,
      page_size: 100,
      transaction_type: "payout",
      date_type: "create_time",
      start: Date.parse("2026-11-01T00:00:00Z"),
      end: Date.parse("2026-11-30T00:00:00Z"),
    });
    // #endregion
    expect(item_list).toMatchObject([{ amount: "12.50" }]);
  }
  // #region example
  await client.updateBeneficiary({
    beneficiary_id,
    bank_country: "US",
    account_currency: "USD",
    entity_type: "individual",
    email: "ada@example.com",
    nickname: "Ada",
    payment_method: "local",
    bank_name: "First Bank",
    bank_address: "1 Main Street",
    account_holder: "Ada Lovelace",
    account_number: "000123456789",
    clearing_system: "ACH",
    country_code: "US",
    city: "Austin",
    state: "TX",
    address: "2 Main Street",
    postal_code: "73301",
  });
  // #endregion
  expect(await client.retrieveBeneficiary({ beneficiary_id })).toMatchObject({
    beneficiary_nickname: "Ada",
  });
});

it("issues a card", async () => {
  const { balance_id } = await client.retrieveBalance({ currency: "USD" });
  // #region example
  const { card_holder_id } = await client.createCardholder({
    email: "ada@example.com",
    first_name: "Ada",
    last_name: "Lovelace",
    date_birth: "1990-12-10",
    phone_number: "+1 512 555 0100",
    card_holder_status: 0,
  });
  // #endregion
  // #region example
  const { item_list } = await client.listCardholders({ page_num: 1, page_size: 50, name: "Ada" });
  // #endregion
  expect(item_list).toMatchObject([{ card_holder_id }]);
  // #region example
  const { card_id } = await client.createCard({
    card_holder_id,
    product_code: "prepaid-usd",
    balance_id,
    card_limit: "100.00",
    unique_request_id: "card-of-ada",
  });
  // #endregion
  const { cards } = await simulator.state();
  const { card_number = "" } = cards[0] ?? {};
  // #region example
  await client.withdrawFromCard({
    card_id,
    card_number,
    amount: "5.00",
    unique_request_id: "withdrawal-7",
  });
  // #endregion
  // #region example
  await client.updateCard({ card_id, card_name: "Travel" });
  // #endregion
  // #region example
  await client.freezeCard({ card_id });
  // #endregion
  // #region example
  await client.cancelCard({ card_id });
  // #endregion
  // #region example
  await client.removeCardholder({ card_holder_id });
  // #endregion
  const state = await simulator.state();
  expect(state.cards).toMatchObject([{ card_name: "Travel", card_status: "cancelled" }]);
  expect(state.cardholders).toMatchObject([{ removed: true }]);
});

it("is made with Effect, and asks before it sends", async () => {
  const { apiKey, baseUrl, clientId } = settings;
  const payout = {
    beneficiary_id: "none",
    amount: "12.50",
    currency: "EUR",
    payout_reason: "Payment for goods",
    payout_reference: "Invoice 18",
    payment_date: "2026-12-01",
    is_payer: "Y",
  } as const;
  const isPaused = () => true;
  const paused = (operation: string) =>
    new RequestRefused({
      operation,
      carriedOut: "no",
      code: 0,
      reason: "paused",
      message: "paused",
    });
  const program = Effect.gen(function* () {
    const client = yield* PaymentsClient;
    // #region example
    const guarded = Effect.provideService(client.createPayout(payout), BeforeSend, (operation) =>
      isPaused() ? Effect.fail(paused(operation)) : Effect.void,
    );
    // #endregion
    return yield* Effect.flip(guarded);
  });
  // #region example
  const provided = Effect.provide(program, PaymentsClient.layer({ baseUrl, clientId, apiKey }));
  // #endregion
  expect(await Effect.runPromise(provided)).toMatchObject({ reason: "paused" });
  expect((await simulator.state()).payouts).toHaveLength(1);
});

it("answers each request by a function, in a test", async () => {
  const enveloped = (data: object) => JSON.stringify({ code: 200, message: "Success", data });
  const bodies: Readonly<Record<string, string>> = {
    signIn: enveloped({ auth_token: "token" }),
    retrieveBalance: enveloped({ balance_id: "b-1", currency: "USD", available_balance: "5.00" }),
  };
  // #region example
  const test = PaymentsClient.layerTest(({ operation }) =>
    Effect.succeed({ status: 200, headers: {}, body: bodies[operation.name] ?? "" }),
  );
  // #endregion
  const read = PaymentsClient.use((client) => client.retrieveBalance({ currency: "USD" }));
  const { available_balance } = await Effect.runPromise(Effect.provide(read, test));
  expect(available_balance).toBe("5.00");
});

it("does what its README shows, at a service that is new", async () => {
  const fresh = await startSimulator();
  const printed = vi.spyOn(console, "log").mockReturnValue();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    printed.mockRestore();
    return fresh.stop();
  });
  vi.stubEnv("PAYMENTS_BASE_URL", fresh.url);
  vi.stubEnv("PAYMENTS_CLIENT_ID", fresh.clientId);
  vi.stubEnv("PAYMENTS_API_KEY", fresh.apiKey);
  for (const name of ["pay-once", "effect", "promise", "options", "mock"]) {
    await import(join(import.meta.dirname, `${name}.ts`));
  }
  const lines = printed.mock.calls.map((words) => words.join(" "));
  expect(lines).toContain("USD 100000.00");
  expect(lines).toContain("200 application/json 100000.00");
  expect(lines.at(-1)).toBe("12.50");
  expect((await fresh.state()).balances).toHaveLength(3);
});

it("checks inputs, names and settings without sending anything", () => {
  // #region example
  const faults = checkInput("freezeCard", {}); // [{ field: "card_id", problem: "is required" }]
  // #endregion
  expect(faults).toStrictEqual([{ field: "card_id", problem: "is required" }]);
  // #region example
  const assumptions = makeAssumptions({ timeZone: "Asia/Singapore", listLagSeconds: 60 });
  // #endregion
  expect(Result.getOrThrow(assumptions)).toMatchObject({ listLagSeconds: 60 });
  // #region example
  const hint = didYouMean(["maxAmmounts"], ["maxAmounts"]); // " (did you mean maxAmounts?)"
  // #endregion
  expect(hint).toBe(" (did you mean maxAmounts?)");
  // #region example
  const shown = redact('{"iban":"DE89370400440532013000"}'); // {"iban":"…3000"}
  // #endregion
  expect(shown).toBe('{"iban":"…3000"}');
});
