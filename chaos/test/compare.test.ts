import { describe, expect, it } from "vitest";
import { compare } from "../src/evidence/compare.ts";
import { type EndedRun, NOT_READ } from "../src/evidence/run-endings.ts";
import type { Evidence } from "../src/evidence/evidence.ts";
import type { Ledger } from "../src/environment/simulator-ledger.ts";
import type { PlannedOnboarding, PlannedPayout } from "../src/plan/planned-run.ts";

const payout: PlannedPayout = {
  kind: "payout",
  workflowId: "payout-1",
  startAtMs: 0,
  alike: 1,
  intervention: undefined,
  withinMs: undefined,
  payments: [
    {
      reason: "Goods 1",
      amounts: ["12.5"],
      currency: "EUR",
      beneficiary: { id: "b-1" },
      settlement: "completes",
    },
  ],
  input: {},
};

const onboarding: PlannedOnboarding = {
  kind: "onboarding",
  workflowId: "onboarding-1",
  startAtMs: 0,
  alike: 1,
  intervention: undefined,
  email: "person-1@example.com",
  card_limits: ["100.00"],
  card_name: "Card 1",
  undoes: false,
  mayFailAs: [],
  withinMs: undefined,
  input: {},
};

const create_time = "2026-11-21T05:00:00.000Z";

const paid = {
  create_time,
  update_time: create_time,
  payout_id: "p-1",
  payout_status: "completed",
  short_reference: "P1",
  amount: "12.50",
  currency: "EUR",
  beneficiary_id: "b-1",
  payout_reason: "Goods 1",
  payout_reference: "",
  unique_request_id: "key-1",
  returned: false,
};

const holder = {
  create_time,
  card_holder_id: "h-1",
  email: "person-1@example.com",
  first_name: "Ada",
  last_name: "Example",
  card_holder_status: "SUCCESS",
  removed: false,
};

const card = {
  create_time: new Date(Date.parse(create_time) + 3_000).toISOString(),
  card_id: "c-1",
  card_holder_id: "h-1",
  card_limit: "100.00",
  card_name: "Card 1",
  card_status: "pending",
  unique_request_id: "key-2",
};

const ledger: Ledger = {
  balances: [
    { currency: "EUR", available_balance: "987.50" },
    { currency: "USD", available_balance: "900.00" },
  ],
  beneficiaries: [{ create_time, beneficiary_id: "b-1", details: { nickname: "Supplier" } }],
  payouts: [paid],
  cardholders: [holder],
  cards: [card],
};

const times = {
  startedAt: Date.parse(create_time) - 5_000,
  closedAt: Date.parse(create_time) + 5_000,
};

const payoutEnded: EndedRun = {
  ...times,
  ending: {
    status: "completed",
    result: {
      payout_id: "p-1",
      short_reference: "P1",
      payout_status: "completed",
      amount: "12.50",
      currency: "EUR",
      complete_time: "2026-11-21T05:00:00Z",
    },
  },
  ids: ["key-1", "p-1"],
};

const onboardingEnded: EndedRun = {
  ...times,
  ending: {
    status: "completed",
    result: { card_holder_id: "h-1", card_id: "c-1", card_limit: "100.00" },
  },
  ids: ["h-1", "key-2", "c-1"],
};

const refused = (operation: string): EndedRun => ({
  ...times,
  ending: { status: "failed", type: "Refused", message: "Refused on demand", operation },
  ids: ["h-1", "key-2", "c-1"],
});

/** As a run that people have ended says of itself. */
const endedAs = (type: string, ids: readonly string[] = []): EndedRun => ({
  ...times,
  ending: { status: "failed", type, message: type, operation: undefined },
  ids,
});

const open = NOT_READ;

const found = ({
  changes = {},
  ended = {},
  facts = {},
  plan = {},
  undoes = false,
}: {
  readonly changes?: Partial<Ledger>;
  readonly ended?: Readonly<Record<string, EndedRun>>;
  readonly facts?: Partial<Evidence>;
  readonly plan?: Partial<PlannedPayout>;
  readonly undoes?: boolean;
}) => {
  const evidence: Evidence = {
    runs: [
      { ...payout, ...plan },
      { ...onboarding, undoes },
    ],
    endings: new Map(
      Object.entries({ "payout-1": payoutEnded, "onboarding-1": onboardingEnded, ...ended }),
    ),
    ledger: { ...ledger, ...changes },
    funds: { EUR: "1000.00", USD: "1000.00" },
    abandoned: new Map(),
    ended: new Map(),
    inDoubt: new Set(),
    pauses: [],
    restored: false,
    ...facts,
  };
  const { completed, duplicates, lost, refused, stuck, wrong } = compare(evidence);
  const texts = (findings: typeof lost) =>
    findings.map(({ subject, what }) => `${subject} ${what}`);
  return {
    completed,
    refused,
    duplicates: texts(duplicates),
    lost: texts(lost),
    wrong: texts(wrong),
    stuck: texts(stuck),
  };
};

const nothing = { duplicates: [], lost: [], wrong: [], stuck: [] };

const balances = (EUR: string, USD: string) => [
  { currency: "EUR", available_balance: EUR },
  { currency: "USD", available_balance: USD },
];

describe("the comparison of ledger and runs", () => {
  it("finds nothing where each run has made what it says, once", () => {
    expect(found({})).toEqual({ completed: 2, refused: 0, ...nothing });
  });

  it("finds a second payout, cardholder or card", () => {
    expect(
      found({
        changes: {
          payouts: [paid, { ...paid, payout_id: "p-2" }],
          cardholders: [holder, { ...holder, card_holder_id: "h-2" }],
          cards: [card, { ...card, card_id: "c-2", card_holder_id: "h-2" }],
          balances: balances("975.00", "800.00"),
        },
      }),
    ).toMatchObject({
      duplicates: [
        "payout-1 2 payouts instead of one",
        "onboarding-1 2 cardholders instead of one",
        "onboarding-1 2 cards instead of one",
      ],
      lost: [],
      wrong: [],
    });
  });

  it("finds duplicates of a run that has not ended, too", () => {
    const changes = {
      payouts: [paid, { ...paid, payout_id: "p-2" }],
      balances: balances("975.00", "900.00"),
    };
    expect(found({ changes, ended: { "payout-1": open } })).toMatchObject({
      duplicates: ["payout-1 2 payouts instead of one"],
      stuck: ["payout-1 has not ended"],
    });
  });

  it("finds what a run says that it did, and did not", () => {
    const changes = { payouts: [], cards: [], balances: balances("1000.00", "1000.00") };
    expect(found({ changes }).lost).toEqual([
      "payout-1 no payout in the ledger",
      "onboarding-1 no card in the ledger",
    ]);
  });

  it("finds what was done by a run that says that it was refused", () => {
    const ended = { "payout-1": refused("createPayout"), "onboarding-1": refused("createCard") };
    expect(found({ ended })).toMatchObject({
      refused: 2,
      lost: [
        "payout-1 a payout that the run does not know of",
        "onboarding-1 a card that the run does not know of",
      ],
    });
  });

  it("finds nothing where a refusal left nothing of its step, and all before it", () => {
    const ended = { "payout-1": refused("createPayout"), "onboarding-1": refused("createCard") };
    const changes = { payouts: [], cards: [], balances: balances("1000.00", "1000.00") };
    expect(found({ changes, ended })).toEqual({ completed: 0, refused: 2, ...nothing });
  });

  it("finds what should have been undone, and was not", () => {
    const ended = { "onboarding-1": refused("updateCard") };
    expect(found({ ended, undoes: true }).lost).toEqual([
      "onboarding-1 a cardholder that the run does not know of",
      "onboarding-1 a card that the run does not know of",
    ]);
    const changes = {
      cardholders: [{ ...holder, removed: true }],
      cards: [{ ...card, card_status: "cancelled" }],
      balances: balances("987.50", "1000.00"),
    };
    expect(found({ changes, ended, undoes: true })).toMatchObject(nothing);
  });

  it("finds any field that differs, an id by which the run cannot be found, another payee", () => {
    const changes = {
      payouts: [{ ...paid, payout_id: "p-9", beneficiary_id: "b-2", unique_request_id: "key-9" }],
      cards: [{ ...card, card_name: "" }],
    };
    expect(found({ changes }).wrong).toEqual([
      "payout-1 beneficiary_id is b-1, in the ledger b-2",
      "payout-1 its PaymentIds lack p-9",
      "payout-1 its PaymentIds lack key-9",
      "payout-1 payout_id is p-1, in the ledger p-9",
      "onboarding-1 card_name is Card 1, in the ledger ",
    ]);
  });

  it("finds a cent that is missing, and another amount than was asked for", () => {
    expect(found({ changes: { balances: balances("987.49", "900.00") } }).wrong).toEqual([
      "the EUR balance is 987.49, must be 987.50",
    ]);
    const changes = {
      payouts: [{ ...paid, amount: "12.51" }],
      balances: balances("987.49", "900.00"),
    };
    expect(found({ changes }).wrong).toEqual([
      "payout-1 the amount is 12.5, in the ledger 12.51",
      'payout-1 the amount is "12.50", in the ledger 12.51',
    ]);
  });

  it("finds a failure that no fault explains, and money of no run", () => {
    const ended = {
      "payout-1": {
        ...times,
        ending: {
          status: "failed",
          type: "Refused",
          message: "Insufficient balance",
          operation: "createPayout",
        },
        ids: [],
      },
    } as const;
    const changes = {
      payouts: [{ ...paid, payout_id: "p-3", payout_reason: "of nobody" }],
    };
    expect(found({ changes, ended }).wrong).toEqual([
      "payout-1 failed (Refused): Insufficient balance",
      "payout p-3 is of no run",
    ]);
  });

  it("finds what exists of a run that people ended, unless the run knows it or is listed as in doubt", () => {
    const unknown = { "payout-1": endedAs("Cancelled", ["key-1"]) };
    const cancelled = new Map([["payout-1", Date.parse(create_time)]]);
    const exists = ["payout-1 a payout exists, and no list of runs in doubt shows its run"];
    expect(found({ ended: unknown, facts: { ended: cancelled } }).lost).toEqual(exists);
    const inDoubt = new Set(["payout-1"]);
    expect(found({ ended: unknown, facts: { ended: cancelled, inDoubt } })).toMatchObject(nothing);
    const known = { "payout-1": endedAs("Cancelled", ["key-1", "p-1"]) };
    expect(found({ ended: known, facts: { ended: cancelled } })).toMatchObject(nothing);
  });

  it("finds what was paid after a person had ended it", () => {
    const at = Date.parse(create_time);
    const ended = { "payout-1": endedAs("Abandoned", ["p-1"]) };
    const before = new Map([["payout-1", at + 1]]);
    expect(found({ ended, facts: { abandoned: before } })).toMatchObject(nothing);
    const after = new Map([["payout-1", at - 1]]);
    expect(found({ ended, facts: { abandoned: after } }).wrong).toEqual([
      "payout-1 paid after it was abandoned",
    ]);
    const longBefore = new Map([["payout-1", at - 60_000]]);
    expect(found({ facts: { ended: longBefore } }).wrong).toEqual([
      "payout-1 paid long after it was ended",
    ]);
  });

  it("finds a write while sends are paused", () => {
    const at = Date.parse(create_time);
    const pauses = [{ from: at - 10, to: at + 3_010 }];
    expect(found({ facts: { pauses } }).wrong).toEqual([
      "payout p-1 made 10 ms after the pause took hold",
      "cardholder h-1 made 10 ms after the pause took hold",
      "card c-1 made 3010 ms after the pause took hold",
      "payee b-1 made 10 ms after the pause took hold",
    ]);
  });

  it("finds an end before its time, one that was seen too late, and one without a reason", () => {
    const said = (status: string) => ({
      "payout-1": {
        ...payoutEnded,
        ending: {
          status: "completed",
          result: { payout_id: "p-1", amount: "12.5", payout_status: status, complete_time: null },
        },
      } as const,
    });
    const processing = { payouts: [{ ...paid, payout_status: "processing" }] };
    const ended = said("processing");
    expect(found({ changes: processing, ended }).wrong).toEqual([
      "payout-1 completed before the payout had ended",
    ]);
    expect(found({ changes: processing, ended, plan: { withinMs: 10_000 } })).toMatchObject(
      nothing,
    );
    expect(found({ changes: processing, ended, plan: { withinMs: 10_001 } }).wrong).toEqual([
      "payout-1 ended before its 10001 ms were over",
    ]);
    const update_time = new Date(times.closedAt - 5_001).toISOString();
    const failed = { payouts: [{ ...paid, payout_status: "failed", update_time }] };
    expect(found({ changes: failed, ended, plan: { withinMs: 10_000 } }).wrong).toEqual([
      "payout-1 says that it is not done yet, and it is failed",
    ]);
  });

  it("finds what a false signal made a run believe", () => {
    const early = { ...payoutEnded, closedAt: Date.parse(create_time) - 1 };
    const changes = { cards: [{ ...card, create_time }] };
    expect(found({ changes, ended: { "payout-1": early } }).wrong).toEqual([
      "payout-1 said that it was done before it was",
      "onboarding-1 its card is older than the identity check",
    ]);
  });

  it("takes both amounts of an amended run, and both payouts of one that pays twice", () => {
    const [payment] = payout.payments;
    const amended = { payments: [{ ...payment, amounts: ["99", "12.50"] }] } as const;
    expect(found({ plan: amended })).toMatchObject(nothing);
    const other = { ...payment, reason: "Goods 1 b" };
    const plan = { kind: "payTwice", payments: [payment, other] } as const;
    const changes = {
      payouts: [paid, { ...paid, payout_id: "p-2", payout_reason: "Goods 1 b" }],
      balances: balances("975.00", "900.00"),
    };
    const result = payoutEnded.ending.status === "completed" ? payoutEnded.ending.result : {};
    const ended = (second: string) => ({
      "payout-1": {
        ...payoutEnded,
        ids: ["key-1", "p-1", second],
        ending: {
          status: "completed",
          result: [result, { ...Object(result), payout_id: second }],
        },
      } as const,
    });
    expect(found({ changes, ended: ended("p-2"), plan })).toMatchObject(nothing);
    expect(found({ ended: ended("p-1"), plan }).lost).toEqual(["payout-1 no payout in the ledger"]);
  });
});
