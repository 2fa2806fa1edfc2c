import { STATUS_CODES } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { operation } from "../src/client/operations.ts";
import { type Outcome, outcomeOf, OUTCOMES, type ResponseClass } from "../src/client/outcomes.ts";
import { parseResponse } from "../src/client/parse-response.ts";
import { nextStep } from "../src/client/retry.ts";
import type { IdempotencyClass } from "../src/contract/operation-facts.ts";
import { type Assumptions, defaultAssumptions } from "../src/effect.ts";
import { readOutcomes } from "./support/contract-documentation.ts";
import { answers } from "./support/responses.ts";

const FILE = new URL("../../../docs/errors-and-outcomes.md", import.meta.url);
const BEGIN = "<!-- outcomes -->";
const END = "<!-- /outcomes -->";

const CLASSES: ReadonlyArray<IdempotencyClass> = ["safe", "idempotent", "keyed", "none"];
// The table's own keys.
const RESPONSES = Object.keys(OUTCOMES) as ReadonlyArray<ResponseClass>;

const cells = RESPONSES.flatMap((is) =>
  CLASSES.map((operation) => ({ is, operation, outcome: outcomeOf(is, operation) })),
);

/** A cell in a few words, with what is done for this class of operations. */
const inWords = (operation: IdempotencyClass, { carriedOut, retry }: Outcome): string => {
  if (carriedOut === "yes") return "yes / not resent";
  const isResent = retry === "always" || (retry === "ifIdempotent" && operation !== "none");
  return `${carriedOut} / ${isResent ? "resent" : "not resent"}`;
};

const table = (): string => {
  const meanings = readOutcomes();
  return [
    BEGIN,
    "",
    "Generated from `packages/api-core/src/client/outcomes.ts`: `OUTCOMES=write npx vitest run --project=@durable-payments/client test/outcome-table`.",
    "",
    `| response | error if there was no effect | ${CLASSES.map((of) => `${of}: took effect / resent by the client`).join(" | ")} |`,
    `| --- | --- | ${CLASSES.map(() => "---").join(" | ")} |`,
    ...RESPONSES.map((is) => {
      const { error } = OUTCOMES[is];
      const outcomes = CLASSES.map((operation) => inWords(operation, outcomeOf(is, operation)));
      return `| ${meanings.get(is) ?? ""} | ${error === "none" ? "" : `\`${error}\``} | ${outcomes.join(" | ")} |`;
    }),
    "",
    "If the HTTP status and the envelope code belong to different rows, the response is a contradiction. Exception: HTTP 2xx and plain refusals, such as 400, give way to the envelope. An error code with data, or with the message `Success`, is a contradiction too.",
    "",
    'Without a readable envelope, an HTTP status decides the outcome of a write only if the body is empty, HTML or plain text. Text counts as plain if it contains none of `{`, `[` and `"`. Any other body may be a damaged envelope: the response is a contradiction, and a rejected token leaves the outcome unknown.',
    "",
    END,
  ].join("\n");
};

/** A formatter may align the table. */
const withoutPadding = (text: string): string => text.replaceAll(/[ -]+/gu, " ");

it("docs/errors-and-outcomes.md prints the table", () => {
  const page = readFileSync(FILE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const made = table();
  if (process.env["OUTCOMES"] === "write") writeFileSync(FILE, before + made + after);
  expect(withoutPadding(page)).toContain(withoutPadding(made));
  // TypeScript reads the docstrings.
}, 120_000);

describe("the table of outcomes", () => {
  it("has no unknown outcome of a read, and sends nothing again that may have been carried out", () => {
    const wrong = cells.filter(
      ({ operation, outcome: { carriedOut, retry } }) =>
        (operation === "safe" && carriedOut === "unknown") ||
        (retry === "always" && carriedOut !== "no") ||
        (carriedOut === "yes" && retry !== "never"),
    );
    expect(wrong).toStrictEqual([]);
  });

  it("never sends a payout, a cardholder or a beneficiary again while its outcome is unknown", () => {
    const resent = cells.filter(
      ({ operation, outcome }) =>
        operation === "none" && outcome.carriedOut === "unknown" && outcome.retry === "always",
    );
    expect(resent).toStrictEqual([]);
  });

  it("is the one that was agreed: what is unknown of which writes", () => {
    const unknown = Map.groupBy(
      cells.filter(({ outcome }) => outcome.carriedOut === "unknown"),
      ({ is }) => is,
    );
    const WRITES = "idempotent keyed none";
    expect(
      Object.fromEntries(
        [...unknown].map(([is, of]) => [is, of.map(({ operation }) => operation).join(" ")]),
      ),
    ).toStrictEqual({
      lost: WRITES,
      lostUntilFixed: WRITES,
      serverFault: WRITES,
      gateway: WRITES,
      tokenRejectedByGateway: WRITES,
      refusedResend: "keyed",
      conflict: "keyed none",
      contradictory: WRITES,
      unreadable: WRITES,
    });
  });
});

describe("a response with every status, code, message and data", () => {
  const called = operation("createPayout");
  const limits = { maxAttempts: 4, maxRetryWaitMs: 20_000, retryBaseMs: 200 };
  const { data } = answers.createPayout.body as { readonly data: unknown };

  /** How a first send of createPayout ends. */
  const endOfText = (status: number, body: string, assumptions = defaultAssumptions) => {
    const context = {
      operation: called,
      assumptions,
      hidden: () => [],
      isResend: false,
    };
    const parsed = parseResponse(context, { status, headers: { "retry-after": "0" }, body });
    if (parsed._tag === "Success") return "yes";
    const state = { called, tries: 1, hasFreshToken: false, isInDoubt: false };
    const next = nextStep(parsed, state, limits, 0);
    return next.isAgain ? "resent" : next.error.carriedOut;
  };

  const endOf = (status: number, body: unknown, assumptions?: Assumptions) =>
    endOfText(status, body === undefined ? "" : JSON.stringify(body), assumptions);

  const registered = Object.keys(STATUS_CODES).map(Number);
  const HTTP = [...registered.filter((status) => status >= 200), 299, 399, 499, 599];
  const CODES = [undefined, -1, 0, 1, 40, 4e9, ...HTTP];

  const saysNoEffect = (said: number): boolean =>
    said >= 400 && said < 500 && said !== 408 && said !== 409;

  /** A token and a limit are two reasons: one of them is wrong. */
  const differ = (status: number, code: number): boolean =>
    new Set([status, code, 401, 429]).size === 2 && status !== code;

  const mayBeResent = (status: number, code: number | undefined): boolean => {
    // Without an envelope, a gateway may have answered after the service acted.
    if (code === undefined) return status === 429;
    if (!saysNoEffect(code)) return false;
    return status < 300 || (saysNoEffect(status) && !differ(status, code));
  };

  const ends = (body: (code: number | undefined) => unknown) =>
    HTTP.flatMap((status) =>
      CODES.map((code) => ({ status, code, end: endOf(status, body(code)) })),
    );

  it("sends a payout again only if both status and code say that it had no effect", () => {
    const all = ends((code) => (code === undefined ? undefined : { code, message: "No" }));
    const resent = all.filter(({ end }) => end === "resent");
    expect(resent.filter(({ code, status }) => !mayBeResent(status, code))).toStrictEqual([]);
    for (const [status, code] of [
      [429, undefined],
      [401, 400],
      [200, 429],
    ]) {
      expect(resent).toContainEqual({ status, code, end: "resent" });
    }
    const isSettled = all.filter(
      ({ code, end }) => code !== 200 && (end === "no" || end === "yes"),
    );
    expect(
      isSettled.filter(({ code, status }) => code !== undefined && !mayBeResent(status, code)),
    ).toStrictEqual([]);
  });

  it.each([
    ["data", { message: "No", data }],
    ["the message Success", { message: "Success" }],
    ["both", { message: "Success", data }],
  ])("never sends it again, nor takes it for refused, after an error code with %s", (_, rest) => {
    const all = ends((code) => ({ code, ...rest }));
    const wrong = all.filter(
      ({ code, end }) => code !== undefined && code !== 200 && end !== "unknown",
    );
    expect(wrong).toStrictEqual([]);
  });

  it.each([
    [503, 503, "resent"],
    [503, 400, "resent"],
    [503, 408, "unknown"],
    [503, 409, "unknown"],
    [503, 500, "unknown"],
    [400, 503, "unknown"],
    [200, 503, "unknown"],
  ])("does not take a listed HTTP 503 for more than the code says: %i, %i", (status, code, end) => {
    const assumptions = { ...defaultAssumptions, notCarriedOutStatuses: [400, 503] };
    expect(endOf(status, { code, message: "No" }, assumptions)).toBe(end);
  });

  it("reads a code that is written as text like a number", () => {
    for (const status of [400, 422, 429]) expect(endOf(status, { code: "408" })).toBe("unknown");
  });

  it.each([null, "", {}, []])("takes data of %j for none", (empty) => {
    expect(endOf(200, { code: 400, message: "No", data: empty })).toBe("no");
  });

  const listed = [400, 401, 403, 404, 429, 503];
  const allListed = { ...defaultAssumptions, notCarriedOutStatuses: listed };
  const made = { message: "Success", data };

  it.each([
    ["a code that is a word", JSON.stringify({ code: "OK", ...made })],
    ["a code that is another word", JSON.stringify({ code: "abc", ...made })],
    ["a code that is true", JSON.stringify({ code: true, ...made })],
    ["no code", JSON.stringify(made)],
    ["another name of the code", JSON.stringify({ Code: 500, ...made })],
    ["its end cut off", JSON.stringify({ code: 200, ...made }).slice(0, -1)],
    ["almost all of it cut off", "{"],
    ["its beginning cut off", JSON.stringify({ code: 200, ...made }).slice(1)],
    ["white space and a byte order mark before it", ` \uFEFF\n${JSON.stringify(made)}`],
    ["other bytes before it", `\uFFFD\0${JSON.stringify({ code: 200, ...made })}`],
    ["a list around it", JSON.stringify([{ code: 200, ...made }])],
    ["quotes around it", JSON.stringify(JSON.stringify({ code: 200, ...made }))],
    ["an empty list in its place", "[]"],
    ["a gateway's own JSON in its place", '{"error":"rate limited"}'],
  ])("takes no status for proof if the envelope has %s", (_, body) => {
    for (const status of listed) {
      const ends = [endOfText(status, body), endOfText(status, body, allListed)];
      expect({ status, ends }).toStrictEqual({ status, ends: ["unknown", "unknown"] });
    }
    expect(endOfText(409, body)).toBe("unknown");
  });

  it.each([
    ["an empty body", ""],
    ["white space", "\r\n"],
    ["HTML with a script", '\n<html><script>var a = {"b": [1]}</script></html>'],
    ["a text", "Too many requests\n"],
  ])("takes a listed status for proof with %s", (_, body) => {
    expect(listed.map((status) => endOfText(status, body, allListed))).toStrictEqual([
      "no",
      "resent",
      "resent",
      "no",
      "resent",
      "resent",
    ]);
  });
});
