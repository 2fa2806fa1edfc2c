import { ITEMS, PAYOUT_ID } from "./answers.ts";
import { clientPath } from "./build.ts";

/** The two reads that are measured. */
export type Read = "small" | "list";

/** One client, asked for the same answers as the others. */
export type Contender = Readonly<Record<Read, () => Promise<unknown>>>;

/** Names of the contenders. */
export type ContenderName = "ours" | "undici" | "stripe";

const CONNECTIONS = 64;

const headers = {
  accept: "application/json",
  "x-client-id": "bench",
  "x-auth-token": "Bearer bench-token",
};

const paths = {
  small: `/api/v1/payouts/${PAYOUT_ID}/retrieve`,
  list: `/api/v1/payouts?page_num=1&page_size=${ITEMS}`,
};

const settings = (baseUrl: string) => ({ baseUrl, clientId: "bench", apiKey: "bench-key" });

const page = { page_num: 1, page_size: ITEMS };

/**
 * The contenders by name, each made for the server at `baseUrl`. Each loads what it needs and no
 * more: what a fresh process costs depends on it.
 */
export const contenders: Readonly<Record<ContenderName, (baseUrl: string) => Promise<Contender>>> =
  {
    ours: async (baseUrl) => {
      const { createClient } = (await import(
        clientPath
      )) as typeof import("@durable-payments/client");
      const client = createClient(settings(baseUrl));
      return {
        small: () => client.retrievePayout({ payout_id: PAYOUT_ID }),
        list: () => client.listPayouts(page),
      };
    },
    undici: async (baseUrl) => {
      const { Pool } = await import("undici");
      const pool = new Pool(baseUrl, { connections: CONNECTIONS });
      const read = async (path: string) =>
        await (await pool.request({ method: "GET", path, headers })).body.json();
      return { small: () => read(paths.small), list: () => read(paths.list) };
    },
    stripe: async (baseUrl) => {
      const { Stripe } = await import("stripe");
      const { hostname, port } = new URL(baseUrl);
      // Without its telemetry it does less: the cheapest that it can be.
      const client = new Stripe("sk_test_bench", {
        host: hostname,
        port,
        protocol: "http",
        telemetry: false,
      });
      return {
        small: () => client.payouts.retrieve(PAYOUT_ID),
        list: () => client.payouts.list({ limit: ITEMS }),
      };
    },
  };
