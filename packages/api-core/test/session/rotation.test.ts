import { describe, expect, it, vi } from "vitest";
import { clientFor, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { type Answer, type Received, refusal, signsIn, startServer } from "../support/server.ts";

const keysOf = (signIns: ReadonlyArray<Received>) =>
  signIns.map(({ headers }) => headers["x-api-key"]);

const tokensOf = (sent: ReadonlyArray<Received>) =>
  sent.map(({ headers }) => headers["x-auth-token"]);

const heard = () => {
  const warnings: Array<string> = [];
  const logger = { debug: () => undefined, warn: (message: string) => warnings.push(message) };
  return { logger, warnings };
};

describe("an API key that changes while the client is in use", () => {
  it("signs in anew beside the requests, each of which ends with the token that it began with", async () => {
    let key = "first-key";
    const gate = Promise.withResolvers<void>();
    const held: Answer = (_received, n) =>
      n === 0
        ? ({ response }) =>
            void gate.promise.then(() => {
              response.writeHead(200, { "content-type": "application/json" });
              response.end(JSON.stringify(answers.createPayout.body));
            })
        : answers.createPayout;
    await using server = await startServer(held);
    await using client = clientFor(server.url, { apiKey: () => key });
    const underWay = client.createPayout(requests.createPayout);
    await server.received(1);
    key = "second-key";
    await client.createPayout(requests.createPayout);
    await vi.waitFor(() => expect(server.signIns).toHaveLength(2));
    await vi.waitFor(async () => {
      await client.createPayout(requests.createPayout);
      expect(tokensOf(server.requests).at(-1)).toBe("Bearer token-2");
    });
    gate.resolve();
    expect(await underWay).toMatchObject({ payout_id: "p-1" });
    expect(tokensOf(server.requests).slice(0, 2)).toStrictEqual([
      "Bearer token-1",
      "Bearer token-1",
    ]);
    expect(keysOf(server.signIns)).toStrictEqual(["first-key", "second-key"]);
  });

  it("and that the service refuses is tried once; requests go on with the token of the one before", async () => {
    let key = "first-key";
    const { logger, warnings } = heard();
    const takesFirst: Answer = (received, n) =>
      received.headers["x-api-key"] === "first-key"
        ? signsIn(received, n)
        : refusal("Invalid API key", 401);
    await using server = await startServer(() => answers.ping, takesFirst);
    await using client = clientFor(server.url, { apiKey: () => key, logger });
    await client.ping();
    key = "wrong-key";
    await client.ping();
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    for (let call = 0; call < 5; call++) await client.ping();
    expect(keysOf(server.signIns)).toStrictEqual(["first-key", "wrong-key"]);
    expect(new Set(tokensOf(server.requests))).toStrictEqual(new Set(["Bearer token-1"]));
    expect(warnings[0]).toMatch(/^The API key has changed\. Signing in failed/);
    expect(warnings[0]).not.toMatch(/first-key|wrong-key/);
    key = "first-key";
    await client.ping();
    await vi.waitFor(() => expect(server.signIns).toHaveLength(3));
  });

  it("is the one before where it cannot be read, or is none", async () => {
    let answer = (): string => "first-key";
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url, { apiKey: () => answer() });
    await client.ping();
    for (const broken of [
      () => {
        throw new Error("first-key");
      },
      () => "",
      () => "two words",
    ]) {
      answer = broken;
      await client.ping();
    }
    expect(keysOf(server.signIns)).toStrictEqual(["first-key"]);
  });

  it("refuses a client whose key cannot be read at first, without what was thrown", async () => {
    await using client = clientFor("http://127.0.0.1:1", {
      apiKey: () => {
        throw new Error("the-secret");
      },
    });
    const error = await client.ping().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ _tag: "InvalidSettings" });
    expect(String(error)).toContain(
      "PAYMENTS_API_KEY (apiKey) is a function, which threw an error",
    );
    expect(String(error)).not.toContain("the-secret");
  });

  it("is not shown where the service repeats it", async () => {
    const key = "key-that-is-repeated";
    await using server = await startServer(() => refusal(`Not with ${key}`, 400));
    await using client = clientFor(server.url, { apiKey: () => key });
    expect((await failureOf(client.createPayout(requests.createPayout))).message).not.toContain(
      key,
    );
  });
});
