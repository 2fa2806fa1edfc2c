import type { Simulator } from "../../src/index.ts";
import { beneficiary, cardholder, payout } from "./bodies.ts";
import type { Client } from "./raw-client.ts";

export const createBeneficiary = async (client: Client): Promise<string> =>
  (await client.post("/api/v1/beneficiaries/create", beneficiary)).body.data.beneficiary_id;

export const createPayout = async (
  client: Client,
  beneficiary_id: string,
  changes: Record<string, unknown> = {},
) => client.post("/api/v1/payouts/create", { ...payout, beneficiary_id, ...changes });

export const createCardholder = async (client: Client, changes = {}): Promise<string> =>
  (await client.post("/api/v1/cardholders/create", { ...cardholder, ...changes })).body.data
    .card_holder_id;

export const balance = async (client: Client, currency = "USD"): Promise<string> =>
  (await client.get(`/api/v1/balances/retrieve/${currency}`)).body.data.available_balance;

/** A verified cardholder, and the body that gives it a card. */
export const cardBody = async (simulator: Simulator, client: Client) => {
  const card_holder_id = await createCardholder(client);
  await simulator.setVerification(card_holder_id, "SUCCESS");
  const usd = await client.get("/api/v1/balances/retrieve/USD");
  return {
    card_holder_id,
    product_code: "PREPAID",
    balance_id: usd.body.data.balance_id,
    card_limit: 100.5,
    unique_request_id: "card-1",
  };
};

/** A card with 100.50 USD on it; its number is shown by the ledger only. */
export const createCard = async (simulator: Simulator, client: Client) => {
  const body = await cardBody(simulator, client);
  const { card_id } = (await client.post("/api/v1/cards/create", body)).body.data;
  const card = (await simulator.state()).cards.find((each) => each.card_id === card_id)!;
  return { card_id, card_number: card.card_number };
};
