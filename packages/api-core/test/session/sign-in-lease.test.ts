import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import { PaymentsClient, RateLimited, SignInLease } from "../../src/index.ts";
import { answers } from "../support/responses.ts";
import { startServer } from "../support/server.ts";

const leased = (url: string, lease: typeof SignInLease.Service) =>
  PaymentsClient.layer({
    baseUrl: url,
    clientId: "client-1",
    apiKey: "key",
    maxAttempts: 1,
  }).pipe(Layer.provide(Layer.succeed(SignInLease, lease)));

it("a lease is asked for before each sign-in, and for nothing else", async () => {
  await using server = await startServer(() => answers.ping);
  let granted = 0;
  const lease = Effect.sync(() => void (granted += 1));
  const pings = PaymentsClient.use((client) =>
    Effect.all([client.ping(), client.ping()], { concurrency: 2 }),
  );
  await Effect.runPromise(Effect.provide(pings, leased(server.url, lease)));
  expect(granted).toBe(1);
  expect(server.signIns).toHaveLength(1);
});

it("without a lease nothing is sent, and the error says when to try again", async () => {
  await using server = await startServer(() => answers.ping);
  const lease = Effect.fail(
    new RateLimited({
      operation: "signIn",
      carriedOut: "no",
      message: "The budget is used up.",
      retryAfter: 60_000,
    }),
  );
  const ping = PaymentsClient.use((client) => client.ping()).pipe(Effect.flip);
  const error = await Effect.runPromise(Effect.provide(ping, leased(server.url, lease)));
  expect(error).toMatchObject({
    _tag: "RateLimited",
    operation: "ping",
    carriedOut: "no",
    message: "ping was not sent. The budget is used up.",
    retryAfter: 60_000,
  });
  expect(server.signIns).toEqual([]);
  expect(server.requests).toEqual([]);
});
