import { expect, it } from "vitest";
import {
  type ClientSettings,
  createClient,
  type PaymentsError,
  type PromiseClient,
  type RateLimited,
} from "../src/index.ts";

// `tsc` checks this file: each `@ts-expect-error` fails if its line compiles.

it("settings without a key do not compile, and reject the first call", async () => {
  // @ts-expect-error -- neither apiKey nor apiKeyFile
  const none: ClientSettings = { baseUrl: "http://localhost:1", clientId: "c" };
  await expect(createClient(none).ping()).rejects.toThrow("PAYMENTS_API_KEY (apiKey) or ");
});

it("options in the place of the input of ping do not compile, and are refused", async () => {
  await using client = createClient({ baseUrl: "http://localhost:1", clientId: "c", apiKey: "k" });
  // @ts-expect-error -- ping has no fields
  await expect(client.ping({ signal: 3 })).rejects.toThrow("signal is not a field");
});

it("a client is closed at the end of its block", async () => {
  const clients: Array<PromiseClient> = [];
  {
    await using client = createClient({
      baseUrl: "http://localhost:1",
      clientId: "c",
      apiKey: "k",
    });
    clients.push(client);
  }
  await expect(clients[0]?.ping()).rejects.toThrow("the client is closed");
});

it("errors narrow by what they say of the outcome", () => {
  const tagOf = (error: PaymentsError): "OutcomeUnknown" | "UnexpectedAnswer" | undefined =>
    error.carriedOut === "unknown" ? error._tag : undefined;
  const reasonOf = ({ reason }: RateLimited): string | undefined => reason;
  // @ts-expect-error -- an operation that the service does not have
  const isOfPayout = ({ operation }: PaymentsError): boolean => operation === "createPayot";
  expect([tagOf, reasonOf, isOfPayout]).toHaveLength(3);
});
