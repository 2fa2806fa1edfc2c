import { PaymentsClient } from "@durable-payments/client/effect";
import { Effect } from "effect";
import { expect, test } from "vitest";

const balanceOf = (currency: string) =>
  PaymentsClient.use((client) => client.retrieveBalance({ currency })).pipe(
    Effect.map(({ available_balance }) => available_balance),
    Effect.catchTag("RateLimited", ({ retryAfter }) => Effect.succeed(`in ${retryAfter} ms`)),
  );

const balance = { balance_id: "b-1", currency: "EUR", available_balance: "5.00" };

const answer = (status: number, data: object) =>
  Effect.succeed({
    status,
    headers: status === 429 ? { "retry-after": "60" } : {},
    body: JSON.stringify({ code: status, message: status === 200 ? "Success" : "Slow down", data }),
  });

test.each([
  [200, "5.00"],
  [429, "in 60000 ms"],
])("HTTP %i is shown as %s", async (status, shown) => {
  const service = PaymentsClient.layerTest(({ operation }) =>
    operation.name === "signIn"
      ? answer(200, { auth_token: "token" })
      : answer(status, status === 200 ? balance : {}),
  );
  expect(await Effect.runPromise(Effect.provide(balanceOf("EUR"), service))).toBe(shown);
});
