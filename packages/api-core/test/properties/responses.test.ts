import { describe, expect, it } from "vitest";
import { defaultAssumptions, isPaymentsError } from "../../src/effect.ts";
import { operationNames } from "../../src/client/client-shape.ts";
import { operation } from "../../src/client/operations.ts";
import { parseResponse } from "../../src/client/parse-response.ts";
import type { WireResponse } from "../../src/client/send.ts";
import { answers } from "../support/responses.ts";
import { clientFor, anyOperation } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { fc } from "../support/seeded.ts";
import { startServer } from "../support/server.ts";

const names = [...operationNames, "signIn"] as const;

const status = fc.oneof(
  fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504),
  fc.integer({ min: 200, max: 599 }),
);
const retryAfter = fc.option(
  fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  ),
  { nil: undefined },
);
const code = fc.oneof(
  fc.constantFrom<unknown>(200, 400, "200", "400", 401, 409, 429, 500, null, true, [400], {}),
  fc.anything(),
);
const message = fc.oneof(
  fc.constantFrom("Success", "token expired", "duplicate unique_request_id", "already cancelled"),
  fc.string(),
  fc.anything(),
);
/** Anything, envelopes with anything in them, and good answers with a part gone wrong. */
const body = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc.constantFrom("", "null", "[]", "<html>502 Bad Gateway</html>", "{", '{"code":', '"text"', "7"),
  fc.record({ code, message, data: fc.anything() }, { requiredKeys: [] }).map((json) => text(json)),
  fc
    .tuple(fc.constantFrom(...operationNames), fc.anything(), fc.nat(60))
    .map(([name, junk, at]) => spoilt(answers[name].body, junk, at)),
);

/** As JSON, where it can be written so. */
const text = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
};

/** A good answer with `junk` in the place of one value, or cut short. */
const spoilt = (good: unknown, junk: unknown, at: number): string => {
  let seen = 0;
  const written = text(
    JSON.parse(text(good), (_key, value: unknown) => (seen++ === at % 7 ? junk : value)),
  );
  return at % 5 === 0 ? written.slice(0, at) : written;
};

const read = (name: (typeof names)[number], answer: WireResponse) =>
  parseResponse(
    {
      operation: operation(name),
      assumptions: defaultAssumptions,
      hidden: () => [],
      isResend: true,
    },
    answer,
  );

/** What is wrong with a reading; undefined where nothing is. */
const faultOf = (
  name: (typeof names)[number],
  status: number,
  reading: ReturnType<typeof read>,
): string | undefined => {
  switch (reading._tag) {
    case "Success":
      return status < 500 ? undefined : "success under a server's fault";
    case "TokenRejected":
      return name === "signIn" ? "a sign-in has no token" : undefined;
    case "Failed": {
      const { error, waitMs = 0 } = reading;
      if (!isPaymentsError(error)) return "no typed error";
      if (error.operation !== name) return "another operation";
      if (error.message.length > 1000) return "too long a message";
      return waitMs >= 0 && Number.isInteger(waitMs) ? undefined : "a wait that is none";
    }
  }
};

/** Whether a reading leaves it open what was done, as it must for a write. */
const isInDoubt = (name: (typeof names)[number], reading: ReturnType<typeof read>): boolean =>
  reading._tag === "Failed" &&
  reading.retry !== "always" &&
  reading.error.carriedOut === (operation(name).idempotency === "safe" ? "no" : "unknown");

describe.each(names)("%s: any answer", (name) => {
  it("is a success or a typed error, never a defect", () => {
    fc.assert(
      fc.property(status, retryAfter, body, (status, retryAfter, body) => {
        const reading = read(name, { status, headers: { "retry-after": retryAfter }, body });
        expect(faultOf(name, status, reading)).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  it("of a server's fault, or that contradicts itself, leaves a write in doubt", () => {
    const doubtful = fc.oneof(
      fc.record({ status: fc.oneof(fc.constant(408), fc.integer({ min: 500, max: 599 })), body }),
      fc.record({
        status: fc.integer({ min: 300, max: 599 }),
        body: fc
          .tuple(fc.anything(), fc.string())
          .map(([data, message]) => text({ code: 200, message, data })),
      }),
      fc.record({
        status: fc.integer({ min: 200, max: 399 }),
        body: fc.constantFrom("", "<html>", '{"code":500}', '{"code":[400]}', '{"code":null}'),
      }),
    );
    fc.assert(
      fc.property(doubtful, ({ body, status }) => {
        const reading = read(name, { status, headers: {}, body });
        expect(isInDoubt(name, reading)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

it("ends in a value or a typed error over a real connection", async () => {
  let next: { status: number; headers: Record<string, string>; body: string };
  await using server = await startServer(() => next);
  await using client = clientFor(server.url, { maxAttempts: 1 });
  const headers = fc.dictionary(
    fc.constantFrom("retry-after", "content-type", "x-any", "content-encoding", "location"),
    fc.stringMatching(/^[ -~]{0,20}$/),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...operationNames),
      fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
      headers,
      body,
      async (name, status, headers, body) => {
        next = { status, headers, body };
        const isTyped = await anyOperation(
          client,
          name,
        )(requests[name]).then(
          () => true,
          (reason: unknown) => isPaymentsError(reason),
        );
        expect(isTyped).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});
