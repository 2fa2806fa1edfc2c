import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import { Token } from "../../src/contract/auth.ts";
import { clientFor, exchange } from "../support/client.ts";
import { startServer, success } from "../support/server.ts";

describe("signIn", () => {
  it("sends client id and API key in headers, no body and no token", async () => {
    await using server = await startServer(
      () => ({ body: { message: "pong" } }),
      () => success({ auth_token: "eyJhbGciOi.J9-_x", expired_at: 4_000_000_000, scope: ["all"] }),
    );
    await using client = clientFor(server.url);
    await client.ping();
    await client.ping();
    expect(server.signIns).toHaveLength(1);
    const [sent] = server.signIns;
    expect(sent).toMatchObject({
      method: "POST",
      path: "/api/v1/auth/signin",
      query: {},
      body: "",
    });
    expect(sent?.headers).toMatchObject({
      "x-client-id": "client-7",
      "x-api-key": "key-of-the-test",
      "content-length": "0",
    });
    expect(sent?.headers).not.toHaveProperty("x-auth-token");
    expect(server.requests[1]?.headers["x-auth-token"]).toBe("Bearer eyJhbGciOi.J9-_x");
  });

  const at = Date.parse("2026-11-21T03:00:00Z");

  it.each<[string, object, number | undefined]>([
    ["expired_at in seconds", { expired_at: at / 1000 }, at],
    ["expires_at in seconds", { expires_at: at / 1000 }, at],
    ["expired_at in milliseconds", { expired_at: at }, at],
    ["expires_at in milliseconds", { expires_at: at }, at],
    ["an ISO time", { expires_at: "2026-11-21T03:00:00Z" }, at],
    ["an ISO time with fractions", { expires_at: "2026-11-21T03:00:00.000Z" }, at],
    ["an ISO time with an offset", { expired_at: "2026-11-21T11:00:00+08:00" }, at],
    ["an ISO time without offset, as UTC", { expired_at: "2026-11-21T03:00:00" }, at],
    ["seconds as text", { expired_at: String(at / 1000) }, at],
    ["milliseconds as text", { expires_at: String(at) }, at],
    ["expires_at before expired_at", { expires_at: at, expired_at: 1 }, at],
    ["expired_at where expires_at is null", { expires_at: null, expired_at: at }, at],
    ["the last second that is one", { expired_at: 99_999_999_999 }, 99_999_999_999_000],
    ["the first millisecond that is one", { expired_at: 100_000_000_000 }, 100_000_000_000],
    ["zero", { expired_at: 0 }, 0],
    ["the zero time", { expires_at: "0001-01-01T00:00:00Z" }, -62_135_596_800_000],
    ["no expiry", {}, undefined],
    ["null", { expired_at: null }, undefined],
    ["an empty text", { expires_at: "" }, undefined],
    ["a text that is no time", { expired_at: "in a while" }, undefined],
    ["a number that is no time", { expired_at: 1e300 }, undefined],
  ])("reads %s", (_, expiry, expires_at) => {
    expect(Schema.decodeUnknownSync(Token)({ auth_token: "t", ...expiry })).toStrictEqual(
      expires_at === undefined ? { auth_token: "t" } : { auth_token: "t", expires_at },
    );
  });

  it.each([[""], ["two words"], ["line\nbreak"], ["schlüssel"], [7], [null]])(
    "takes no token that a header cannot carry: %j",
    (auth_token) => {
      expect(Schema.is(Schema.toEncoded(Token))({ auth_token })).toBe(false);
    },
  );
});

describe("ping", () => {
  it("sends client id and token, and reads the bare answer", async () => {
    const { result, sent } = await exchange("ping", undefined, { body: { message: "pong" } });
    expect(sent).toMatchObject({ method: "GET", path: "/api/v1/ping", query: {}, body: "" });
    expect(sent.headers).toMatchObject({
      accept: "application/json",
      "x-client-id": "client-7",
      "x-auth-token": "Bearer token-1",
    });
    expect(sent.headers).not.toHaveProperty("x-api-key");
    expect(sent.headers).not.toHaveProperty("content-type");
    expect(result).toStrictEqual({ message: "pong" });
  });

  it("ignores fields that the document does not name", async () => {
    const { result } = await exchange("ping", {}, { body: { message: "pong", at: 3 } });
    expect(result).toStrictEqual({ message: "pong" });
  });
});
