import {
  beneficiary,
  card,
  cardholder,
  like,
  options,
  payout,
} from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import { InvalidInput } from "../../src/errors.ts";
import {
  batchId,
  chunkId,
  instructionIdFor,
  pauseId,
  settlementId,
  signInLeaseId,
  trackerId,
} from "@durable-payments/protocol";
import { checkId } from "../../src/input/planned-run.ts";
import { readAssumptions } from "../../src/input/check-run-file.ts";
import { planOnboarding as planWith } from "../../src/input/onboarding.ts";
import { planPayout as planPayoutWith } from "../../src/input/payout.ts";

const planPayout = (input: unknown, assumptions?: string) =>
  planPayoutWith(input, readAssumptions(assumptions));
const planOnboarding = (input: unknown) => planWith(input, readAssumptions());

/** The faults as a person reads them. */
const faultsOf = (check: () => unknown): Array<string> => {
  try {
    check();
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return error.faults?.map(({ field, problem }) => `${field} ${problem}`) ?? [error.message];
  }
  return [];
};

const without = (value: object, field: string) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));

it("takes every shape of a right file", () => {
  const files = [
    { beneficiary, payout },
    { beneficiary_id: "b-1", payout: { ...payout, currency: "JPY", amount: "250" } },
    {
      beneficiary_id: "b-1",
      payout,
      options: {
        onRefusal: "ask",
        onLostBeneficiary: "ask",
        approval: { above: "0" },
        completeWithin: 60_000,
        pollInterval: { min: "1 second", max: "1 hour" },
      },
    },
  ];
  for (const file of files) expect(planPayout(file).input).toEqual(file);
  const onboardings = [
    { cardholder, card },
    { card_holder_id: "c-1", card: { ...card, card_name: "Travel" } },
    { cardholder, card, options: { onFailure: "compensate", verifyWithin: "3 days", ...options } },
  ];
  for (const file of onboardings) expect(planOnboarding(file).input).toEqual(file);
});

const DURATION =
  'must be a duration such as "90 seconds" or "30 days", or a number of milliseconds';

it.each<[string, unknown, ReadonlyArray<string>]>([
  ["no object", [], ["The file must hold a JSON object. Nothing was started."]],
  ["a text", "x", ["The file must hold a JSON object. Nothing was started."]],
  [
    "nothing",
    {},
    ["beneficiary or beneficiary_id must be given, exactly one of the two", "payout is required"],
  ],
  [
    "both beneficiaries, and a fault besides",
    { beneficiary, beneficiary_id: "b-1", payout: { ...payout, amount: "0" } },
    [
      "beneficiary or beneficiary_id must be given, exactly one of the two",
      'payout.amount must be a decimal amount above zero, written plainly, such as "100.00"',
    ],
  ],
  ["an empty id", { beneficiary_id: " ", payout }, ["beneficiary_id must not be empty"]],
  ["an id that is no text", { beneficiary_id: 1, payout }, ["beneficiary_id must be a string"]],
  [
    "an amount as a number",
    { beneficiary_id: "b-1", payout: { ...payout, amount: 250 } },
    ["payout.amount must be a string"],
  ],
  [
    "more digits than the currency has",
    { beneficiary_id: "b-1", payout: { ...payout, amount: "250.001" } },
    ["payout.amount has 3 digits after the point, EUR has 2"],
  ],
  [
    "fields that the run fills in",
    { beneficiary, payout: { ...payout, beneficiary_id: "b-1", unique_request_id: "k" } },
    [
      "payout.beneficiary_id belongs beside payout, not into it",
      "payout.unique_request_id is made by the run: leave it out",
    ],
  ],
  [
    "unknown fields at every level",
    {
      beneficiary: { ...beneficiary, colour: "red" },
      payout: { ...payout, colour: "red" },
      options: { colour: "red", pollInterval: { colour: "red" } },
      colour: "red",
    },
    [
      "colour is not a known field",
      "beneficiary.colour is not a field of this operation",
      "payout.colour is not a field of this operation",
      "options.colour is not a known field",
      "options.pollInterval.colour is not a known field",
    ],
  ],
  [
    "a rule across fields, of the contract",
    { beneficiary: without(beneficiary, "iban"), payout },
    ["beneficiary.iban is required for this bank_country and account_currency"],
  ],
  [
    "several wrong fields at once",
    {
      beneficiary: { ...beneficiary, account_currency: "Euro", payment_method: "post" },
      payout: { ...payout, payment_date: "2026-02-30", is_payer: "yes" },
      options: { completeWithin: "soon", onRefusal: "retry", approval: { above: "lots" } },
    },
    [
      "beneficiary.account_currency must be a three-letter currency code, such as USD",
      'beneficiary.payment_method must be one of "local", "swift"',
      "beneficiary.account_number is required where no iban is required",
      "payout.payment_date must be a calendar date, YYYY-MM-DD",
      'payout.is_payer must be one of "Y", "N"',
      'options.onRefusal must be one of "fail", "ask"',
      'options.approval.above must be a decimal amount, written plainly, such as "100.00"',
      `options.completeWithin ${DURATION}`,
    ],
  ],
  [
    "times that are none",
    {
      beneficiary_id: "b-1",
      payout,
      options: { completeWithin: "-1 day", pollInterval: { min: 0, max: null } },
    },
    [
      `options.completeWithin ${DURATION}`,
      `options.pollInterval.min ${DURATION}`,
      `options.pollInterval.max ${DURATION}`,
    ],
  ],
])("names every fault of a payout: %s", (_, file, faults) => {
  expect(faultsOf(() => planPayout(file))).toEqual(faults);
});

it.each<[string, unknown, ReadonlyArray<string>]>([
  [
    "nothing",
    {},
    ["cardholder or card_holder_id must be given, exactly one of the two", "card is required"],
  ],
  [
    "a card that is no object",
    { card_holder_id: "c", card: "x" },
    ["card must be an object of fields"],
  ],
  [
    "a card's own rules",
    { card_holder_id: "c-1", card: { card_limit: "1e3", card_name: "", balance_id: "b" } },
    [
      "card.balance_id is filled in by the run: leave it out",
      "card.product_code is required",
      'card.card_limit must be a decimal amount, written plainly, such as "100.00"',
      "card.card_name must not be empty",
    ],
  ],
  [
    "a limit as a number that cannot be exact",
    { card_holder_id: "c-1", card: { ...card, card_limit: 1e21 } },
    ['card.card_limit must be a decimal amount, written plainly, such as "100.00"'],
  ],
  [
    "a cardholder and options",
    {
      cardholder: { ...without(cardholder, "email"), date_birth: "12.04.1990", phone: "1" },
      card,
      options: { onFailure: "ignore", fundWithin: {} },
    },
    [
      "cardholder.email is required",
      "cardholder.date_birth must be a calendar date, YYYY-MM-DD",
      "cardholder.phone is not a field of this operation",
      'options.onFailure must be one of "keep", "compensate"',
      `options.fundWithin ${DURATION}`,
    ],
  ],
])("names every fault of an onboarding: %s", (_, file, faults) => {
  expect(faultsOf(() => planOnboarding(file))).toEqual(faults);
});

it("repeats no account number in a fault", () => {
  const wrong = { ...beneficiary, account_number: 12_345_678, iban: 12_345_678 };
  const faults = faultsOf(() => planPayout({ beneficiary: wrong, payout }));
  expect(faults).toEqual([
    "beneficiary.account_number must be a string",
    "beneficiary.iban must be a string",
  ]);
});

it("checks by the assumptions that the worker has", () => {
  const file = { beneficiary_id: "b-1", payout: { ...payout, amount: "0.001" } };
  expect(faultsOf(() => planPayout(file))).toHaveLength(1);
  expect(faultsOf(() => planPayout(file, '{"amountFractionDigits":3}'))).toEqual([]);
  expect(faultsOf(() => planPayout(file, "{"))).toEqual([
    "PAYMENTS_ASSUMPTIONS must be a JSON object.",
  ]);
  expect(faultsOf(() => planPayout(file, '{"colour":1}'))).toEqual([
    like(/^PAYMENTS_ASSUMPTIONS: .*colour/),
  ]);
});

it("makes the same id of the same input, however it is written and waited for", () => {
  const { contentId } = planPayout({ beneficiary, payout });
  expect(contentId).toMatch(/^payout-[0-9a-f]{32}$/);
  const reordered = {
    options,
    payout: Object.fromEntries(Object.entries(payout).toReversed()),
    beneficiary,
  };
  expect(planPayout(reordered).contentId).toBe(contentId);
  const others = [
    { beneficiary, payout: { ...payout, amount: "250.01" } },
    { beneficiary: { ...beneficiary, city: "Bonn" }, payout },
    { beneficiary_id: "b-1", payout },
  ].map((file) => planPayout(file).contentId);
  expect(new Set([contentId, ...others]).size).toBe(4);
  expect(planOnboarding({ cardholder, card }).contentId).toMatch(/^onboard-[0-9a-f]{32}$/);
});

it("shows in the Web UI what is paid, and nothing of the payee's account", () => {
  expect(planPayout({ beneficiary, payout }).summary).toBe("Pay 250.00 EUR to a new beneficiary");
  expect(planOnboarding({ card_holder_id: "c-1", card }).summary).toBe(
    "Issue a card with 100.00 USD to the cardholder c-1",
  );
});

it.each([
  "",
  " ",
  "x".repeat(1001),
  "ä".repeat(501),
  "line\nbreak",
  "nul\u0000",
  "half\uD83D",
  settlementId("run-1", "createPayout"),
  pauseId("payments"),
  batchId("0123"),
  chunkId(batchId("0123"), 1),
  instructionIdFor("run-1", "1"),
  trackerId("0123456789abcdef"),
  signInLeaseId("0123456789abcdef", 1),
])("refuses the id %j", (id) => {
  expect(() => checkId(id)).toThrow(/^The id must/);
});

it.each([
  "Rechnung 4711/ä",
  "x".repeat(1000),
  "payout/4711",
  "pause",
  "payouts-7",
  "my/pause/1",
  "😀",
])("takes the id %j as it is", (id) => {
  expect(checkId(id)).toBe(id);
});
