import { describe, expect, it } from "vitest";
import type { OperationName } from "../../src/effect.ts";
import { answers } from "../support/responses.ts";
import { attemptsOf } from "../support/attempts.ts";
import { anyOperation, clientFor, failedExchange, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Answer, refusal, signsIn, startServer, success } from "../support/server.ts";

const SENDS = 3;
const settings = { maxAttempts: SENDS };

/** One operation of each class; those of `none` are sent a second time only where nothing was done. */
const CLASSES = [
  ["safe", "retrievePayout", "no", SENDS],
  ["idempotent", "cancelCard", "unknown", SENDS],
  ["keyed", "createCard", "unknown", SENDS],
  ["none", "createPayout", "unknown", 1],
  ["none", "createCardholder", "unknown", 1],
  ["none", "createBeneficiary", "unknown", 1],
] as const;

const failWith =
  (act: (socket: import("node:net").Socket) => void): Answer =>
  () =>
  ({ socket }) =>
    act(socket);

const writing = (bytes: string): Answer => failWith((socket) => socket.end(bytes));

const good = JSON.stringify(answers.createPayout.body);

/** Sent, and nobody knows what became of it: the tag, and what happened. */
const AMBIGUOUS: ReadonlyArray<readonly [string, Answer, "OutcomeUnknown" | "UnexpectedAnswer"]> = [
  [
    "a connection reset before any byte",
    failWith((socket) => socket.resetAndDestroy()),
    "OutcomeUnknown",
  ],
  ["a connection closed before any byte", failWith((socket) => socket.destroy()), "OutcomeUnknown"],
  [
    "a connection closed within the head",
    writing("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-le"),
    "OutcomeUnknown",
  ],
  [
    "a body cut short by its length",
    writing(`HTTP/1.1 200 OK\r\ncontent-length: ${good.length + 1}\r\n\r\n${good}`),
    "OutcomeUnknown",
  ],
  [
    "a chunked body without an end",
    writing(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"cod\r\n`),
    "OutcomeUnknown",
  ],
  [
    "a connection reset after some bytes",
    () =>
      ({ response, socket }) => {
        response.writeHead(200, { "content-length": good.length });
        response.write(good.slice(0, 10), () => socket.resetAndDestroy());
      },
    "OutcomeUnknown",
  ],
  [
    "a body cut short where only the end of the connection ends it",
    writing(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${good.slice(0, -1)}`),
    "UnexpectedAnswer",
  ],
  ["bytes that are no HTTP", writing("SSH-2.0-OpenSSH_9\r\n"), "OutcomeUnknown"],
  ["an empty body", () => ({ status: 200 }), "UnexpectedAnswer"],
  ["HTTP 204", () => ({ status: 204 }), "UnexpectedAnswer"],
  ["HTML with HTTP 200", () => ({ body: "<html>ok</html>" }), "UnexpectedAnswer"],
  ["JSON that is no envelope", () => ({ body: [1] }), "UnexpectedAnswer"],
  [
    "an envelope with a code of 500",
    () => ({ body: { code: 500, message: "?" } }),
    "UnexpectedAnswer",
  ],
  [
    "an envelope with a code that only looks like 400",
    () => ({ body: { code: "4e2", message: "no" } }),
    "UnexpectedAnswer",
  ],
  ["an envelope with a code that is a list", () => ({ body: { code: [400] } }), "UnexpectedAnswer"],
  ["a redirect", () => ({ status: 307, headers: { location: "/x" } }), "UnexpectedAnswer"],
  ["HTML with HTTP 502", () => ({ status: 502, body: "<html>" }), "OutcomeUnknown"],
  ["HTTP 500 without a body", () => ({ status: 500 }), "OutcomeUnknown"],
  ["HTTP 503", () => ({ status: 503, body: "busy" }), "OutcomeUnknown"],
  ["HTTP 504", () => ({ status: 504, body: "<html>" }), "OutcomeUnknown"],
  ["HTTP 408", () => ({ status: 408 }), "OutcomeUnknown"],
  ["HTTP 403 without an envelope", () => ({ status: 403, body: "<html>" }), "OutcomeUnknown"],
  [
    "an envelope with a code of 408",
    () => ({ body: { code: 408, message: "?" } }),
    "OutcomeUnknown",
  ],
  ...[400, 422].map(
    (status) =>
      [
        `a code of 408 under HTTP ${status}`,
        () => ({ status, body: { code: "408", message: "Request timeout" } }),
        "OutcomeUnknown",
      ] as const,
  ),
  ...(
    [
      [429, 408],
      [401, 500],
      [409, 429],
      [429, 409],
      [401, 0],
    ] as const
  ).map(
    ([status, code]) =>
      [
        `HTTP ${status} that contradicts code ${code}`,
        () => ({ status, headers: { "retry-after": "0" }, body: { code, message: "No" } }),
        "UnexpectedAnswer",
      ] as const,
  ),
  ...[401, 429].map(
    (code) =>
      [
        `code ${code} with data`,
        () => ({
          headers: { "retry-after": "0" },
          body: { ...Object(answers.createPayout.body), code },
        }),
        "UnexpectedAnswer",
      ] as const,
  ),
  ["a refusal under HTTP 500", () => refusal("it broke", 500), "OutcomeUnknown"],
  ["a rejected token under HTTP 502", () => refusal("token expired", 502), "OutcomeUnknown"],
  ["success under HTTP 500", () => ({ ...success({}), status: 500 }), "UnexpectedAnswer"],
  ["success under HTTP 401", () => ({ ...success({}), status: 401 }), "UnexpectedAnswer"],
  ["success under HTTP 429", () => ({ ...success({}), status: 429 }), "UnexpectedAnswer"],
  ["success under HTTP 404", () => ({ ...success({}), status: 404 }), "UnexpectedAnswer"],
];

describe.each(CLASSES)("%s: %s", (_, name, carriedOut, sends) => {
  it.each(AMBIGUOUS)("after %s", async (_, answer, tag) => {
    const { error, requests: sent } = await failedExchange(name, requests[name], answer, settings);
    const isRead = carriedOut === "no" && tag === "OutcomeUnknown";
    expect(error).toMatchObject({
      _tag: isRead ? "Unavailable" : tag,
      operation: name,
      carriedOut,
    });
    expect(sent).toHaveLength(sends);
    // A repeat is the very same request: the key of a keyed one above all.
    expect(new Set(sent.map(({ body, path }) => path + body)).size).toBe(1);
  });

  it("is sent again after 429, whatever its class, but not without end", async () => {
    const { error, requests: sent } = await failedExchange(
      name,
      requests[name],
      () => ({ status: 429, headers: { "retry-after": "0" }, body: "slow down" }),
      settings,
    );
    expect(error).toMatchObject({ _tag: "RateLimited", carriedOut: "no", retryAfter: 0 });
    expect(sent).toHaveLength(SENDS);
  });

  it("is sent again after 429 with JSON that is no envelope only where it may be repeated", async () => {
    const body = '{"code":200,"message":"Success","data":{"id":"p-1"';
    const { error, requests: sent } = await failedExchange(
      name,
      requests[name],
      () => ({ status: 429, headers: { "retry-after": "0" }, body }),
      settings,
    );
    const _tag = carriedOut === "no" ? "RateLimited" : "UnexpectedAnswer";
    expect(error).toMatchObject({ _tag, carriedOut });
    expect(sent).toHaveLength(sends);
  });

  it("succeeds when a 429 is followed by a good answer", async () => {
    await using server = await startServer((_received, n) =>
      n === 0 ? { status: 429, headers: { "retry-after": "0" } } : answers[name],
    );
    await using client = clientFor(server.url);
    await expect(anyOperation(client, name)(requests[name])).resolves.not.toThrow();
    expect(server.requests).toHaveLength(2);
  });

  it("is not carried out where nothing listens any more, and is tried as often as any", async () => {
    // No connection is kept that could still look alive.
    const closing = { headers: { connection: "close" } };
    await using server = await startServer(
      () => ({ ...answers.ping, ...closing }),
      (...signIn) => ({ ...signsIn(...signIn), ...closing }),
    );
    await using client = clientFor(server.url, settings);
    await client.ping();
    await server.stop();
    const before = attemptsOf(name, "Unavailable");
    expect(await failureOf(anyOperation(client, name)(requests[name]))).toMatchObject({
      _tag: "Unavailable",
      operation: name,
      carriedOut: "no",
      message: `${name} was not sent: connection refused (${server.url}). Check PAYMENTS_BASE_URL (baseUrl) and the network.`,
    });
    expect(attemptsOf(name, "Unavailable") - before).toBe(SENDS);
  });

  it("is not carried out, nor sent again, after a 4xx without envelope that judges the request", async () => {
    for (const [status, body] of [
      [400, ""],
      [422, "<html>no</html>"],
    ] as const) {
      const { error, requests: sent } = await failedExchange(name, requests[name], () => ({
        status,
        body,
      }));
      expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
      expect(sent).toHaveLength(1);
    }
  });

  it.each([404, 405, 410, 413, 415, 421, 425, 431, 451, 499])(
    "is in doubt, where it changes anything, and not sent again after HTTP %i without envelope, which a gateway may say",
    async (status) => {
      const reply = { status, body: "<html>no</html>" };
      const { error, requests: sent } = await failedExchange(name, requests[name], reply);
      expect(error.carriedOut).toBe(carriedOut);
      expect(sent).toHaveLength(1);
      const assumptions = { notCarriedOutStatuses: [status] };
      const listed = await failedExchange(name, requests[name], reply, { assumptions });
      expect(listed.error).toMatchObject({ _tag: "Unavailable", carriedOut: "no", status });
    },
  );

  it("is not sent again when the answer says success but cannot be read", async () => {
    const isConfirmed = name === "cancelCard";
    const { requests: sent } = isConfirmed
      ? await failedExchange(name, requests[name], () => refusal("no"))
      : await failedExchange(name, requests[name], () => success({ nonsense: 1 }));
    expect(sent).toHaveLength(1);
  });
});

it.each<[string, Answer]>([
  ["a rejected token", () => ({ body: { code: 401, message: "token expired" } })],
  ["429", () => ({ status: 429, headers: { "retry-after": "0" } })],
])("a refusal after %s does not speak of an earlier send that had no effect", async (_, first) => {
  const { error, requests: sent } = await failedExchange(
    "createPayout",
    requests.createPayout,
    (received, n) => (n === 0 ? first(received, n) : refusal("Payer is closed")),
  );
  expect(sent).toHaveLength(2);
  expect(error).toMatchObject({ _tag: "RequestRefused", carriedOut: "no" });
  expect(error.message).toBe("createPayout was refused with HTTP 200 and code 400.");
});

describe("an earlier send in doubt", () => {
  const CASES: ReadonlyArray<readonly [OperationName, Answer]> = [
    ["createCard", () => refusal("Balance is too low")],
    ["createCard", () => ({ status: 422, body: "<html>" })],
    ["createCard", () => ({ status: 429, headers: { "retry-after": "3600" } })],
    ["createCard", () => refusal("no", 401)],
    ["updateCard", () => refusal("Card not found")],
  ];
  it.each(CASES)("keeps %s in doubt, whatever the outcome of the last send", async (name, last) => {
    const { error, requests: sent } = await failedExchange(name, requests[name], (received, n) =>
      n === 0 ? { status: 502, body: "<html>" } : last(received, n),
    );
    expect(error).toMatchObject({ _tag: "OutcomeUnknown", operation: name, carriedOut: "unknown" });
    expect(error.message).toMatch(/earlier send/);
    expect(sent.length).toBeGreaterThan(1);
  });

  it("is cleared up by a repeat that succeeds", async () => {
    await using server = await startServer((_received, n) =>
      n === 0 ? ({ socket }) => socket.destroy() : answers.createCard,
    );
    await using client = clientFor(server.url);
    expect(await client.createCard(requests.createCard)).toMatchObject({ card_id: "c-1" });
    expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
  });
});

describe("a key that may be known", () => {
  const CONFLICTS = [
    ["HTTP 409 with an envelope", refusal("conflict", 409)],
    ["HTTP 409 without one", { status: 409, body: "<html>" }],
    ["code 409", { body: { code: 409, message: "conflict" } }],
  ] as const;

  it.each(CONFLICTS)("is possible at a conflict, at the first send, too: %s", async (_, reply) => {
    for (const name of ["createCard", "withdrawFromCard", "createPayout"] as const) {
      const { error, requests: sent } = await failedExchange(name, requests[name], () => reply);
      expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
      expect(sent).toHaveLength(1);
    }
    for (const name of ["cancelCard", "retrievePayout"] as const) {
      const { error } = await failedExchange(name, requests[name], () => reply);
      expect(error).toMatchObject({ _tag: "RequestRefused", carriedOut: "no" });
    }
  });

  it("leaves a refusal of a card operation unknown if it may have been sent before", async () => {
    const reply = refusal("whatever the service says then");
    for (const name of ["createCard", "withdrawFromCard", "createPayout", "cancelCard"] as const) {
      for (const isResend of [true, false]) {
        const { error, requests: sent } = await failedExchange(
          name,
          requests[name],
          () => reply,
          {},
          { isResend },
        );
        const isUnknown = isResend && /^createCard|withdraw/.test(name);
        expect(error).toMatchObject({
          _tag: isUnknown ? "OutcomeUnknown" : "RequestRefused",
          reason: "whatever the service says then",
        });
        expect(sent).toHaveLength(1);
      }
    }
  });

  it("may be answered without data: the outcome is unknown, and it is not sent again", async () => {
    const { error, requests: sent } = await failedExchange(
      "createCard",
      requests.createCard,
      (_received, n) => (n === 0 ? { status: 502 } : success()),
    );
    expect(error).toMatchObject({
      _tag: "UnexpectedAnswer",
      carriedOut: "unknown",
      message:
        "createCard was answered with success, but data is not an object. " +
        "It may have taken effect: if it is sent again, then with the same unique_request_id.",
    });
    expect(sent).toHaveLength(2);
  });
});

describe("things that are already so", () => {
  it.each([
    ["cancelCard", "Card is already cancelled"],
    ["freezeCard", "Card is ALREADY frozen"],
    ["removeCardholder", "Cardholder already removed"],
    ["createBalance", "A USD balance already exists"],
  ] as const)("are success for %s: %s", async (name, message) => {
    for (const reply of [refusal(message), { body: { code: 200, message } }]) {
      await using server = await startServer(() => reply);
      await using client = clientFor(server.url);
      expect(await anyOperation(client, name)(requests[name])).toBeUndefined();
    }
  });

  it.each([
    ["cancelCard", "Card is already frozen"],
    ["freezeCard", "Card is already cancelled"],
    ["updateCard", "This name is already used"],
    ["updateBeneficiary", "The account number already exists"],
    ["createBalance", "A balance of this name already exists"],
    ["createBalance", "The currency is not supported"],
  ] as const)("are not what %s asks for: %s", async (name, message) => {
    const { error } = await failedExchange(name, requests[name], () => refusal(message));
    expect(error).toMatchObject({ _tag: "RequestRefused", carriedOut: "no", reason: message });
  });
});
