import { expect } from "vitest";
import type { ClientSettings } from "../../src/client/config.ts";
import type { PromiseClientSettings } from "../../src/client/promise-client.ts";
import { isPaymentsError, type OperationName, type PaymentsError } from "../../src/effect.ts";
import { type CallOptions, createClient, type PromiseClient } from "../../src/index.ts";
import type { RequestOptions } from "../../src/client/call-options.ts";
import type { PaymentsClientShape } from "../../src/client/client-shape.ts";
import type { Effect } from "effect";
import { type Answer, type Received, type Reply, startServer } from "./server.ts";

/** Settings for a server of a test: no long waits. */
export const settingsFor = (
  url: string,
  settings: Partial<ClientSettings> = {},
): PromiseClientSettings => ({
  baseUrl: url,
  clientId: "client-7",
  apiKey: "key-of-the-test",
  retryBaseMs: 1,
  ...settings,
});

/** A promise client that closes with the test. */
export const clientFor = (url: string, settings: Partial<ClientSettings> = {}): PromiseClient =>
  createClient(settingsFor(url, settings));

type AnyOperation = (input: unknown, options?: CallOptions) => Promise<unknown>;

/** An operation by its name, with an input that need not be right. */
export const anyOperation = (client: PromiseClient, name: OperationName): AnyOperation =>
  client[name] as AnyOperation;

type AnyEffect = (
  input: unknown,
  options?: RequestOptions,
) => Effect.Effect<unknown, PaymentsError>;

/** The same of the client for Effect. */
export const anyEffect = (client: PaymentsClientShape, name: OperationName): AnyEffect =>
  client[name] as AnyEffect;

/** The typed error that a call rejects with. */
export const failureOf = async (call: Promise<unknown>): Promise<PaymentsError> => {
  const error = await call.then(
    (value) => {
      throw new Error(`succeeded: ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  expect(error).toSatisfy(isPaymentsError);
  return error as PaymentsError;
};

export interface Exchange {
  readonly sent: Received;
  readonly result: unknown;
}

/** One call against a server that gives one answer to everything. */
export const exchange = async (
  name: OperationName,
  input: unknown,
  reply: Reply | Answer,
  settings: Partial<ClientSettings> = {},
): Promise<Exchange> => {
  await using server = await startServer(typeof reply === "function" ? reply : () => reply);
  await using client = clientFor(server.url, settings);
  const result = await anyOperation(client, name)(input);
  const [sent] = server.requests;
  if (sent === undefined) throw new Error(`${name} sent nothing`);
  return { sent, result };
};

/** The error of one call against a server that gives one answer to everything, and what it sent. */
export const failedExchange = async (
  name: OperationName,
  input: unknown,
  reply: Reply | Answer,
  settings: Partial<ClientSettings> = {},
  options: CallOptions = {},
): Promise<{ readonly error: PaymentsError; readonly requests: ReadonlyArray<Received> }> => {
  await using server = await startServer(typeof reply === "function" ? reply : () => reply);
  await using client = clientFor(server.url, settings);
  const error = await failureOf(anyOperation(client, name)(input, options));
  return { error, requests: [...server.requests] };
};
