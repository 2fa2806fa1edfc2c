import { grownWait, needsApproval } from "@durable-payments/ledger";
import {
  InvalidRequest,
  NotAuthenticated,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  RequestRefused,
  Unavailable,
  UnexpectedAnswer,
} from "@durable-payments/client/effect";
import { describe, expect, it } from "vitest";
import { testimonyOf } from "../../src/write/activity.ts";
import { outcomeOfError } from "../../src/write/outcomes.ts";
import { requestHash } from "@durable-payments/protocol";
import { keyOf } from "../../src/write/request.ts";

const no = { operation: "createPayout", carriedOut: "no", message: "why" } as const;
const unknown = { ...no, carriedOut: "unknown" } as const;

describe("what the client says of a write", () => {
  it.each<[string, PaymentsError, string]>([
    ["an invalid request", new InvalidRequest({ ...no, faults: [] }), "refused"],
    ["a refusal", new RequestRefused({ ...no, code: 400, reason: "no" }), "refused"],
    ["refused keys", new NotAuthenticated(no), "later"],
    ["a rate limit", new RateLimited({ ...no, retryAfter: 9_000, by: "service" }), "later"],
    ["no connection", new Unavailable(no), "later"],
    ["a gateway's page", new Unavailable({ ...no, status: 503 }), "later"],
    ["no answer", new OutcomeUnknown(unknown), "lost"],
    ["an answer that cannot be read", new UnexpectedAnswer(unknown), "lost"],
    ["a refusal of a repeat", new OutcomeUnknown({ ...unknown, code: 400 }), "lost"],
  ])("%s", (_what, error, is) => {
    expect(outcomeOfError(error, 1).is).toBe(is);
  });

  it.each([
    ["ignored", new UnexpectedAnswer(unknown)],
    ["refused", new OutcomeUnknown({ ...unknown, code: 400, reason: "duplicate" })],
  ])("asks a person where the repeat of a card's key was %s", (_what, error) => {
    expect(outcomeOfError(error, 2, true).is).toBe("contradiction");
  });

  it("waits as long as the service asks for, and otherwise longer each time, up to minutes", () => {
    const limited = new RateLimited({ ...no, retryAfter: 9_000, by: "service" });
    expect(outcomeOfError(limited, 1)).toMatchObject({ retryAfterMs: 9_000 });
    // Attempts that waited for something else do not count.
    expect(outcomeOfError(limited, 12)).toMatchObject({ retryAfterMs: 9_000 });
    const ownBudget = new RateLimited({ ...no, retryAfter: 9_000, by: "signIns" });
    expect(outcomeOfError(ownBudget, 6)).toMatchObject({ retryAfterMs: 32_000 });
    expect([1, 2, 3, 50].map(grownWait)).toEqual([1_000, 2_000, 4_000, 300_000]);
  });
});

describe("what Temporal says of a row", () => {
  const input = { call: 1, isFirst: true, runId: "run-1" };
  const times = { scheduledTimestampMs: 1_000, currentAttemptScheduledTimestampMs: 1_000 };
  const info = { attempt: 1, runId: "run-1", heartbeatDetails: undefined, ...times };
  const left = (attempt: number, version: number) => ({ attempt, version });

  it.each([
    ["the first call of a first run", input, info, { is: "none" }],
    ["a run that nothing vouches for", { ...input, isFirst: false }, info, undefined],
    ["a later call without a version", { ...input, call: 2 }, info, undefined],
    ["a later call", { ...input, call: 2, version: 3 }, info, { is: "version", version: 3 }],
    ["another run, after a reset", input, { ...info, runId: "run-2" }, undefined],
    [
      "a first attempt after a reset of the activity",
      { ...input, version: 3 },
      { ...info, currentAttemptScheduledTimestampMs: 2_000 },
      undefined,
    ],
    [
      "a first attempt for which a test server has read its clock once more",
      { ...input, version: 3 },
      { ...info, currentAttemptScheduledTimestampMs: info.scheduledTimestampMs + 1 },
      { is: "version", version: 3 },
    ],
    ["an attempt after one that was killed", input, { ...info, attempt: 2 }, undefined],
    [
      "an attempt after one that sent nothing",
      input,
      { ...info, attempt: 2, heartbeatDetails: left(1, 4) },
      { is: "version", version: 4 },
    ],
    [
      "an attempt after one that made no row",
      input,
      { ...info, attempt: 2, heartbeatDetails: left(1, 0) },
      { is: "none" },
    ],
    [
      "an attempt after one that was killed, after one that sent nothing",
      input,
      { ...info, attempt: 3, heartbeatDetails: left(1, 4) },
      undefined,
    ],
  ])("in %s", (_what, given, about, testimony) => {
    expect(testimonyOf(given, about)).toEqual(testimony);
  });
});

describe("a request", () => {
  it("is the same however its amount and currency are written, and with any key", () => {
    const hash = requestHash("createPayout", { amount: "10.00", currency: "EUR" });
    const other = { currency: "eur", amount: "10", unique_request_id: "key" };
    expect(requestHash("createPayout", other)).toBe(hash);
    expect(requestHash("createPayout", { ...other, amount: "10.01" })).not.toBe(hash);
  });

  it("has another key for each account, workflow id, step and generation", () => {
    const name = { account: "a", workflowId: "w", step: "s" };
    const keys = [
      keyOf(name, 1),
      keyOf(name, 2),
      keyOf({ ...name, account: "b" }, 1),
      keyOf({ ...name, workflowId: "v" }, 1),
      keyOf({ ...name, step: "t" }, 1),
    ];
    expect(new Set(keys).size).toBe(5);
    expect(keyOf(name, 1)).toBe(keys[0]);
  });

  it.each([
    [{ amount: "10", currency: "EUR" }, undefined, { EUR: "10" }, false],
    [{ amount: "10.01", currency: "EUR" }, undefined, { EUR: "10" }, true],
    [{ amount: "10", currency: "USD" }, undefined, { EUR: "10" }, true],
    [{ amount: "10", currency: "USD" }, "9", null, true],
    [{ amount: "10", currency: "USD" }, undefined, null, false],
    [{ amount: null, currency: null }, "9", { EUR: "1" }, false],
  ])("of %j above %s or %j needs approval: %s", (money, given, limits, is) => {
    expect(needsApproval(money, [given], [limits]) !== undefined).toBe(is);
  });
});
