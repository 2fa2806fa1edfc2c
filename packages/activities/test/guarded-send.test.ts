import type { Input } from "@durable-payments/api-core";
import {
  type Journal,
  JournalUnavailable,
  makeMemoryJournal,
  openJournal,
} from "@durable-payments/journal";
import type { Pause } from "@durable-payments/protocol";
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  ALREADY_SENT,
  DISPATCH_WITHIN_MS,
  PAUSED,
  RUN_CANCELLING,
  RUN_ENDED,
  type RunState,
  type SendIntent,
} from "../src/index.ts";
import type { ReadEarlierRuns } from "../src/earlier-runs.ts";
import { hashPayload } from "../src/recorded-send.ts";
import { activitiesFor, environment, failureOf, type Logged, run } from "./support/activities.ts";
import { beneficiary, card, cardholder, IBAN, payout } from "./support/bodies.ts";
import {
  type RawService,
  refusal,
  type Said,
  startRawService,
  success,
} from "./support/raw-service.ts";

const created = { id: "P-1", short_reference: "P261121-ABCDEFGH", status: "processing" };
const tooMany = (seconds: number): Said => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  body: "",
});

let answers: Array<Said>;
let pause: Pause | undefined;
let runState: () => Promise<RunState>;
let journal: Journal;
let service: RawService;
let made: ReturnType<typeof activitiesFor>;
const remake = async (
  options: Partial<Parameters<typeof activitiesFor>[1]> = {},
  more: Parameters<typeof activitiesFor>[2] = {},
) => {
  await made?.close();
  made = activitiesFor(
    service.url,
    { maxAttempts: 4, retryBaseMs: 1, ...options },
    { readPause: async () => pause, readRunState: () => runState(), journal, ...more },
  );
};
beforeEach(async () => {
  answers = [];
  pause = undefined;
  runState = async () => "open";
  journal = makeMemoryJournal();
  service = await startRawService(() => answers.shift() ?? success(created));
  await remake();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await made.close();
  await service.stop();
});

/** Sends a payout, as the first send of its step where nothing else is said. */
const pay = (
  intent: Partial<SendIntent> = {},
  info: Parameters<typeof environment>[0] = {},
  input: object = payout,
  logged: Array<Logged> = [],
) =>
  environment(info, { logged }).run(
    // The input of a test may be anything.
    made.activities.createPayout as (input: object, intent: SendIntent) => Promise<unknown>,
    input,
    { step: "createPayout", number: 1, ...intent },
  );
const recorded = () => journal.find({ workflowId: "test", step: "createPayout" });

/** Fulfilled when so many requests have come. */
const untilReceived = (requests: number) =>
  vi.waitFor(() => expect(service.received).toHaveLength(requests), {
    interval: 5,
    timeout: 120_000,
  });

describe("a send", () => {
  it("is in the journal before the service is asked, and its answer afterwards", async () => {
    answers = ["hold"];
    const cancelled = environment();
    const sending = cancelled.run(made.activities.createPayout, payout, {
      step: "createPayout",
      number: 1,
    });
    sending.catch(() => undefined);
    await service.asked;
    const { begunAt, ...begun } = (await recorded())[0]!;
    expect(begun).toStrictEqual({
      workflowId: "test",
      step: "createPayout",
      number: 1,
      operation: "createPayout",
      runId: "00000000-0000-0000-0000-000000000000",
      key: "key-1",
      payloadHash: hashPayload("test", payout),
      amount: "250.00",
      currency: "USD",
      payee: payout.beneficiary_id,
      isUndone: false,
      outcome: "begun",
      ids: {},
    });
    expect(Math.abs(Date.now() - begunAt)).toBeLessThan(5_000);
    cancelled.cancel();
    await expect(sending).rejects.toThrow();
    expect(await recorded()).toMatchObject([{ outcome: "unknown" }]);
    await pay({ number: 2 });
    expect((await recorded())[1]).toMatchObject({
      number: 2,
      outcome: "carriedOut",
      ids: { payout_id: "P-1", short_reference: "P261121-ABCDEFGH" },
    });
  });

  it.each([
    ["Refused", refusal("no such beneficiary"), "notCarriedOut"],
    ["OutcomeUnknown", { status: 502, body: "<html>" }, "unknown"],
    ["UnexpectedAnswer", success("nothing"), "unknown"],
  ] as const)("that fails as %s is recorded so", async (type, answer, outcome) => {
    answers = [answer];
    expect(await failureOf(pay())).toMatchObject({ type });
    expect(await recorded()).toMatchObject([{ number: 1, outcome }]);
  });

  it("that never left is not recorded, so that its number is free", async () => {
    expect(await failureOf(pay({}, {}, { ...payout, amount: "much" }))).toMatchObject({
      type: "InvalidRequest",
    });
    pause = { why: "a bad file", by: "Ada", since: "2026-11-20T12:00:00.000Z" };
    expect(await failureOf(pay())).toMatchObject({ type: PAUSED });
    expect(await recorded()).toEqual([]);
    expect(service.received).toEqual([]);
  });

  it("that its workflow does not name is named by its activity", async () => {
    await run(made.activities.createPayout, payout, { activityId: "7" });
    expect(await journal.find({ workflowId: "test" })).toMatchObject([
      { step: "activity 7", number: 1, outcome: "carriedOut" },
    ]);
  });
});

describe("what was sent before is not sent", () => {
  it("and the failure says what is known of it", async () => {
    await pay();
    const failure = await failureOf(pay({}, { activityId: "another", attempt: 1 }));
    const { begunAt } = (await recorded())[0]!;
    expect(failure).toMatchObject({ type: ALREADY_SENT, nonRetryable: true });
    expect(failure.details).toStrictEqual([
      {
        number: 1,
        runId: "00000000-0000-0000-0000-000000000000",
        outcome: "carriedOut",
        ids: { payout_id: "P-1", short_reference: "P261121-ABCDEFGH" },
        begunAt,
        key: "key-1",
        amount: "250.00",
        currency: "USD",
        isSamePayload: true,
      },
    ]);
    expect(failure.message).toMatch(
      /^createPayout was not sent again: a send of it began at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, and /,
    );
    expect(service.received).toHaveLength(1);
  });

  it.each([
    ["another amount", { ...payout, amount: "250.01" }, false],
    ["another key alone", { ...payout, unique_request_id: "key-2" }, true],
  ])("and the failure says whether it was the same request: %s", async (_, input, isSame) => {
    await pay();
    expect((await failureOf(pay({ number: 2 }, {}, input))).details).toMatchObject([
      { number: 1, isSamePayload: isSame },
    ]);
  });

  it("and the failure names a send before it of another request, which is in doubt", async () => {
    const other = { ...payout, amount: "64.20" };
    const lost = { status: 502, body: "<html>" };
    answers = [lost];
    await failureOf(pay({}, {}, other));
    answers = [lost];
    await failureOf(pay({ number: 2, knownTo: 1 }));
    const otherInDoubt = { number: 1, outcome: "unknown", amount: "64.20", currency: "USD" };
    expect((await failureOf(pay({ number: 1, knownTo: 0 }))).details).toMatchObject([
      { number: 2, isSamePayload: true, otherInDoubt },
    ]);
    // What the run knows of is left out.
    const known = (await failureOf(pay({ number: 2, knownTo: 1 }))).details;
    expect(known).toMatchObject([{ number: 2 }]);
    expect(known?.[0]).not.toHaveProperty("otherInDoubt");
  });

  it("unless it has been undone", async () => {
    await pay();
    await pay({ number: 2, isUndone: true });
    expect(service.received).toHaveLength(2);
  });

  it("by a second attempt, which reports what the lost worker wrote", async () => {
    answers = [refusal("no such beneficiary")];
    await failureOf(pay());
    expect(await failureOf(pay({}, { attempt: 2 }))).toMatchObject({
      type: ALREADY_SENT,
      details: [{ number: 1, outcome: "notCarriedOut" }],
    });
    // Of a worker that was lost before it wrote anything, nothing is known.
    expect(await failureOf(pay({ step: "another" }, { attempt: 2 }))).toMatchObject({
      type: "WorkerLost",
    });
    expect(service.received).toHaveLength(1);
  });
});

describe("before each repeat within a call", () => {
  it("a pause is asked for: what the service refused to take is not sent after it", async () => {
    answers = [tooMany(1)];
    const failing = failureOf(pay());
    await untilReceived(1);
    pause = { why: "a bad file", by: "Ada", since: "2026-11-20T12:00:00.000Z" };
    expect(await failing).toMatchObject({ type: PAUSED });
    expect(service.received).toHaveLength(1);
    // Certainly not carried out: it may be sent again when the pause is over.
    expect(await recorded()).toMatchObject([{ outcome: "notCarriedOut" }]);
  });

  it("and behind our own rate limit", async () => {
    await remake({ requestsPerSecond: 1 });
    await pay({ step: "another" });
    const failing = failureOf(pay());
    pause = { why: "a bad file", by: "Ada", since: "2026-11-20T12:00:00.000Z" };
    expect(await failing).toMatchObject({ type: PAUSED });
    expect(service.received).toHaveLength(1);
  });

  it("the journal is asked: a send that was overtaken meanwhile is not repeated", async () => {
    answers = [tooMany(1)];
    const failing = failureOf(pay());
    await untilReceived(1);
    await pay({ number: 2 });
    expect(await failing).toMatchObject({
      type: ALREADY_SENT,
      details: [{ number: 2, outcome: "carriedOut" }],
    });
    expect(service.received).toHaveLength(2);
  });

  it("the time is asked: nothing is sent after the activity's own deadline", async () => {
    answers = [tooMany(1)];
    const failure = await failureOf(pay({}, { startToCloseTimeoutMs: 500 }));
    expect(failure).toMatchObject({ type: "Unavailable" });
    expect(failure.message).toContain("more than 0.5 s have passed since its activity began");
    expect(service.received).toHaveLength(1);
  });

  it(`nor later than ${DISPATCH_WITHIN_MS / 1000} s after it began, however long it may take`, async () => {
    answers = [tooMany(1)];
    const now = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    const failing = failureOf(pay());
    await untilReceived(1);
    later = DISPATCH_WITHIN_MS + 1_000;
    expect(await failing).toMatchObject({ type: "Unavailable" });
    expect(service.received).toHaveLength(1);
  });

  it("what may be sent twice is not sent, too, and tried again by Temporal", async () => {
    answers = [tooMany(1)];
    const failing = failureOf(run(made.activities.cancelCard, { card_id: "card-1" }));
    await untilReceived(1);
    pause = { why: "a bad file", by: "Ada", since: "2026-11-20T12:00:00.000Z" };
    expect(await failing).toMatchObject({ type: PAUSED, nonRetryable: false });
    expect(service.received).toHaveLength(1);
  });
});

describe("whether the run is still open", () => {
  it.each([
    ["has ended", "ended", RUN_ENDED],
    ["is to be cancelled", "cancelRequested", RUN_CANCELLING],
  ] as const)("is asked before a repeat: nothing is sent where it %s", async (_, state, type) => {
    answers = [tooMany(1)];
    const failing = failureOf(pay());
    await untilReceived(1);
    runState = async () => state;
    expect(await failing).toMatchObject({ type, nonRetryable: true });
    expect(service.received).toHaveLength(1);
    expect(await recorded()).toMatchObject([{ outcome: "notCarriedOut" }]);
  });

  it("is asked before the first send that comes after a wait, which is then free", async () => {
    await remake({ requestsPerSecond: 0.8 });
    await pay({ step: "another" });
    runState = async () => "ended";
    expect(await failureOf(pay())).toMatchObject({ type: RUN_ENDED });
    expect(service.received).toHaveLength(1);
    expect(await recorded()).toEqual([]);
  });

  it("is not asked before a send that follows at once", async () => {
    let asked = 0;
    runState = async () => {
      asked += 1;
      return "open";
    };
    await pay();
    expect(asked).toBe(0);
    answers = [tooMany(0)];
    await pay({ number: 2, isUndone: true });
    expect(asked).toBe(1);
  });

  it("what is shielded from a cancellation is sent, and not after the end", async () => {
    answers = [tooMany(0)];
    runState = async () => "cancelRequested";
    await pay({ evenIfCancelled: true });
    expect(service.received).toHaveLength(2);
    answers = [tooMany(0)];
    runState = async () => "ended";
    const failure = await failureOf(pay({ number: 2, isUndone: true, evenIfCancelled: true }));
    expect(failure).toMatchObject({ type: RUN_ENDED });
    expect(service.received).toHaveLength(3);
  });

  it("what may be sent twice, as what undoes may, is sent until the run has ended", async () => {
    answers = [tooMany(0), success()];
    runState = async () => "cancelRequested";
    await run(made.activities.cancelCard, { card_id: "card-1" });
    expect(service.received).toHaveLength(2);
    answers = [tooMany(0)];
    runState = async () => "ended";
    const failure = await failureOf(run(made.activities.cancelCard, { card_id: "card-1" }));
    expect(failure).toMatchObject({ type: RUN_ENDED, nonRetryable: false });
    expect(service.received).toHaveLength(3);
  });

  it("where it cannot be asked nothing is sent", async () => {
    answers = [tooMany(0)];
    runState = async () => {
      throw new Error("no connection");
    };
    const failure = await failureOf(pay());
    expect(failure).toMatchObject({ type: "Unavailable", nonRetryable: true });
    expect(failure.message).toBe(
      "createPayout was not sent: the Temporal server did not answer whether its run is open still (no connection).",
    );
    expect(service.received).toHaveLength(1);
  });

  it("and what is in doubt stays so", async () => {
    answers = [{ status: 502, body: "" }];
    runState = async () => "ended";
    expect(await failureOf(run(made.activities.createCard, card))).toMatchObject({
      type: "OutcomeUnknown",
    });
    expect(service.received).toHaveLength(1);
  });
});

it("a pause, and the end of the run, are asked for again where the journal took long", async () => {
  const now = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + later);
  const { begin } = journal;
  journal = {
    ...journal,
    begin: async (send) => {
      later += 2_000;
      pause = { why: "a bad file", by: "Ada", since: "2026-11-20T12:00:00.000Z" };
      return begin(send);
    },
  };
  await remake();
  expect(await failureOf(pay())).toMatchObject({ type: PAUSED });
  expect(service.received).toEqual([]);
  expect(await recorded()).toMatchObject([{ outcome: "notCarriedOut" }]);
});

it("an answer that is older than the process stood still is asked for again", async () => {
  const now = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + later);
  const { begin } = journal;
  const overtaken: Journal = {
    ...journal,
    // It begins, stands still for 20 s, and another worker resends meanwhile.
    begin: async (send) => {
      const begun = await begin(send);
      await begin({ ...send, number: 2 });
      later += 20_000;
      return begun;
    },
  };
  journal = overtaken;
  await remake();
  expect(await failureOf(pay())).toMatchObject({ type: ALREADY_SENT, details: [{ number: 2 }] });
  expect(service.received).toEqual([]);
});

describe("what the journal has lost", () => {
  const unanswered = vi.fn<ReadEarlierRuns>(async () => {
    throw new Error("Failed to list workflows");
  });
  beforeEach(async () => {
    unanswered.mockClear();
    await remake({}, { readEarlierRuns: unanswered });
  });

  it("may be in Temporal: nothing is sent until that has answered", async () => {
    const failure = await failureOf(pay());
    expect(failure).toMatchObject({ type: "Unavailable", nonRetryable: true });
    expect(failure.message).toContain(
      "the Temporal server did not answer whether earlier runs of its workflow id have sent it",
    );
    expect(service.received).toEqual([]);
    expect(await recorded()).toEqual([]);
  });

  it("is not asked for where the run finds out by itself", async () => {
    await pay({ knowsEarlierRuns: true });
    expect(unanswered).not.toHaveBeenCalled();
    expect(service.received).toHaveLength(1);
  });
});

describe("where the journal cannot be reached", () => {
  const unreachable = async () => {
    throw new JournalUnavailable("the journal's database db/pay cannot be used (ECONNREFUSED)");
  };

  it("nothing is sent, and the failure says why and what may be done", async () => {
    journal = { ...journal, begin: unreachable };
    await remake();
    const failure = await failureOf(pay());
    expect(failure).toMatchObject({ type: "Unavailable", nonRetryable: true });
    expect(failure.message).toBe(
      "createPayout was not sent: the journal's database db/pay cannot be used (ECONNREFUSED). It is sent when the journal can be used again; `npx @durable-payments/cli doctor` checks it.",
    );
    expect(service.received).toEqual([]);
  });

  it("what may be sent twice is sent: it is not in the journal", async () => {
    journal = { ...journal, begin: unreachable, find: unreachable };
    answers = [success()];
    await remake();
    await run(made.activities.cancelCard, { card_id: "card-1" });
    expect(service.received).toHaveLength(1);
  });

  it("after the answer, the answer stands, and the log says what is missing", async () => {
    const { begin } = journal;
    journal = {
      ...journal,
      begin: async (send) => {
        const begun = await begin(send);
        return begun._tag === "Begun"
          ? { ...begun, send: { ...begun.send, recordOutcome: unreachable } }
          : begun;
      },
    };
    await remake();
    const logged: Array<Logged> = [];
    expect(await pay({}, {}, payout, logged)).toMatchObject({ payout_id: "P-1" });
    expect(logged.filter(({ level }) => level !== "DEBUG")).toMatchObject([
      { level: "WARN", message: "The outcome of a send could not be written to the journal" },
    ]);
  });
});

describe("what the journal keeps", () => {
  it("are sends of writes that must not be made twice, and nothing else", async () => {
    answers = [success({ available_balance: "1.00", balance_id: "B", currency: "USD" }), success()];
    await run(made.activities.retrieveBalance, { currency: "USD" });
    await run(made.activities.cancelCard, { card_id: "card-1" });
    expect(await journal.find({ workflowId: "test" })).toEqual([]);
  });

  it("is no secret, no name and no number of an account or a card", async () => {
    const withdrawal = {
      card_id: "card-1",
      card_number: "4000056655665556",
      amount: "10.00",
      unique_request_id: "key-2",
    };
    answers = [
      success({ beneficiary_id: "B-1", account_number: "12345678" }),
      success({ card_holder_id: "H-1" }),
      success({ card_id: "C-1", unique_request_id: "key-1" }),
      success(withdrawal),
    ];
    const { activities } = made;
    await run(activities.createBeneficiary, { ...beneficiary, account_number: "12345678" });
    await run(activities.createCardholder, cardholder);
    await run(activities.createCard, card);
    await run(activities.withdrawFromCard, withdrawal);
    const kept = await journal.find({ workflowId: "test" });
    expect(
      kept.map(({ amount, currency, ids, operation }) => ({ operation, amount, currency, ids })),
    ).toEqual([
      { operation: "createBeneficiary", ids: { beneficiary_id: "B-1" } },
      { operation: "createCardholder", ids: { card_holder_id: "H-1" } },
      { operation: "createCard", amount: "100.00", currency: "USD", ids: { card_id: "C-1" } },
      {
        operation: "withdrawFromCard",
        amount: "10.00",
        currency: "USD",
        ids: { card_id: "card-1" },
      },
    ]);
    const text = JSON.stringify(kept);
    for (const secret of [IBAN, "12345678", "4000056655665556", "Example", "Ada", "@"]) {
      expect(text).not.toContain(secret);
    }
  });

  it("is a hash that differs by request, whatever the order of their fields", () => {
    const hash = (input: unknown, workflowId = "payout-1") => hashPayload(workflowId, input);
    const { amount, ...rest } = payout;
    expect(hash({ ...rest, amount })).toBe(hash(payout));
    expect(hash({ ...rest, amount: "250" })).toBe(hash(payout));
    expect(hash({ ...rest, amount: "250.01" })).not.toBe(hash(payout));
    expect(hash({ ...rest, payout_reference: "250.0" })).not.toBe(
      hash({ ...rest, payout_reference: "250" }),
    );
    expect(hash({ ...beneficiary, iban: "DE02" })).not.toBe(hash(beneficiary));
    expect(hash(payout, "payout-2")).not.toBe(hash(payout));
    // A number with few unknown digits could be guessed from its hash.
    expect(hash({ card_id: "c", card_number: "1" })).toBe(hash({ card_id: "c", card_number: "2" }));
  });

  it("is no answer that names the payout, or the card, of another run: nobody knows what became of it", async () => {
    await pay();
    const of = (workflowId: string) => ({
      workflowExecution: { workflowId, runId: "00000000-0000-0000-0000-000000000000" },
    });
    const failure = await failureOf(pay({}, of("other")));
    expect(failure).toMatchObject({ type: "AnswerContradicts", nonRetryable: true });
    expect(failure.message).toContain("its answer names what test has made");
    expect(await journal.find({ workflowId: "other" })).toMatchObject([
      { outcome: "unknown", ids: {} },
    ]);
    expect(await recorded()).toMatchObject([{ outcome: "carriedOut" }]);
    answers = [success({ card_id: "C-1" }), success({ card_id: "C-1" })];
    await run(made.activities.createCard, card);
    expect(await failureOf(run(made.activities.createCard, card, of("other")))).toMatchObject({
      type: "AnswerContradicts",
    });
  });

  it.each([
    { iban: "GB29NWBK60161331926819" },
    { account_holder: "Mallory" },
    { bank_country_code: "NL" },
    { account_currency_code: "GBP" },
  ])("is no answer to a beneficiary that shows another one, as %j", async (other) => {
    const details = { ...beneficiary, ...other };
    const answer = { beneficiary_id: "B-1", beneficiary_bank_details: JSON.stringify(details) };
    answers = [success(answer)];
    const failure = await failureOf(run(made.activities.createBeneficiary, beneficiary));
    expect(failure.type).toBe("AnswerContradicts");
    expect(JSON.stringify(failure)).not.toContain(IBAN);
    expect(await journal.find({ workflowId: "test" })).toMatchObject([{ outcome: "unknown" }]);
  });

  it("is a beneficiary that is shown masked, in capitals, by another name of its bank, or not at all", async () => {
    const shown = [
      { iban: `****${IBAN.slice(-4)}`, bank_name: "EXB" },
      { account_holder: beneficiary.account_holder.toUpperCase() },
      {},
    ];
    for (const [index, details] of shown.entries()) {
      const beneficiary_bank_details = JSON.stringify(details);
      answers = [success({ beneficiary_id: `B-${index}`, beneficiary_bank_details })];
      const answer = await run(made.activities.createBeneficiary, beneficiary);
      expect(answer.beneficiary_id).toBe(`B-${index}`);
    }
  });

  it("is the beneficiary of another run with the same account, and none with another one", async () => {
    const create = (workflowId: string, input: Input<"createBeneficiary">) => {
      answers = [success({ beneficiary_id: "B-1" })];
      const runId = "00000000-0000-0000-0000-000000000000";
      return run(made.activities.createBeneficiary, input, {
        workflowExecution: { workflowId, runId },
      });
    };
    await create("first", beneficiary);
    expect(await create("alike", beneficiary)).toMatchObject({ beneficiary_id: "B-1" });
    const other = create("other", { ...beneficiary, iban: "DE02120300000000202051" });
    expect(await failureOf(other)).toMatchObject({ type: "AnswerContradicts" });
  });

  it.each([
    ["another amount", { ...created, amount: "500.00" }],
    ["another currency", { ...created, currency: "EUR" }],
    ["another beneficiary", { ...created, beneficiary_id: "someone-else" }],
  ])("is unknown of a send whose answer shows %s", async (_, other) => {
    answers = [success(other)];
    expect(await failureOf(pay())).toMatchObject({
      type: "AnswerContradicts",
      nonRetryable: true,
      details: [{ _tag: "UnexpectedAnswer", carriedOut: "unknown" }],
    });
    expect(service.received).toHaveLength(1);
    const [kept] = await journal.find({ workflowId: "test" });
    expect(kept).toMatchObject({ operation: "createPayout", outcome: "unknown", ids: {} });
  });

  it("is how often the answers show our key", async () => {
    answers = [
      success({ ...created, unique_request_id: "key-1" }),
      success({ ...created, id: "P-2", unique_request_id: "PO-99" }),
      success({ ...created, id: "P-3" }),
    ];
    for (const step of ["one", "two", "three"]) await pay({ step });
    expect(await journal.keyEcho("createPayout")).toEqual({ same: 1, other: 1, none: 1 });
  });
});

describe("a worker that is frozen while it waits to repeat a send", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "frozen-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("does not send any more when another worker has resent it", async () => {
    const file = join(folder, "journal.sqlite");
    journal = await openJournal({ _tag: "File", file }, "account-1");
    await remake();
    answers = [tooMany(1)];
    const frozen = fork(
      new URL("support/sending-process.ts", import.meta.url),
      [service.url, file],
      {
        execArgv: ["--conditions=@durable-payments/source"],
      },
    );
    try {
      const type = new Promise((resolve) => {
        frozen.once("message", resolve);
      });
      await service.asked;
      frozen.kill("SIGSTOP");
      await pay({ number: 2 });
      expect(service.received).toHaveLength(2);
      frozen.kill("SIGCONT");
      expect(await type).toBe(ALREADY_SENT);
      expect(service.received).toHaveLength(2);
    } finally {
      frozen.kill("SIGKILL");
      await journal.close();
    }
  });
});
