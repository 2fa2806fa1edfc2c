import type { Simulator } from "../../src/index.ts";

/** Fields that tests read one by one, each a text. */
type TextField =
  | "account_number"
  | "amount"
  | "auth_token"
  | "available_balance"
  | "balance_id"
  | "beneficiary_address"
  | "beneficiary_bank_details"
  | "beneficiary_id"
  | "card_holder_id"
  | "card_holder_status"
  | "card_id"
  | "card_status"
  | "complete_time"
  | "create_time"
  | "id"
  | "payer_id"
  | "payout_id"
  | "payout_status"
  | "short_reference"
  | "transaction_type"
  | "unique_request_id";

/** The data of an answer, as far as tests read it field by field; each knows what it asked for. */
type Data = Readonly<Record<TextField, string>> & {
  readonly expires_at: number;
  readonly card_num: number;
  readonly total_item: number;
  readonly total_page: number;
  readonly item_list: ReadonlyArray<Data>;
};

/** An answer as it came over the wire; the tests say what it must be. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came. */
  readonly text: string;
  /** The body read as JSON, where it is. */
  readonly body: { readonly code: number; readonly message: string; readonly data: Data };
}

/** Where a simulator listens and how to sign in. */
export type Target = Pick<Simulator, "url" | "clientId" | "apiKey">;

/** One request, written as the service's document writes it. */
export const send = async (
  target: Pick<Target, "url">,
  method: string,
  path: string,
  options: { readonly headers?: Record<string, string>; readonly body?: unknown } = {},
): Promise<Answer> => {
  const response = await fetch(target.url + path, {
    method,
    headers: {
      ...options.headers,
      ...(options.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson
      ? (JSON.parse(text) as Answer["body"])
      : { code: 0, message: text, data: {} as Data },
  };
};

/** Signs in and returns the token. */
export const signIn = async (target: Target): Promise<string> => {
  const { body } = await send(target, "POST", "/api/v1/auth/signin", {
    headers: { "x-client-id": target.clientId, "x-api-key": target.apiKey },
  });
  return body.data.auth_token;
};

/** Requests of a client that is signed in. */
export const signedIn = async (target: Target, token?: string) => {
  const headers = {
    "x-client-id": target.clientId,
    "x-auth-token": `Bearer ${token ?? (await signIn(target))}`,
  };
  return {
    headers,
    get: (path: string) => send(target, "GET", path, { headers }),
    post: (path: string, body: unknown) => send(target, "POST", path, { headers, body }),
    send: (method: string, path: string, body?: unknown) =>
      send(target, method, path, { headers, body }),
  };
};

/** See {@link signedIn}. */
export type Client = Awaited<ReturnType<typeof signedIn>>;
