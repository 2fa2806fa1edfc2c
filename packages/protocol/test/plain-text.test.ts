import { expect, it } from "vitest";
import { isOnThisMachine, readTemporalConfiguration } from "../src/temporal-connection.ts";

const read = (
  connectionOptions: {
    readonly address?: string;
    readonly apiKey?: string;
    readonly tls?: boolean;
  },
  environment: Readonly<Record<string, string>> = {},
  settings: { readonly allowPlainTextTemporal?: boolean } = {},
) => readTemporalConfiguration(environment, () => ({ connectionOptions }), settings);

it.each([
  undefined,
  "localhost:7233",
  "127.0.0.1:7233",
  "127.1.2.3:7233",
  "[::1]:7233",
  "localhost",
])("Temporal on this machine is spoken to in plain text: %s", (address) => {
  expect(() => read({ ...(address && { address }) })).not.toThrow();
});

it.each([
  "temporal.example.com:7233",
  "10.0.0.7:7233",
  "127.evil.example:7233",
  "localhost.evil.example:7233",
  "[2001:db8::1]:7233",
  "0.0.0.0:7233",
])("Temporal elsewhere is not: %s", (address) => {
  expect(isOnThisMachine({ address })).toBe(false);
  expect(() => read({ address })).toThrow("would be in plain text: set TEMPORAL_TLS=true");
  expect(() => read({ address, tls: false })).toThrow("PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL=true");
  expect(() => read({ address, tls: true })).not.toThrow();
  const allowed = { allowPlainTextTemporal: true };
  expect(() => read({ address }, {}, allowed)).not.toThrow();
  // Whatever the network does: a key is worth more than what it protects now.
  expect(() => read({ address, apiKey: "k", tls: false }, {}, allowed)).toThrow(
    "the API key would be sent to another machine in plain text",
  );
});

it("is not spoken to by TLS that Node checks nothing of", () => {
  const address = "temporal.example.com:7233";
  const environment = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  expect(() => read({ address, tls: true }, environment)).toThrow("NODE_TLS_REJECT_UNAUTHORIZED=0");
  expect(() => read({ address: "localhost:7233" }, environment)).not.toThrow();
});
