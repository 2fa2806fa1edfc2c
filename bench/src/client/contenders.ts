import { makePaymentsClient, PaymentsClient } from "@durable-payments/api-core";
import { Effect, ManagedRuntime } from "effect";
import createFetchClient from "openapi-fetch";
import { Stripe } from "stripe";
import { Pool } from "undici";
import { ITEMS, PAYOUT_ID } from "./answers.ts";

/** The two reads that are measured. */
export type Read = "small" | "list";

/** One client, asked for the same answers as the others. */
export type Contender = Readonly<Record<Read, () => Promise<unknown>>>;

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

/** What openapi-typescript would write of these two operations. */
interface Paths {
  "/api/v1/payouts/{payout_id}/retrieve": {
    get: {
      parameters: { path: { payout_id: string } };
      responses: { 200: { content: { "application/json": Record<string, unknown> } } };
    };
  };
  "/api/v1/payouts": {
    get: {
      parameters: { query: { page_num: number; page_size: number } };
      responses: { 200: { content: { "application/json": Record<string, unknown> } } };
    };
  };
}

const settings = (baseUrl: string) => ({ baseUrl, clientId: "bench", apiKey: "bench-key" });

const page = { page_num: 1, page_size: ITEMS };

/** The contenders by name, each made for the server at `baseUrl`. */
export const contenders = {
  ours: (baseUrl) => {
    const client = makePaymentsClient(settings(baseUrl));
    return {
      small: () => client.retrievePayout({ payout_id: PAYOUT_ID }),
      list: () => client.listPayouts(page),
    };
  },
  effect: (baseUrl) => {
    const runtime = ManagedRuntime.make(PaymentsClient.layer(settings(baseUrl)));
    const retrieve = PaymentsClient.use((client) =>
      client.retrievePayout({ payout_id: PAYOUT_ID }),
    );
    const list = PaymentsClient.use((client) => client.listPayouts(page));
    return {
      small: () => runtime.runPromise(Effect.asVoid(retrieve)),
      list: () => runtime.runPromise(Effect.asVoid(list)),
    };
  },
  undici: (baseUrl) => {
    const pool = new Pool(baseUrl, { connections: CONNECTIONS });
    const read = async (path: string) =>
      await (await pool.request({ method: "GET", path, headers })).body.json();
    return { small: () => read(paths.small), list: () => read(paths.list) };
  },
  fetch: (baseUrl) => {
    const read = async (path: string) => await (await fetch(baseUrl + path, { headers })).json();
    return { small: () => read(paths.small), list: () => read(paths.list) };
  },
  "openapi-fetch": (baseUrl) => {
    const client = createFetchClient<Paths>({ baseUrl, headers });
    return {
      small: () =>
        client.GET("/api/v1/payouts/{payout_id}/retrieve", {
          params: { path: { payout_id: PAYOUT_ID } },
        }),
      list: () => client.GET("/api/v1/payouts", { params: { query: page } }),
    };
  },
  stripe: (baseUrl) => {
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
} satisfies Readonly<Record<string, (baseUrl: string) => Contender>>;

/** Names of the contenders. */
export type ContenderName = keyof typeof contenders;
