import { describe, expect, it } from "vitest";
import { answers } from "../support/responses.ts";
import { clientFor, failedExchange, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Reply, refusal, startServer, success } from "../support/server.ts";

const ID = "12345678";

const failed = async (reply: Reply) =>
  (await failedExchange("retrievePayout", { payout_id: ID }, reply)).error;

describe("a 4xx without an envelope", () => {
  it.each([
    ["JSON", 422, '{"error":"amount is too low"}', '{"error":"amount is too low"}'],
    ["a text", 400, "beneficiary  unknown\n", "beneficiary unknown"],
    ["the request's id", 404, `payout ${ID} unknown`, `payout ${ID} unknown`],
    ["an account number", 400, "account 000123456789 closed", "account [redacted] closed"],
    [
      "a page of HTML",
      413,
      "<html><style>b{x:1}</style><script>let a = 1</script><h1>Too <b>large</b></h1></html>",
      "Too large",
    ],
  ])("keeps %s in its message, and its status", async (_, status, body, text) => {
    expect(await failed({ status, body })).toMatchObject({
      _tag: "Unavailable",
      carriedOut: "no",
      status,
      message:
        `retrievePayout was turned away with HTTP ${status} and no envelope (${text}). ` +
        "Check PAYMENTS_BASE_URL and the network.",
    });
  });

  it("keeps no more than a few hundred characters of it", async () => {
    const { message } = await failed({ status: 400, body: "word ".repeat(2000) });
    expect(message).toContain("word word");
    expect(message.length).toBeLessThan(500);
  });

  it("says nothing of a text where there is none", async () => {
    expect((await failed({ status: 404 })).message).toBe(
      "retrievePayout was turned away with HTTP 404 and an empty body. Check PAYMENTS_BASE_URL and the network.",
    );
  });
});

describe("ids in an error", () => {
  it("are kept where an answer cannot be read", async () => {
    const body = { code: 200, message: "Success", data: { no_id: 1, reference_id: 87654321 } };
    const { error } = await failedExchange("createPayout", requests.createPayout, { body });
    expect(error).toMatchObject({
      _tag: "UnexpectedAnswer",
      answer: JSON.stringify(body),
    });
  });

  it("are kept where a write was answered with another message than success", async () => {
    const body = { code: 200, message: "queued", data: { id: "PO20261121000123" } };
    const { error } = await failedExchange("createPayout", requests.createPayout, { body });
    expect(error).toMatchObject({ carriedOut: "unknown", answer: JSON.stringify(body) });
  });

  it("are kept in the words of a refusal", async () => {
    expect(await failed(refusal(`Payout ${ID} is older than 2026-01-01`))).toMatchObject({
      _tag: "Refused",
      reason: `Payout ${ID} is older than 2026-01-01`,
    });
  });
});

describe("a sign-in", () => {
  const signInFailure = async (reply: Reply) => {
    await using server = await startServer(
      () => answers.ping,
      () => reply,
    );
    await using client = clientFor(server.url, { maxAttempts: 1 });
    return await failureOf(client.ping());
  };

  it("that is turned away by HTML with 403 leaves open who said no", async () => {
    expect(await signInFailure({ status: 403, body: "<h1>Forbidden</h1>" })).toMatchObject({
      _tag: "NotAuthenticated",
      message:
        "ping was not sent. Signing in failed (signIn was answered with HTTP 403 and no envelope (Forbidden).). " +
        "Either PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY were refused, or a filter or gateway on the " +
        "way to the service turned the request away: check both.",
    });
  });

  it.each([
    [400, "Too many requests"],
    [200, "Rate limit exceeded"],
  ])("that is refused as one too many waits: HTTP %s, %s", async (status, message) => {
    const error = await signInFailure(refusal(message, status));
    expect(error).toMatchObject({ _tag: "RateLimited", carriedOut: "no", retryAfter: 2500 });
    expect(error.message).toContain(message);
  });

  it.each([true, false, {}, [], "soon", null])(
    "with an expiry of %j is a good one",
    async (expiry) => {
      for (const field of ["expired_at", "expires_at"]) {
        await using server = await startServer(
          () => answers.ping,
          () => success({ auth_token: "t", [field]: expiry }),
        );
        await using client = clientFor(server.url);
        expect(await client.ping()).toStrictEqual({ message: "pong" });
      }
    },
  );

  it("over the budget says that nothing listens at the service's address, not that a key is wrong", async () => {
    const server = await startServer(() => answers.ping);
    await server.stop();
    await using client = clientFor(server.url, { maxAttempts: 25, retryBaseMs: 0 });
    const error = await failureOf(client.ping());
    expect(error._tag).toBe("RateLimited");
    expect(error.message).toContain(`connection refused (${server.url})`);
    expect(error.message).not.toContain("API key");
  });

  it("over the budget says why the last one failed", async () => {
    await using server = await startServer(
      () => answers.ping,
      () =>
        ({ socket }) =>
          socket.destroy(),
    );
    await using client = clientFor(server.url, { maxAttempts: 25, retryBaseMs: 0 });
    const error = await failureOf(client.ping());
    expect(error._tag).toBe("RateLimited");
    expect(error.message).toMatch(
      /^ping was not sent\. Signing in failed \(signIn was sent, but .* No sign-in was sent: 24 in a minute is the budget\.$/,
    );
  });
});
