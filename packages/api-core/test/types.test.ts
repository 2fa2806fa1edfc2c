import { expect, it } from "vitest";
import {
  type ClientSettings,
  createClient,
  type PaymentsError,
  type RateLimited,
} from "../src/index.ts";

// `tsc` checks this file: each `@ts-expect-error` fails if its line compiles.

it("settings without a key do not compile, and reject the first call", async () => {
  // @ts-expect-error -- neither apiKey nor apiKeyFile
  const none: ClientSettings = { baseUrl: "http://localhost:1", clientId: "c" };
  await expect(createClient(none).ping()).rejects.toThrow("PAYMENTS_API_KEY (apiKey) or ");
});

it("options in the place of the input of ping do not compile, and are refused", async () => {
  const client = createClient({ baseUrl: "http://localhost:1", clientId: "c", apiKey: "k" });
  // @ts-expect-error -- ping has no fields
  await expect(client.ping({ signal: 3 })).rejects.toThrow("signal is not a field");
  await client.close();
});

it("errors narrow by what they say of the outcome", () => {
  const tagOf = (error: PaymentsError): "OutcomeUnknown" | "UnexpectedAnswer" | undefined =>
    error.carriedOut === "unknown" ? error._tag : undefined;
  const reasonOf = ({ reason }: RateLimited): string | undefined => reason;
  expect([tagOf, reasonOf]).toHaveLength(2);
});
