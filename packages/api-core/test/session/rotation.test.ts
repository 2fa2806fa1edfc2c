import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
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

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keys-"));
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

/** A file with an API key; a file is read again after a second. */
const keyFile = (first: string) => {
  const apiKeyFile = join(folder, "key");
  writeFileSync(apiKeyFile, first);
  const replace = (key: string) => {
    writeFileSync(apiKeyFile, key);
    vi.advanceTimersByTime(1_000);
  };
  return { replace, settings: { apiKey: undefined, apiKeyFile } };
};

describe("an API key whose file changes while the client is in use", () => {
  it("signs in anew meanwhile, and each request ends with the token that it began with", async () => {
    const { replace, settings } = keyFile("first-key");
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
    await using client = clientFor(server.url, settings);
    const underWay = client.createPayout(requests.createPayout);
    await server.received(1);
    replace("second-key");
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

  it("and that the service refuses is tried once; requests keep the token of the earlier key", async () => {
    const { replace, settings } = keyFile("first-key");
    const { logger, warnings } = heard();
    const takesFirst: Answer = (received, n) =>
      received.headers["x-api-key"] === "first-key"
        ? signsIn(received, n)
        : refusal("Invalid API key", 401);
    await using server = await startServer(() => answers.ping, takesFirst);
    await using client = clientFor(server.url, { ...settings, logger });
    await client.ping();
    replace("wrong-key");
    await client.ping();
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    for (let call = 0; call < 5; call++) await client.ping();
    expect(keysOf(server.signIns)).toStrictEqual(["first-key", "wrong-key"]);
    expect(new Set(tokensOf(server.requests))).toStrictEqual(new Set(["Bearer token-1"]));
    expect(warnings[0]).toMatch(/^The API key has changed\. Signing in failed/);
    expect(warnings[0]).not.toMatch(/first-key|wrong-key/);
    replace("first-key");
    await client.ping();
    await vi.waitFor(() => expect(server.signIns).toHaveLength(3));
  });

  it("is the earlier one if the file holds none, and is not shown where the service repeats it", async () => {
    const { replace, settings } = keyFile("first-key");
    await using server = await startServer(() => refusal("Not with first-key", 400));
    await using client = clientFor(server.url, settings);
    for (const broken of ["first-key", "", "two words"]) {
      replace(broken);
      const { message } = await failureOf(client.createPayout(requests.createPayout));
      expect(message).not.toContain("first-key");
    }
    expect(keysOf(server.signIns)).toStrictEqual(["first-key"]);
  });
});
