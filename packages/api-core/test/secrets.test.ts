import { it } from "@effect/vitest";
import { Cause, Effect, Exit, Logger, Redacted, References, Tracer } from "effect";
import * as fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect } from "vitest";
import { operation } from "../src/client/operations.ts";
import { parseResponse } from "../src/client/parse-response.ts";
import { invalidRequest } from "../src/client/invalid-request.ts";
import { redact } from "../src/client/redact.ts";
import { currentApiKey, defaultAssumptions, PaymentsClient } from "../src/effect.ts";
import { clientFor, failureOf, settingsFor } from "./support/client.ts";
import { requests } from "./support/requests.ts";
import { type Answer, type Received, type Reply, startServer, success } from "./support/server.ts";

const API_KEY = "sk_live_51Hq2ZxKEY";
const TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2ln";
const IBAN = "DE89370400440532013000";
const ACCOUNT = "A-1-2B";
const CARD = "4000001234567899";
const PASSPORT = "X1234567";
const SECRETS = [API_KEY, TOKEN, IBAN, ACCOUNT, CARD, PASSPORT];

/** What a service with no manners repeats: the request as it came, and its secrets one by one. */
const repeat = ({ body, headers }: Received): string =>
  [
    API_KEY,
    headers["x-auth-token"],
    ...SECRETS.filter((secret) => body.includes(secret)),
    body,
    JSON.stringify({ request: body }),
    IBAN.toLowerCase(),
    CARD,
  ].join(" / ");

const answering =
  (reply: (said: string, received: Received) => Reply): Answer =>
  (received) =>
    reply(repeat(received), received);

const ANSWERS: ReadonlyArray<readonly [string, Answer]> = [
  ["a refusal", answering((said) => ({ body: { code: 400, message: said, data: said } }))],
  ["a rejected token", answering((said) => ({ status: 401, body: { code: 401, message: said } }))],
  ["success of another shape", answering((said, { body }) => success({ said, body }))],
  ["a page of HTML", answering((said) => ({ body: `<html>${said}</html>` }))],
  [
    "a fault of the server",
    answering((said) => ({ status: 500, body: { code: 500, message: said } })),
  ],
  ["a code that is not documented", answering((said) => ({ body: { code: 302, message: said } }))],
  ["a conflict", answering((said) => ({ status: 409, body: { code: 400, message: said } }))],
  ["a text that is cut within a number", () => ({ body: `${"x".repeat(1988)} ${IBAN}` })],
];

const signsInWithToken: Answer = () =>
  success({ auth_token: TOKEN, expires_at: "2999-01-01T00:00:00Z" });

const json = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
};

/** All that a run leaves behind: its failures, spans and logs, as text. */
const traces = (answer: Answer, signIn = signsInWithToken) =>
  Effect.gen(function* () {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => startServer(answer, signIn)),
      (opened) => Effect.promise(opened.stop),
    );
    const seen: Array<unknown> = [];
    const spans: Array<Tracer.NativeSpan> = [];
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options);
        spans.push(span);
        return span;
      },
    });
    const logger = Logger.make((options) => seen.push(options.message, options.cause));
    const run = <A, E>(call: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Effect.tapCause(call, Effect.logError));
        seen.push(exit);
        if (Exit.isFailure(exit)) seen.push(Cause.pretty(exit.cause));
      });
    const calls = PaymentsClient.use((client) =>
      Effect.gen(function* () {
        seen.push(client, client.options);
        yield* run(
          client.createBeneficiary({
            ...requests.createBeneficiary,
            bank_country: "DE",
            account_currency: "EUR",
            iban: IBAN,
            account_number: ACCOUNT,
          }),
        );
        yield* run(
          client.createPayout({ ...requests.createPayout, identification_value: PASSPORT }),
        );
        yield* run(client.withdrawFromCard({ ...requests.withdrawFromCard, card_number: CARD }));
        yield* run(client.listPayouts(requests.listPayouts));
      }),
    );
    yield* calls.pipe(
      Effect.provide(
        PaymentsClient.layer(
          settingsFor(server.url, { apiKey: API_KEY, maxAttempts: 2, retryBaseMs: 0 }),
        ),
      ),
      Effect.withTracer(tracer),
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(References.MinimumLogLevel, "All"),
    );
    const ended = spans.map((span) => [span.attributes, span.events, span.status]);
    const written = [...seen, ...ended]
      .flatMap((value) => [inspect(value, { depth: 12, showHidden: true }), json(value)])
      .join("\n");
    return { written, spans, requests: server.requests };
  });

describe("no secret is left behind", () => {
  it.live.each(ANSWERS)("after %s", ([, answer]) =>
    Effect.gen(function* () {
      const { requests, spans, written } = yield* traces(answer);
      // They were sent, and something was seen.
      expect(requests[0]?.headers["x-auth-token"]).toBe(`Bearer ${TOKEN}`);
      expect(requests[0]?.body).toContain(IBAN);
      expect(spans.map(({ name }) => name)).toContain("createPayout");
      expect(written).toContain("createBeneficiary");
      for (const secret of [...SECRETS, IBAN.toLowerCase(), IBAN.slice(0, 6)]) {
        expect(written).not.toContain(secret);
      }
    }),
  );

  it.live("after a sign-in that repeats them", () =>
    Effect.gen(function* () {
      for (const signIn of [
        { body: { code: 400, message: `key ${API_KEY} is wrong` } },
        { body: { code: 200, message: "Success", data: { auth_token: [TOKEN], key: API_KEY } } },
        { status: 500, body: API_KEY },
      ]) {
        const { written } = yield* traces(
          () => ({}),
          () => signIn,
        );
        expect(written).toMatch(/NotAuthenticated|Unavailable/);
        expect(written).not.toContain(API_KEY);
        expect(written).not.toContain(TOKEN);
      }
    }),
  );
});

/** Account numbers as banks write them: digits, perhaps in groups, or with letters. */
const accountNumber = fc.oneof(
  fc.stringMatching(/^[0-9]{7,20}$/),
  fc.stringMatching(/^[0-9]{4}( [0-9]{4}){2,4}$/),
  fc
    .stringMatching(/^[0-9]{2,4}(-[0-9]{2,6}){2}$/)
    .filter((text) => /(\d-?){8}/.test(text) && !/^(19|20)\d\d-/.test(text)),
  fc.stringMatching(/^(DE|GB|NL)[0-9]{2}[A-Z]{4}[0-9]{10,16}$/),
);

it("no number of request or response, and no secret, is in any error", () => {
  fc.assert(
    fc.property(
      accountNumber,
      accountNumber,
      fc.constantFrom("", "Account ", '{"iban":"', "account_number=", "Konto: ", "x"),
      fc.constantFrom("", ".", '"}', " is closed", "/"),
      fc.constantFrom(200, 400, 401, 404, 409, 422, 429, 500),
      fc.constantFrom(200, 400, 401, 409, 500, undefined),
      (sent, other, before, after, status, code) => {
        const said = `${before}${sent}${after} ${before}${other}${after} ${API_KEY}`;
        const body = code === undefined ? said : JSON.stringify({ code, message: said });
        const response = { status, headers: {}, body };
        for (const name of ["createBeneficiary", "createPayout", "cancelCard"] as const) {
          const context = {
            operation: operation(name),
            assumptions: defaultAssumptions,
            hidden: () => [sent, API_KEY],
            isResend: true,
          };
          const parsed = parseResponse(context, response);
          const error = parsed._tag === "Failed" ? parsed.error : parsed;
          const written = [json(error), inspect(error, { depth: 9, showHidden: true })].join("\n");
          for (const secret of [sent, other, API_KEY]) expect(written).not.toContain(secret);
        }
      },
    ),
    { numRuns: 300 },
  );
});

describe("a number of the request", () => {
  const grouped = (by: string) => (text: string) => text.replace(/(.{4})(?=.)/g, `$1${by}`);
  const inDigitsFrom = (zero: number) => (text: string) =>
    text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

  it.each<[string, (text: string) => string]>([
    ["as it is", (text: string) => text],
    ...[".", "/", "_", ", ", " - ", "\n", "\u{A0}", "\u{200B}"].map(
      (by): [string, (text: string) => string] => [
        `in groups with ${JSON.stringify(by)}`,
        grouped(by),
      ],
    ),
    ["digit by digit", (text: string) => text.replaceAll(/(.)(?=.)/g, "$1 ")],
    ["in full-width digits", inDigitsFrom(0xff10)],
    ["in Arabic digits", inDigitsFrom(0x660)],
    ["in full-width digits and groups", (text: string) => grouped(".")(inDigitsFrom(0xff10)(text))],
    ["in small letters", (text: string) => text.toLowerCase()],
  ])("is masked %s", (_, write) => {
    for (const number of [CARD, IBAN, "000123456789"]) {
      const shown = redact(`Account ${write(number)} is closed`, [number]);
      expect(shown).toMatch(/^Account \D{0,14}.{0,5} is closed$/u);
      expect(shown.normalize("NFKC").replaceAll(/\W/g, "")).not.toContain(number);
    }
  });

  it("leaves addresses, versions and times readable", () => {
    const text = "10.0.12.34:7233 at 10:15:30.123 with 1.12.345, 2026-11-21 and 100.50, 200.75";
    expect(redact(text, [CARD, IBAN])).toBe(text);
    expect(redact(redact(IBAN))).toBe("…3000");
  });

  it("is not shown as the name of an unknown field", () => {
    const error = invalidRequest("createPayout", [{ field: CARD, problem: "is unknown" }]);
    expect(json(error) + error.message).not.toContain(CARD);
    expect(error.faults).toStrictEqual([{ field: "…7899", problem: "is unknown" }]);
  });
});

it("neither the token in use nor the one before it is in an error", async () => {
  const rejected = { body: { code: 401, message: "token expired" } };
  // A request that is sent again, because its connection broke, may have a third token.
  const used: Array<string> = [];
  await using server = await startServer(({ headers }) => {
    const token = String(headers["x-auth-token"]).replace("Bearer ", "");
    if (used[0] !== token) used.unshift(token);
    const [inUse, before] = used;
    return before === undefined
      ? rejected
      : { body: { code: 400, message: `not <${inUse}>, nor <${before}>` } };
  });
  await using client = clientFor(server.url);
  for (let call = 0; call < 2; call++) {
    const error = await failureOf(client.createPayout(requests.createPayout));
    expect(error).toMatchObject({
      _tag: "RequestRefused",
      reason: "not <[redacted]>, nor <[redacted]>",
    });
  }
});

it.effect("the settings in use hold the key, and do not show it", () =>
  PaymentsClient.use((client) =>
    Effect.sync(() => {
      expect(Redacted.value(currentApiKey(client.options))).toBe(API_KEY);
      expect(JSON.stringify(client)).not.toContain(API_KEY);
      expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(API_KEY);
    }),
  ).pipe(
    Effect.provide(
      PaymentsClient.layer(settingsFor("https://payments.example", { apiKey: API_KEY })),
    ),
  ),
);
