import { defaultAssumptions } from "@durable-payments/client/effect";
import type { Decision } from "@durable-payments/ledger";
import { readFailure } from "@durable-payments/protocol/failures";
import { Client } from "@temporalio/client";
import { ActivityFailure, ApplicationFailure, RetryState } from "@temporalio/common";
import { expect, test } from "vitest";
import { closeFailureOf, endText, type Failure, endRequestOf } from "../../src/facts/history.ts";
import { resetPoint } from "@durable-payments/activities";
import { amendInput, type Planning, planRetry, whyNotAmended } from "../../src/rules/retry-plan.ts";
import { ACCOUNT, question, row } from "../support/rows.ts";

const planning = (more: Partial<Planning> = {}): Planning => ({
  workflowId: "invoice-17",
  runId: "run-1",
  workflowType: "payout",
  state: "failed",
  failure: {
    type: "Refused",
    message: "no",
    details: { operation: "createPayout", step: "createPayout", version: 7 },
  },
  rows: [row({ step: "createBeneficiary", state: "done" }), row({ state: "refused" })],
  end: undefined,
  decisions: [],
  isAmended: false,
  isRestarted: false,
  isOverruled: false,
  ...more,
});

const failure = (type: string): Failure => ({ type, message: "no" });

const ada = { by: "Ada", how: "--by", reason: "fraud" };

const end: Decision = {
  account: ACCOUNT,
  workflowId: "invoice-17",
  step: null,
  kind: "end",
  question: null,
  by: "Ada",
  how: "--by",
  reason: "fraud",
  value: {},
  sequence: 3,
  at: 0,
};

test("a retry starts the id again, keeps what is done, and names the failed run's version", () => {
  expect(planRetry(planning())).toEqual({
    workflowId: "invoice-17",
    runId: "run-1",
    way: "start",
    kept: ["createBeneficiary"],
    again: [{ step: "createPayout", state: "refused" }],
    versions: { createPayout: 7 },
  });
});

test.each(["invoice-17/child", "payout/salary/2026-11/e17"])(
  "the version of a row of %s does not vouch for a step of the run itself",
  (workflowId) => {
    const details = { operation: "createPayout", step: "createPayout", version: 7, workflowId };
    const plan = planRetry(planning({ failure: { type: "Refused", message: "no", details } }));
    expect(plan.versions).toEqual({});
  },
);

test.each([
  ["a workflow of a user's own is reset", { workflowType: "payOrder" }, "reset"],
  ["restarted where that is wanted", { workflowType: "payOrder", isRestarted: true }, "start"],
  ["restarted with another input", { workflowType: "payOrder", isAmended: true }, "start"],
  ["an open run is asked to look", { state: "running" }, "look"],
] as const)("%s", (_, more, way) => {
  expect(planRetry(planning(more)).way).toBe(way);
});

test("a workflow of a user's own that undid a step is only started again", () => {
  const undid = planning({ workflowType: "payOrder", rows: [row({ state: "undone" })] });
  expect(() => planRetry(undid)).toThrow("Start it again from the beginning");
  expect(planRetry({ ...undid, isRestarted: true }).way).toBe("start");
});

test("a failure of a payout that is paid, by a corrected word, does not keep its workflow from a retry", () => {
  const rows = [row({ state: "done", standing: "completed" })];
  const more = { workflowType: "payOrder", failure: failure("PayoutFailed"), rows };
  expect(() => planRetry(planning(more))).not.toThrow();
});

const unanswered = row({ state: "asking", question: question() });

test.each([
  ["completed", { state: "succeeded" }, "has completed"],
  ["ended by a person", { end }, "Ada stopped invoice-17 (fraud)"],
  ["asking", { rows: [unanswered] }, "is waiting for an answer"],
  ["an invalid input", { failure: failure("InvalidRequest") }, "amend it"],
  ["made twice", { workflowType: "payOrder", failure: failure("MadeTwice") }, "with the bank"],
  [
    "a failed payout of another workflow",
    {
      workflowType: "payOrder",
      failure: failure("PayoutFailed"),
      rows: [row({ state: "done", standing: "failed" })],
    },
    "use another id or key",
  ],
  ...(["failed", "returned"] as const).map(
    (standing) =>
      [
        `a payout that has ${standing}, whatever became of its run`,
        { state: "succeeded", rows: [{ ...row({ state: "done" }), standing }] },
        "a retry does not pay again",
      ] as const,
  ),
  ...["refused", "removed"].map(
    (reason) =>
      [
        `an identity check that was ${reason}`,
        { failure: { ...failure("NotVerified"), details: { reason } } },
        "another cardholder",
      ] as const,
  ),
  [
    "paid already",
    { failure: failure("AlreadyCarriedOut"), isAmended: true },
    "pay only the difference",
  ],
] as const)("a retry that cannot help is refused: %s", (_, more, message) => {
  expect(() => planRetry(planning(more))).toThrow(message);
});

test.each([
  ["overruled", { end, isOverruled: true }],
  ["answered", { rows: [unanswered], decisions: [{ ...end, kind: "resend", question: "q1" }] }],
  ["amended", { failure: failure("InvalidRequest"), isAmended: true }],
  // Its code or an activity of it may have been corrected, or a wrong amendment may be taken back.
  ...["InvalidRequest", "AlreadyCarriedOut"].map(
    (type) =>
      [
        `a request of a user's own code: ${type}`,
        { workflowType: "payOrder", failure: failure(type) },
      ] as const,
  ),
  ["refused by the service", {}],
  ...["open", "incomplete"].map(
    (reason) =>
      [
        `an identity check that was ${reason}`,
        { failure: { ...failure("NotVerified"), details: { reason } } },
      ] as const,
  ),
] as const)("a retry that may help is not: %s", (_, more) => {
  expect(() => planRetry(planning(more))).not.toThrow();
});

test("a failure is read through the activity's: type, facts, and which activity", () => {
  const cause = ApplicationFailure.nonRetryable("no", "Refused", {
    step: "createPayout",
    version: 2,
  });
  const error = new ActivityFailure(
    "failed",
    "createPayout",
    "5",
    RetryState.NON_RETRYABLE_FAILURE,
    "w",
    cause,
  );
  expect(readFailure(error)).toEqual({
    type: "Refused",
    message: "no",
    details: { step: "createPayout", version: 2 },
    step: "createPayout",
  });
});

test("the message of a failure fits a line of a list, a cell, and an event that a webhook takes", () => {
  const { message } = readFailure(
    new Error(`No payee ${"🙂".repeat(100_000)} DE89370400440532013000`),
  );
  expect(message).toMatch(/^No payee 🙂+…$/u);
  expect(message.length).toBeLessThan(4_001);
});

test.each([
  ["was terminated by a person's end", endText(ada), "Ended"],
  ["was terminated by hand", "stuck", "Terminated"],
])("a run that %s", (_, reason, type) => {
  const close = { workflowExecutionTerminatedEventAttributes: { reason } };
  expect(closeFailureOf(close)).toMatchObject({ type });
});

test("a cancelled run was ended by a person only where the request says so", () => {
  const requested = (cause: string) => [
    { workflowExecutionCancelRequestedEventAttributes: { cause } },
  ];
  expect(endRequestOf(requested(endText(ada)))).toEqual({ by: ada.by, reason: ada.reason });
  expect(endRequestOf(requested(""))).toBeUndefined();
  expect(endRequestOf([])).toBeUndefined();
});

test("a reset goes to the task that scheduled the failing step, not to one that undid others", async () => {
  const step = (task: number, message: string) => [
    { eventId: task, workflowTaskCompletedEventAttributes: {} },
    {
      eventId: task + 1,
      activityTaskScheduledEventAttributes: { workflowTaskCompletedEventId: task },
    },
    {
      eventId: task + 3,
      activityTaskFailedEventAttributes: {
        scheduledEventId: task + 1,
        failure: {
          message: "Activity task failed",
          cause: { message, applicationFailureInfo: {} },
        },
      },
    },
  ];
  const last = { eventId: 24, workflowTaskCompletedEventAttributes: {} };
  // Ids are `Long`s; what is compared is that they are handed on.
  const events = [
    ...step(4, "Refused."),
    ...step(14, "Cannot be undone."),
    last,
  ] as unknown as Parameters<typeof resetPoint>[1];
  const client = new Client();
  const pointOf = (message: string, of = events) =>
    resetPoint(client, of, { type: "Refused", message }, undefined);
  expect(await pointOf("Not paid. Cause: Refused.")).toBe(4);
  expect(await pointOf("Thrown by the code.")).toBe(14);
  expect(await pointOf("Refused.", [last] as unknown as typeof events)).toBe(24);
  expect(await resetPoint(client, [], null, undefined)).toBeUndefined();
});

const input = {
  beneficiary_id: "b-1",
  payout: {
    amount: "250.00",
    currency: "EUR",
    payout_reason: "Payment for goods",
    payout_reference: "Invoice 17",
    payment_date: "2026-12-01",
    is_payer: "Y",
  },
};
const amended = (patch: unknown) => amendInput("payout", input, patch, defaultAssumptions);

test("an amendment is a merge patch; the log has the old and the new value of each changed field", () => {
  const {
    changed,
    fields,
    input: whole,
  } = amended({
    payout: { amount: "25.00", currency: "EUR" },
  });
  expect(fields).toEqual(["payout.amount"]);
  expect(changed).toEqual(["payout.amount: 250.00 → 25.00"]);
  expect(whole).toMatchObject({ payout: { amount: "25.00", payout_reference: "Invoice 17" } });
});

test("a field that is removed, and that the input does not have, is named: it may be misspelt", () => {
  expect(() => amended({ payout: { payout_refrence: null } })).toThrow(
    "changes nothing: the input has no field payout.payout_refrence",
  );
});

test("an amendment into another currency is warned of", () => {
  const other = "It pays in USD instead of EUR.";
  expect(amended({ payout: { amount: "25.00" } }).warnings).not.toContain(other);
  expect(amended({ payout: { currency: "USD" } }).warnings).toContain(other);
});

test("the log has the last four characters of account numbers that are amended, wherever they are", () => {
  const iban = "DE89370400440532013000";
  const before = {
    employee: { account: { iban, account_number: "12345678" }, note: `to ${iban}`, tax: null },
  };
  const patch = {
    employee: {
      account: { iban: "FR1420041010050500013M02606", account_number: "87654321" },
      note: "none",
      tax: "17",
    },
  };
  const { changed } = amendInput("payroll", before, patch, defaultAssumptions);
  expect(changed).toEqual([
    "employee.account.iban: …3000 → …2606",
    "employee.account.account_number: …5678 → …4321",
    "employee.note: to …3000 → none",
    "employee.tax: nothing → 17",
  ]);
});

test("the log has each changed value of a list and of a new object, masked and shortened", () => {
  // No account has this IBAN: a digit is missing.
  const [iban, other] = ["DE8937040044053201300", "DE8937040044053201301"];
  const before = {
    rows: [
      { iban, amount: "1.00" },
      { iban, amount: "2.00" },
    ],
  };
  const added = {
    name: "x".repeat(100),
    note: `to ${other}`,
    bank: { routing_code_value1: "021000021" },
  };
  const patch = { rows: [{ iban, amount: "1.00" }, { iban: other, amount: "3.00" }, added] };
  const { changed } = amendInput("payroll", before, patch, defaultAssumptions);
  expect(changed).toEqual([
    "rows.1.iban: …1300 → …1301",
    "rows.1.amount: 2.00 → 3.00",
    `rows.2.name: nothing → ${"x".repeat(59)}…`,
    "rows.2.note: nothing → to …1301",
    "rows.2.bank.routing_code_value1: nothing → …0021",
  ]);
});

test("a field that the input of a user's own workflow does not have is refused: nothing reads it", () => {
  const patch = { employee: { account: { iban: "DE89370400440532013000" } } };
  expect(() => amendInput("payroll", { month: "2026-11" }, patch, defaultAssumptions)).toThrow(
    "The input of payroll has no field employee.account.iban",
  );
});

test("a value of a user's own workflow keeps its kind: 3 as text and 1 would be 31", () => {
  const lines = { count: 2, amount: "11.50", isUrgent: true, tags: ["a"], note: "x" };
  const amend = (patch: object) =>
    amendInput("payOrder", { lines }, { lines: patch }, defaultAssumptions);
  expect(() => amend({ count: "3" })).toThrow("lines.count is a number");
  expect(() => amend({ amount: 11.5 })).toThrow("lines.amount is a text");
  expect(() => amend({ isUrgent: "no" })).toThrow("lines.isUrgent is true or false");
  expect(() => amend({ tags: "b" })).toThrow("lines.tags is a list");
  for (const amount of ["NaN", "-1.00", "1e3", " "])
    expect(() => amend({ amount })).toThrow('lines.amount must be an amount, such as "250.00"');
  expect(amend({ count: 3 }).changed).toEqual(["lines.count: 2 → 3"]);
  expect(amend({ amount: "12.00", note: null }).fields).toEqual(["lines.amount", "lines.note"]);
});

const done = (operation: string) =>
  row({ step: operation, operation, state: "done", madeId: "x-1" });

test.each([
  ["payout", ["payout.amount"], ["createPayout"], "payout.amount cannot be amended: createPayout"],
  ["payout", ["payout.amount"], ["createBeneficiary"], undefined],
  ["payout", ["beneficiary.bank_name"], ["createBeneficiary"], "createBeneficiary of invoice-17"],
  ["payout", ["beneficiary_id"], ["createPayout"], "was already made (x-1)"],
  ["payout", ["options.completeWithin"], ["createBeneficiary", "createPayout"], undefined],
  ["onboardCardholder", ["card.card_name"], ["createCard"], undefined],
  ["onboardCardholder", ["card.card_limit"], ["createCard"], "card.card_limit cannot be amended"],
  ["payOrder", ["payout.amount"], ["createPayout"], undefined],
])("an amendment of %s %j where %j is done: %s", (workflowType, fields, steps, expected) => {
  const given = { rows: steps.map(done), workflowId: "invoice-17", workflowType };
  const changed = { payout: {}, beneficiary: {}, options: {}, card: {} };
  const why = whyNotAmended(given, { fields, input: changed })?.message ?? "accepted";
  expect(why).toContain(expected ?? "accepted");
});

test("a payout that was made is not called succeeded", () => {
  const rows = [{ ...done("createPayout"), standing: "made" as const }];
  const given = { rows, workflowId: "invoice-17", workflowType: "payout" };
  const amendment = { fields: ["payout.amount"], input: { payout: {} } };
  expect(whyNotAmended(given, amendment)?.message).toContain("was already made (x-1)");
});

test("an id may take the place of a beneficiary that was created", () => {
  const given = {
    rows: [done("createBeneficiary")],
    workflowId: "invoice-17",
    workflowType: "payout",
  };
  const fields = ["beneficiary", "beneficiary_id"];
  expect(whyNotAmended(given, { fields, input: { beneficiary_id: "b-2" } })).toBeUndefined();
  expect(whyNotAmended(given, { fields, input: { beneficiary: {} } })).toBeDefined();
});

test.each([
  ["payout", "beneficiary", ["createBeneficiary"], '{"beneficiary":null,"beneficiary_id":"ID"}'],
  ["payout", "beneficiary", ["createBeneficiary", "createPayout"], "Start another run"],
  ["onboardCardholder", "cardholder", ["createCardholder"], '{"cardholder":null,"card_holder_id":'],
])("a refusal to amend %s's %s after %j names the way: %s", (workflowType, name, steps, way) => {
  const given = { rows: steps.map(done), workflowId: "invoice-17", workflowType };
  const amendment = { fields: [`${name}.country`], input: { [name]: {} } };
  expect(whyNotAmended(given, amendment)?.message).toContain(way);
});

test.each([
  [{ payout: { amount: "-1" } }, "The input is invalid"],
  [{ payout: { amount: "250.00" } }, "changes nothing"],
  [{ account: "other" }, "account that pays cannot be amended"],
  [{ key: "other" }, "key cannot be amended"],
  ["x", "must be a JSON object"],
])("an amendment %j is refused", (patch, message) => {
  expect(() => amended(patch)).toThrow(message);
});
