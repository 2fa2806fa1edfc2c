import { describe, expect, it } from "vitest";
import { answers } from "../support/responses.ts";
import { isPaymentsError } from "../../src/effect.ts";
import { anyOperation, clientFor, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Answer, refusal, type Reply, startServer } from "../support/server.ts";

/** Not the service's own word: a gateway may answer so after the service has carried it out. */
const withoutEnvelope = [
  ["HTTP 401 without a body", { status: 401 }, "p-1", 2],
  ["HTTP 401 with HTML", { status: 401, body: "<html>" }, "p-1", 2],
  [
    "HTTP 401 with JSON that may be a damaged envelope",
    { status: 401, body: { message: "Unauthorized" } },
    "OutcomeUnknown",
    1,
  ],
] as const;

const byCode: ReadonlyArray<readonly [string, Reply]> = [
  ["HTTP 401 with an envelope", refusal("nope", 401)],
  ["code 401 under HTTP 200", { body: { code: 401, message: "nope" } }],
];

const byWords: ReadonlyArray<readonly [string, Reply]> = [
  ["a message that says so", refusal("Token expired or invalid")],
  ["another message that says so", refusal("The access token has EXPIRED", 400)],
  ["a third message that says so", refusal("Unauthorized")],
  ...["Session expired", "Unauthorized", "Please log in", "Unauthenticated"].map(
    (message) => [`the message "${message}"`, refusal(message)] as const,
  ),
];

const rejections = [...byCode, ...byWords];

/** Answers well to every token but those listed. */
const takingAllBut =
  (tokens: ReadonlyArray<string>, rejection: Reply, answer: Reply): Answer =>
  ({ headers }) =>
    tokens.includes(String(headers["x-auth-token"]).replace("Bearer ", "")) ? rejection : answer;

describe.each(rejections)("a token rejected by %s", (_, rejection) => {
  it("costs one new sign-in and one repeat, also of an operation that is sent once", async () => {
    await using server = await startServer(
      takingAllBut(["token-1"], rejection, answers.createPayout),
    );
    await using client = clientFor(server.url);
    expect(await client.createPayout(requests.createPayout)).toMatchObject({ payout_id: "p-1" });
    const sent = server.requests;
    expect(sent.map(({ headers }) => headers["x-auth-token"])).toStrictEqual([
      "Bearer token-1",
      "Bearer token-2",
    ]);
    expect(sent[1]?.body).toBe(sent[0]?.body);
    expect(server.signIns).toHaveLength(2);
  });
});

describe.each(byCode)("a token rejected by %s", (_, rejection) => {
  it("twice ends as not authenticated, without a third try", async () => {
    await using server = await startServer(() => rejection);
    await using client = clientFor(server.url);
    for (const call of [
      () => client.createPayout(requests.createPayout),
      () => client.retrievePayout(requests.retrievePayout),
    ]) {
      const before = server.requests.length;
      expect(await failureOf(call())).toMatchObject({
        _tag: "NotAuthenticated",
        carriedOut: "no",
      });
      expect(server.requests.length - before).toBe(2);
    }
    expect(server.signIns).toHaveLength(4);
  });
});

describe.each(withoutEnvelope)("%s", (_, rejection, endIfListed, sendsIfListed) => {
  const made = [
    ["createPayout", requests.createPayout],
    ["createCardholder", requests.createCardholder],
    ["createBeneficiary", requests.createBeneficiary],
  ] as const;

  it.each(made)("leaves it unknown whether %s was carried out, and sends it once", async (name) => {
    await using server = await startServer(takingAllBut(["token-1"], rejection, answers[name]));
    await using client = clientFor(server.url);
    const call = () => anyOperation(client, name)(requests[name]);
    const error = await failureOf(call());
    expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
    expect(error.message).toContain("The next request signs in again.");
    expect(server.requests).toHaveLength(1);
    expect(server.signIns).toHaveLength(1);
    await call();
    expect(server.signIns).toHaveLength(2);
  });

  it.each(["retrievePayout", "cancelCard", "createCard"] as const)(
    "costs %s, which may be repeated, one new sign-in",
    async (name) => {
      await using server = await startServer(takingAllBut(["token-1"], rejection, answers[name]));
      await using client = clientFor(server.url);
      await anyOperation(client, name)(requests[name]);
      const [first, second] = server.requests;
      expect(second?.body).toBe(first?.body);
      expect(server.requests).toHaveLength(2);
      expect(server.signIns).toHaveLength(2);
    },
  );

  it.each([
    ["retrievePayout", "NotAuthenticated", "no"],
    ["cancelCard", "OutcomeUnknown", "unknown"],
    ["createCard", "OutcomeUnknown", "unknown"],
  ] as const)("twice ends %s as %s", async (name, _tag, carriedOut) => {
    await using server = await startServer(() => rejection);
    await using client = clientFor(server.url);
    const error = await failureOf(anyOperation(client, name)(requests[name]));
    expect(error).toMatchObject({ _tag, carriedOut });
    expect(server.requests).toHaveLength(2);
  });

  it("keeps a keyed write in doubt where the repeat is refused", async () => {
    await using server = await startServer(
      takingAllBut(["token-1"], rejection, refusal("Balance is too low")),
    );
    await using client = clientFor(server.url);
    const error = await failureOf(client.createCard(requests.createCard));
    expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
  });

  it(`ends createPayout as ${endIfListed} where that is said to be the service's own word`, async () => {
    await using server = await startServer(
      takingAllBut(["token-1"], rejection, answers.createPayout),
    );
    await using client = clientFor(server.url, { assumptions: { notCarriedOutStatuses: [401] } });
    const end = await client.createPayout(requests.createPayout).then(
      ({ payout_id }) => payout_id,
      (error: unknown) => (isPaymentsError(error) ? error._tag : error),
    );
    expect(end).toBe(endIfListed);
    expect(server.requests).toHaveLength(sendsIfListed);
  });
});

describe("maxAttempts counts the send after a new sign-in, too", () => {
  it.each(rejections)("1: one send, and the next call signs in again: %s", async (_, rejection) => {
    await using server = await startServer(
      takingAllBut(["token-1"], rejection, answers.createPayout),
    );
    await using client = clientFor(server.url);
    const calling = client.createPayout(requests.createPayout, { maxAttempts: 1 });
    const error = await failureOf(calling);
    expect(error).toMatchObject({ _tag: "NotAuthenticated", carriedOut: "no" });
    expect(error.message).toContain("allows no further send");
    expect(server.requests).toHaveLength(1);
    const next = client.createPayout(requests.createPayout, { maxAttempts: 1 });
    expect(await next).toMatchObject({ payout_id: "p-1" });
    expect(server.requests).toHaveLength(2);
  });

  it("2: no third send, whatever the second is answered with", async () => {
    await using server = await startServer(
      takingAllBut(["token-1"], refusal("nope", 401), { status: 503 }),
    );
    await using client = clientFor(server.url);
    const calling = client.cancelCard(requests.cancelCard, { maxAttempts: 2 });
    expect(await failureOf(calling)).toMatchObject({ carriedOut: "unknown" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("a refusal that only speaks like one of a token", () => {
  const reply = refusal("Payer is unauthorized");

  it("is a refusal if a fresh token gets it too, and costs no further sign-in", async () => {
    await using server = await startServer(() => reply);
    await using client = clientFor(server.url);
    for (let call = 0; call < 12; call++) {
      expect(await failureOf(client.createPayout(requests.createPayout))).toMatchObject({
        _tag: "RequestRefused",
        carriedOut: "no",
        reason: "Payer is unauthorized",
      });
    }
    expect(server.requests).toHaveLength(13);
    expect(server.signIns).toHaveLength(2);
  });

  it("leaves other words to speak of the token", async () => {
    const expired = refusal("Session expired");
    const rejects = ["token-1", "token-2"];
    await using server = await startServer((received, n) =>
      n < 2 ? reply : takingAllBut(rejects, expired, answers.createPayout)(received, n),
    );
    await using client = clientFor(server.url);
    await failureOf(client.createPayout(requests.createPayout));
    expect(await client.createPayout(requests.createPayout)).toMatchObject({ payout_id: "p-1" });
    expect(server.signIns).toHaveLength(3);
  });
});

it.each([
  ["by code", refusal("nope", 401)],
  ["by words", refusal("Session expired")],
])(
  "100 callers begin with one sign-in, and need one more when all their tokens are rejected %s",
  async (_, rejection) => {
    await using server = await startServer(
      takingAllBut(["token-1"], rejection, answers.createPayout),
    );
    await using client = clientFor(server.url);
    const calls = Array.from({ length: 100 }, () => client.createPayout(requests.createPayout));
    expect(await Promise.all(calls)).toHaveLength(100);
    expect(server.requests).toHaveLength(200);
    expect(server.signIns).toHaveLength(2);
  },
);

describe("bad credentials", () => {
  it("cost one sign-in a call, or one for all that come together, and send nothing else", async () => {
    await using server = await startServer(
      () => answers.ping,
      () => refusal("Invalid client id or API key", 401),
    );
    await using client = clientFor(server.url);
    const together = await Promise.all(
      Array.from({ length: 20 }, () => failureOf(client.createPayout(requests.createPayout))),
    );
    expect(server.signIns).toHaveLength(1);
    expect(new Set(together.map(({ _tag }) => _tag))).toStrictEqual(new Set(["NotAuthenticated"]));
    const error = await failureOf(client.createPayout(requests.createPayout));
    expect(server.signIns).toHaveLength(2);
    expect(error).toMatchObject({
      _tag: "NotAuthenticated",
      operation: "createPayout",
      carriedOut: "no",
      message:
        "createPayout was not sent. Signing in failed: signIn was refused with HTTP 401 and code 400. " +
        "Check PAYMENTS_CLIENT_ID (clientId) and PAYMENTS_API_KEY (apiKey).",
      reason: "Invalid client id or API key",
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe("a sign-in that gets no answer", () => {
  it("is tried again for an operation that is sent once, as nothing of it was sent", async () => {
    await using server = await startServer(
      () => answers.createPayout,
      (_received, n) =>
        n < 2
          ? ({ socket }) => socket.destroy()
          : { body: { code: 200, message: "Success", data: { auth_token: "t" } } },
    );
    await using client = clientFor(server.url);
    expect(await client.createPayout(requests.createPayout)).toMatchObject({ payout_id: "p-1" });
    expect(server.signIns).toHaveLength(3);
    expect(server.requests).toHaveLength(1);
  });

  it("ends as unavailable, not as an unknown outcome", async () => {
    await using server = await startServer(
      () => answers.createPayout,
      () =>
        ({ socket }) =>
          socket.destroy(),
    );
    await using client = clientFor(server.url, { maxAttempts: 3 });
    expect(await failureOf(client.createPayout(requests.createPayout))).toMatchObject({
      _tag: "Unavailable",
      operation: "createPayout",
      carriedOut: "no",
    });
    expect(server.signIns).toHaveLength(3);
  });
});
