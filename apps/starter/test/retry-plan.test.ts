import { describe, expect, it } from "vitest";
import { leftInDoubt, retryCommand, stepsInDoubt, untakenSteps } from "../src/runs/in-doubt.ts";
import { pastOf, type ReadPastRun } from "../src/runs/retry/past.ts";
import { planRetry, type RetryFlags } from "../src/runs/retry/plan-retry.ts";
import type { PastActivity, PastStep } from "../src/runs/retry/read-steps.ts";

const run = { workflowId: "invoice-1", type: "payout" };

const flags: RetryFlags = {
  by: "Bob",
  reason: "checked",
  from: undefined,
  patch: undefined,
  decisions: "keep",
};

const send = (at: number, failure: string): PastActivity => ({
  type: "createPayout",
  input: { amount: "777.00", unique_request_id: "key-1" },
  at,
  isDone: false,
  result: undefined,
  failure,
  failureDetail: undefined,
});

const step = (name: string, task: number, activities: Array<PastActivity> = []): PastStep => ({
  name,
  task,
  taskEnd: task as unknown as PastStep["taskEnd"],
  activities,
  decisions: [],
});

const readRun = (more: Partial<ReadPastRun>): ReadPastRun => ({
  runId: "run-1",
  startedWith: { beneficiary_id: "b-1", payout: { amount: "777.00" } },
  steps: [],
  ids: new Set(),
  reset: undefined,
  changes: [],
  forgotten: [],
  account: undefined,
  endedBy: undefined,
  cancelAsked: undefined,
  ...more,
});

it("what a run made that was terminated before it took the answer is in doubt", () => {
  const made: PastActivity = { ...send(1, ""), isDone: true, result: { payout_id: "p-1" } };
  const past = pastOf([readRun({ steps: [step("createPayout", 4, [made])] })]);
  expect(untakenSteps(past, ["another"])).toMatchObject([
    { step: "createPayout", operation: "createPayout", ids: { payout_id: "p-1" } },
  ]);
  expect(untakenSteps(past, ["p-1"])).toEqual([]);
});

describe("what was really sent, where it is another request than what was to be sent", () => {
  const other = { number: 1, outcome: "unknown", key: "key-0", amount: "64.20", currency: "EUR" };
  const told: PastActivity = {
    ...send(1, "AlreadySent"),
    failureDetail: { ...other, isSamePayload: false },
  };
  const really = {
    step: "createPayout",
    operation: "createPayout",
    key: "key-0",
    amount: "64.20",
    currency: "EUR",
  };
  const pastWith = (...activities: Array<PastActivity>) =>
    pastOf([readRun({ steps: [step("createPayout", 4, activities)] })]);

  it("is in doubt", () => {
    expect(stepsInDoubt(pastWith(told))).toEqual([really]);
  });

  it("is in doubt beside what was sent since, which has got no answer either", () => {
    const since = { ...told, ...send(2, "OutcomeUnknown") };
    expect(stepsInDoubt(pastWith(told, since))).toMatchObject([really, { amount: "777.00" }]);
  });

  it("is in doubt whatever became of what was sent beside it since", () => {
    const made: PastActivity = { ...send(2, ""), isDone: true, result: { payout_id: "p-1" } };
    expect(leftInDoubt(pastWith(told, made))).toEqual([really]);
    expect(stepsInDoubt(pastWith(told, send(2, "Refused")))).toEqual([really]);
  });

  it("is named as the journal had it at the end of the run, with its ids", () => {
    const ids = { payout_id: "p-9" };
    const { amount, currency, key } = other;
    const forgotten = [
      { step: "createPayout", operation: "createPayout", amount, currency, key, ids, begunAt: 1 },
    ];
    expect(stepsInDoubt(pastOf([readRun({ forgotten })]))).toEqual([{ ...really, ids }]);
  });
});

it("the command that retries a run overrules who has ended it, if anybody has", () => {
  const decision = {
    what: "rejected",
    by: "Eve",
    why: "no",
    at: "2026-11-21",
    runId: "r",
  } as const;
  const overruled = { by: "Bob", why: "yes", at: "2026-11-22" };
  const plain = ["runs", "retry", "i"];
  expect(retryCommand("i", [])).toEqual(plain);
  expect(retryCommand("i", [{ ...decision, overruled }])).toEqual(plain);
  expect(retryCommand("i", [decision])).toEqual([
    ...plain,
    "--overrule",
    "--by",
    "NAME",
    "--reason",
    "WHY",
  ]);
});

describe("a retry", () => {
  it.each([
    ["was refused", "Refused"],
    ["was turned away", "RateLimited"],
    ["was held back", "Paused"],
  ])("looks first where a send got no answer, though the last one %s", (_, last) => {
    const sends = [send(1, "OutcomeUnknown"), send(2, last)];
    const past = pastOf([readRun({ steps: [step("createPayout", 4, sends)] })]);
    const { order } = planRetry(run, past, flags);
    expect(order.sent).toEqual({ createPayout: { outcome: "unknown", amendments: 0 } });
  });

  it.each(["Paused", "RunCancelling", "RunEnded"])(
    "knows that a send that failed as %s was not carried out",
    (failure) => {
      const past = pastOf([readRun({ steps: [step("createPayout", 4, [send(1, failure)])] })]);
      expect(planRetry(run, past, flags).order.sent).toMatchObject({
        createPayout: { outcome: "nothing" },
      });
    },
  );

  it("looks first where an earlier run got no answer, and the latest was refused", () => {
    const past = pastOf([
      readRun({ runId: "run-1", steps: [step("createPayout", 4, [send(1, "")])] }),
      readRun({ runId: "run-2", steps: [step("createPayout", 4, [send(2, "Refused")])] }),
    ]);
    expect(planRetry(run, past, flags).order.sent).toMatchObject({
      createPayout: { outcome: "unknown" },
    });
  });

  it.each([
    ["notCarriedOut", "nothing"],
    ["unknown", "unknown"],
    ["begun", "unknown"],
  ])(
    "takes a send that the journal forbade for none, of one before it that was %s",
    (was, outcome) => {
      const forbidden = { ...send(2, "AlreadySent"), failureDetail: { outcome: was } };
      const steps = [step("createPayout", 4, [send(1, "Refused"), forbidden])];
      const { order } = planRetry(run, pastOf([readRun({ steps })]), flags);
      expect(order.sent).toMatchObject({ createPayout: { outcome } });
    },
  );

  it("says of what was undone that a second one is wanted", () => {
    const made = { ...send(1, ""), type: "createCardholder", isDone: true };
    const undo = { ...send(2, ""), type: "removeCardholder", isDone: true };
    const steps = [
      step("createCardholder", 4, [{ ...made, result: { card_holder_id: "c-1" } }]),
      step("issueCard", 8, [{ ...undo, input: { card_holder_id: "c-1" } }]),
    ];
    const past = pastOf([readRun({ steps })]);
    const { order } = planRetry(run, past, { ...flags, from: "createCardholder" });
    expect(order.sent["createCardholder"]).toEqual({
      outcome: "nothing",
      amendments: 1,
      isUndone: true,
    });
  });

  it("takes nothing for undone where what was undone is of another kind and has its id", () => {
    const did = (type: string, more: Partial<PastActivity>): PastActivity => ({
      ...send(1, ""),
      type,
      isDone: true,
      ...more,
    });
    const steps = [
      step("createCardholder", 4, [did("createCardholder", { result: { card_holder_id: "4" } })]),
      step("issueCard", 8, [
        did("createCard", { result: { card_id: "4" } }),
        did("cancelCard", { input: { card_id: "4" } }),
      ]),
    ];
    const past = pastOf([readRun({ steps })]);
    const { order } = planRetry(run, past, { ...flags, from: "createCardholder" });
    expect(order.sent).toMatchObject({
      createCardholder: { outcome: "known", ids: { card_holder_id: "4" } },
      issueCard: { outcome: "nothing", isUndone: true },
    });
  });

  it("looks for a payout that has the id of a beneficiary of the run: it was not taken by that", () => {
    const looked = { ...send(2, ""), type: "findPayouts", result: { items: [{ payout_id: "7" }] } };
    const steps = [step("createPayout", 4, [send(1, "OutcomeUnknown"), looked])];
    const past = pastOf([readRun({ steps, ids: new Set(["7", "beneficiary:7"]) })]);
    expect(planRetry(run, past, flags).order.sent).toMatchObject({
      createPayout: { outcome: "unknown" },
    });
  });

  it("looks for a payout whose look showed only what another step of the run has made", () => {
    const looked = {
      ...send(3, ""),
      type: "findPayouts",
      isDone: true,
      result: { items: [{ payout_id: "7" }] },
    };
    const steps = [
      step("payTheFirst", 4, [{ ...send(1, ""), isDone: true, result: { payout_id: "7" } }]),
      step("payTheSecond", 8, [send(2, "OutcomeUnknown"), looked]),
    ];
    const past = pastOf([readRun({ steps, ids: new Set(["7", "payout:7"]) })]);
    expect(past.sends.get("payTheFirst")?.sent).toEqual({ outcome: "known", id: "7" });
    expect(planRetry(run, past, flags).order.sent).toEqual({
      payTheSecond: { outcome: "unknown", amendments: 0 },
    });
  });

  it("hands on the account of the runs before", () => {
    const steps = [step("createPayout", 4)];
    const past = pastOf([
      readRun({ steps, account: "1234567890abcdef" }),
      readRun({ steps, account: undefined }),
    ]);
    expect(planRetry(run, past, flags).order.account).toBe("1234567890abcdef");
  });
});

it("a retry knows what the journal told the run that it had made, and that it was undone", () => {
  const made = { failureDetail: { outcome: "carriedOut", ids: { card_holder_id: "h-1" } } };
  const told = { ...send(1, "AlreadySent"), ...made, type: "createCardholder", input: {} };
  const removed = { ...send(2, ""), type: "removeCardholder", input: { card_holder_id: "h-1" } };
  const steps = [
    step("createCardholder", 4, [told]),
    step("awaitVerification", 8, [{ ...removed, isDone: true }]),
  ];
  const past = pastOf([readRun({ steps, ids: new Set(["h-1", "cardholder:h-1"]) })]);
  expect(past.sends.get("createCardholder")?.sent).toEqual({ outcome: "known", id: "h-1" });
  expect(() => planRetry({ ...run, type: "onboardCardholder" }, past, flags)).toThrow(
    /undid createCardholder when it failed: it cannot go on after it/,
  );
});

describe("what a person has ended", () => {
  const endedBy = {
    what: "abandoned",
    by: "Eve",
    why: "fraud suspected, do not pay",
    at: "2026-11-21T10:00:00.000Z",
  } as const;
  const approved = [step("awaitApproval", 4), step("createPayout", 8)];
  const abandoned = pastOf([readRun({ steps: approved, endedBy })]);

  it("stays ended, in a bulk retry and in one of its own", () => {
    for (const decisions of ["keep", "leaveOut"] as const) {
      expect(() => planRetry(run, abandoned, { ...flags, decisions })).toThrow(
        /was abandoned by Eve on 2026-11-21 10:00 UTC \(fraud suspected, do not pay\).*--overrule/,
      );
    }
  });

  it("stays ended in a bulk retry where it was asked to end, and failed of itself meanwhile", () => {
    const asked = pastOf([
      readRun({
        steps: [step("createPayout", 4, [send(1, "Refused")])],
        cancelAsked: { by: "Eve", event: 13 },
      }),
    ]);
    expect(() => planRetry(run, asked, { ...flags, decisions: "leaveOut" })).toThrow(
      /was asked to end by Eve/,
    );
    expect(planRetry(run, asked, flags).from).toBe("createPayout");
  });

  it("cannot go on from a step before which it was asked to end: it would end again at once", () => {
    const steps = [step("createPayout", 4)];
    const asked = pastOf([readRun({ steps, cancelAsked: { by: "Eve", event: 3 } })]);
    expect(() => planRetry(run, asked, flags)).toThrow(/asked to end by Eve before createPayout/);
  });

  it("goes on where a person overrules it, from the approval on, and the order tells both", () => {
    const plan = planRetry(run, abandoned, { ...flags, decisions: "overrule" });
    expect(plan.from).toBe("awaitApproval");
    expect(plan.overruled).toEqual([{ ...endedBy, runId: "run-1" }]);
    const at = expect.stringMatching(/^\d{4}-/) as unknown as string;
    expect(plan.order.decisions).toEqual([
      { ...endedBy, runId: "run-1", overruled: { by: "Bob", why: "checked", at } },
    ]);
  });

  it("is known in all runs since, overruled or not", () => {
    const { order } = planRetry(run, abandoned, { ...flags, decisions: "overrule" });
    const steps = approved;
    const later = pastOf([
      readRun({ steps, endedBy }),
      readRun({ runId: "run-2", steps, changes: [{ by: "reset", answer: { order } }] }),
    ]);
    expect(planRetry(run, later, flags).order.decisions).toEqual(order.decisions);
    expect(() => planRetry(run, later, { ...flags, decisions: "leaveOut" })).toThrow(/Eve/);
    expect(() => planRetry(run, later, { ...flags, decisions: "overrule" })).toThrow(
      /leave --overrule out/,
    );
    // A run that never took the order up has not gone on with anything.
    const notTaken = pastOf([readRun({ steps, endedBy }), readRun({ runId: "run-2", steps })]);
    expect(() => planRetry(run, notTaken, flags)).toThrow(/stays ended/);
  });
});
