import { defaultAssumptions } from "@durable-payments/api-core";
import type { EndingDecision } from "@durable-payments/protocol";
import { card, cardholder } from "@durable-payments/tools/test-data";
import { describe, expect, it } from "vitest";
import { leftInDoubt, stepsInDoubt, untakenSteps } from "../../src/history/in-doubt.ts";
import { executionHistoryOf, type ReadPastRun } from "../../src/history/execution-history.ts";
import { planRetry, type RetryOptions } from "../../src/retry/plan.ts";
import { retryWay } from "../../src/retry/way.ts";
import type { PastActivity, PastStep } from "../../src/history/run-history.ts";

const run = { workflowId: "invoice-1", type: "payout" };

const options: RetryOptions = {
  by: "Bob",
  reason: "checked",
  from: undefined,
  patch: undefined,
  assumptions: defaultAssumptions,
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
  namedInDoubt: "",
  account: undefined,
  endedBy: undefined,
  cancelAsked: undefined,
  ...more,
});

it("what a run made that was terminated before it took the answer is in doubt", () => {
  const made: PastActivity = { ...send(1, ""), isDone: true, result: { payout_id: "p-1" } };
  const past = executionHistoryOf([readRun({ steps: [step("createPayout", 4, [made])] })]);
  expect(untakenSteps(past, ["another"])).toMatchObject([
    { step: "createPayout", operation: "createPayout", ids: { payout_id: "p-1" } },
  ]);
  expect(untakenSteps(past, ["p-1"])).toEqual([]);
});

describe("what was really sent, where it is another request than what was to be sent", () => {
  const other = { number: 1, outcome: "unknown", key: "key-0", amount: "64.20", currency: "EUR" };
  const reported: PastActivity = {
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
    executionHistoryOf([readRun({ steps: [step("createPayout", 4, activities)] })]);

  it("is in doubt", () => {
    expect(stepsInDoubt(pastWith(reported))).toEqual([really]);
  });

  it("is in doubt beside what was sent since, which has got no answer either", () => {
    const since = { ...reported, ...send(2, "OutcomeUnknown") };
    expect(stepsInDoubt(pastWith(reported, since))).toMatchObject([really, { amount: "777.00" }]);
  });

  it("is in doubt whatever became of what was sent beside it since", () => {
    const made: PastActivity = { ...send(2, ""), isDone: true, result: { payout_id: "p-1" } };
    expect(leftInDoubt(pastWith(reported, made))).toEqual([really]);
    expect(stepsInDoubt(pastWith(reported, send(2, "Refused")))).toEqual([really]);
  });

  it("is named as the journal had it at the end of the run, with its ids", () => {
    const ids = { payout_id: "p-9" };
    const { amount, currency, key } = other;
    const forgotten = [
      { step: "createPayout", operation: "createPayout", amount, currency, key, ids, begunAt: 1 },
    ];
    expect(stepsInDoubt(executionHistoryOf([readRun({ forgotten })]))).toEqual([
      { ...really, ids },
    ]);
  });
});

it("the retry of a run overrules who has ended it, if anybody has", () => {
  const decision = {
    what: "rejected",
    by: "Eve",
    why: "no",
    at: "2026-11-21",
    runId: "r",
  } as const;
  const overruled = { by: "Bob", why: "yes", at: "2026-11-22" };
  const plain = { operation: "retry", workflowId: "i" };
  const past = executionHistoryOf([readRun({ steps: [step("createPayout", 4)] })]);
  const wayOf = (decisions: ReadonlyArray<EndingDecision>) => retryWay("i", { ...past, decisions });
  expect(wayOf([])).toEqual({ next: plain });
  expect(wayOf([{ ...decision, overruled }])).toEqual({ next: plain });
  expect(wayOf([decision])).toEqual({ next: { ...plain, overrule: true } });
});

describe("the retry that is offered", () => {
  const workflowId = "invoice-1";
  const wayOf = (more: Partial<ReadPastRun>) =>
    retryWay(workflowId, executionHistoryOf([readRun(more)]));

  it("is none of a run that has not begun a step, and says why", () => {
    expect(wayOf({})).toEqual({
      whyNot: expect.stringContaining("start a run of another id.") as unknown,
    });
  });

  it("goes on from the step before the one that a run was asked to end before", () => {
    const steps = [step("createPayout", 4), step("awaitPayout", 20)];
    expect(wayOf({ steps, cancelAsked: { by: "Ada", event: 10 } })).toEqual({
      next: { operation: "retry", workflowId, from: "createPayout" },
    });
    expect(wayOf({ steps, cancelAsked: { by: "Ada", event: 2 } })).toEqual({
      whyNot: expect.stringContaining("Start a run of another id.") as unknown,
    });
  });

  it("goes on from what the run has undone, and overrules who ended it", () => {
    const made = { ...send(1, ""), type: "createCardholder", isDone: true };
    const undo = { ...send(2, ""), type: "removeCardholder", isDone: true };
    const steps = [
      step("createCardholder", 4, [{ ...made, result: { card_holder_id: "c-1" } }]),
      step("createCard", 8, [{ ...undo, input: { card_holder_id: "c-1" } }]),
    ];
    const endedBy = { what: "abandoned", by: "Eve", why: "no", at: "2026-11-21" } as const;
    const next = { operation: "retry", workflowId, from: "createCardholder" };
    expect(wayOf({ steps })).toEqual({ next });
    expect(wayOf({ steps, endedBy })).toEqual({ next: { ...next, overrule: true } });
  });
});

describe("a retry", () => {
  it.each([
    ["was refused", "Refused"],
    ["was turned away", "RateLimited"],
    ["was paused", "Paused"],
  ])("reconciles first where a send got no answer, though the last one %s", (_, last) => {
    const sends = [send(1, "OutcomeUnknown"), send(2, last)];
    const past = executionHistoryOf([readRun({ steps: [step("createPayout", 4, sends)] })]);
    const { instruction } = planRetry(run, past, options);
    expect(instruction.sent).toEqual({ createPayout: { outcome: "unknown", amendments: 0 } });
  });

  it.each(["Paused", "RunCancelling", "RunEnded"])(
    "knows that a send that failed as %s was not carried out",
    (failure) => {
      const past = executionHistoryOf([
        readRun({ steps: [step("createPayout", 4, [send(1, failure)])] }),
      ]);
      expect(planRetry(run, past, options).instruction.sent).toMatchObject({
        createPayout: { outcome: "nothing" },
      });
    },
  );

  it("reconciles first where an earlier run got no answer, and the latest was refused", () => {
    const past = executionHistoryOf([
      readRun({ runId: "run-1", steps: [step("createPayout", 4, [send(1, "")])] }),
      readRun({ runId: "run-2", steps: [step("createPayout", 4, [send(2, "Refused")])] }),
    ]);
    expect(planRetry(run, past, options).instruction.sent).toMatchObject({
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
      const { instruction } = planRetry(run, executionHistoryOf([readRun({ steps })]), options);
      expect(instruction.sent).toMatchObject({ createPayout: { outcome } });
    },
  );

  it("shows that a second one is wanted of what was undone", () => {
    const made = { ...send(1, ""), type: "createCardholder", isDone: true };
    const undo = { ...send(2, ""), type: "removeCardholder", isDone: true };
    const steps = [
      step("createCardholder", 4, [{ ...made, result: { card_holder_id: "c-1" } }]),
      step("issueCard", 8, [{ ...undo, input: { card_holder_id: "c-1" } }]),
    ];
    const past = executionHistoryOf([readRun({ steps })]);
    const { instruction } = planRetry(run, past, { ...options, from: "createCardholder" });
    expect(instruction.sent["createCardholder"]).toEqual({
      outcome: "nothing",
      amendments: 1,
      isUndone: true,
      gone: ["c-1"],
    });
  });

  it.each([
    ["OutcomeUnknown", "unknown"],
    ["Refused", "nothing"],
  ])("does not forget what was sent after what was undone: %s", (failure, outcome) => {
    const create = { ...send(1, ""), type: "createCardholder" };
    const undo = { ...send(2, ""), type: "removeCardholder", isDone: true };
    const made = { ...create, isDone: true, result: { card_holder_id: "c-1" } };
    const first = readRun({
      steps: [
        step("createCardholder", 4, [made]),
        step("issueCard", 8, [{ ...undo, input: { card_holder_id: "c-1" } }]),
      ],
    });
    const second = readRun({
      runId: "run-2",
      steps: [step("createCardholder", 4, [{ ...create, at: 3, failure }])],
    });
    const { instruction } = planRetry(run, executionHistoryOf([first, second]), options);
    expect(instruction.sent["createCardholder"]).toMatchObject({ outcome, gone: ["c-1"] });
  });

  describe("of an onboarding with another cardholder in place of the one that it created", () => {
    const onboarding = { workflowId: "customer-1", type: "onboardCardholder" };
    const made: PastActivity = {
      ...send(1, ""),
      type: "createCardholder",
      isDone: true,
      result: { card_holder_id: "c-1" },
    };
    const past = (...more: ReadonlyArray<PastStep>) => ({
      startedWith: { cardholder, card },
      ids: new Set(["c-1", "cardholder:c-1"]),
      steps: [step("createCardholder", 4, [made]), step("awaitVerification", 8), ...more],
    });
    const patch = { cardholder: { last_name: "Other" }, replaced: "keep" };

    it("goes on from its creation, and says what does not count any more", () => {
      const { from, instruction } = planRetry(onboarding, executionHistoryOf([readRun(past())]), {
        ...options,
        patch,
      });
      expect(from).toBe("createCardholder");
      expect(instruction).toMatchObject({
        fields: ["cardholder.last_name"],
        input: { cardholder: { ...cardholder, last_name: "Other" }, card },
        replaced: [{ step: "createCardholder", id: "c-1", what: "keep" }],
        sent: { createCardholder: { outcome: "nothing", isUndone: true, gone: ["c-1"] } },
      });
      expect(instruction.input).not.toHaveProperty("replaced");
    });

    it("is refused where something was sent for the one before", () => {
      const card: PastActivity = { ...send(2, "OutcomeUnknown"), type: "createCard" };
      const executed = executionHistoryOf([readRun(past(step("issueCard", 12, [card])))]);
      expect(() => planRetry(onboarding, executed, { ...options, patch })).toThrow(
        /Nothing that customer-1 has made can be replaced/,
      );
    });

    it("keeps what became of the one before, and forgets no send of the other", () => {
      const { instruction } = planRetry(onboarding, executionHistoryOf([readRun(past())]), {
        ...options,
        patch,
      });
      const lost = { ...send(3, "OutcomeUnknown"), type: "createCardholder" };
      const executed = executionHistoryOf([
        readRun(past()),
        readRun({
          ...past(),
          runId: "run-2",
          steps: [step("createCardholder", 4, [lost])],
          changes: [{ by: "reset", answer: { runId: "run-2", instruction } }],
        }),
      ]);
      expect(planRetry(onboarding, executed, options).instruction).toMatchObject({
        replaced: [{ id: "c-1", what: "keep" }],
        sent: { createCardholder: { outcome: "unknown", gone: ["c-1"] } },
      });
      // Nobody knows what became of the other: nothing of it is replaced before that.
      expect(() => planRetry(onboarding, executed, { ...options, patch })).toThrow(
        /can be replaced/,
      );
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
    const past = executionHistoryOf([readRun({ steps })]);
    const { instruction } = planRetry(run, past, { ...options, from: "createCardholder" });
    expect(instruction.sent).toMatchObject({
      createCardholder: { outcome: "known", ids: { card_holder_id: "4" } },
      issueCard: { outcome: "nothing", isUndone: true },
    });
  });

  it("searches for a payout that has the id of a beneficiary of the run: it was not taken by that", () => {
    const listed = { ...send(2, ""), type: "findPayouts", result: { items: [{ payout_id: "7" }] } };
    const steps = [step("createPayout", 4, [send(1, "OutcomeUnknown"), listed])];
    const past = executionHistoryOf([readRun({ steps, ids: new Set(["7", "beneficiary:7"]) })]);
    expect(planRetry(run, past, options).instruction.sent).toMatchObject({
      createPayout: { outcome: "unknown" },
    });
  });

  it("searches for a payout whose list showed only what another step of the run has made", () => {
    const listed = {
      ...send(3, ""),
      type: "findPayouts",
      isDone: true,
      result: { items: [{ payout_id: "7" }] },
    };
    const steps = [
      step("payTheFirst", 4, [{ ...send(1, ""), isDone: true, result: { payout_id: "7" } }]),
      step("payTheSecond", 8, [send(2, "OutcomeUnknown"), listed]),
    ];
    const past = executionHistoryOf([readRun({ steps, ids: new Set(["7", "payout:7"]) })]);
    expect(past.sends.get("payTheFirst")?.sent).toEqual({ outcome: "known", id: "7" });
    expect(planRetry(run, past, options).instruction.sent).toEqual({
      payTheSecond: { outcome: "unknown", amendments: 0 },
    });
  });

  it("hands on the account of the runs before", () => {
    const steps = [step("createPayout", 4)];
    const past = executionHistoryOf([
      readRun({ steps, account: "1234567890abcdef" }),
      readRun({ steps, account: undefined }),
    ]);
    expect(planRetry(run, past, options).instruction.account).toBe("1234567890abcdef");
  });
});

it("a retry knows what the run had made, from the journal, and that it was undone", () => {
  const made = { failureDetail: { outcome: "carriedOut", ids: { card_holder_id: "h-1" } } };
  const reported = { ...send(1, "AlreadySent"), ...made, type: "createCardholder", input: {} };
  const removed = { ...send(2, ""), type: "removeCardholder", input: { card_holder_id: "h-1" } };
  const steps = [
    step("createCardholder", 4, [reported]),
    step("awaitVerification", 8, [{ ...removed, isDone: true }]),
  ];
  const past = executionHistoryOf([readRun({ steps, ids: new Set(["h-1", "cardholder:h-1"]) })]);
  expect(past.sends.get("createCardholder")?.sent).toEqual({ outcome: "known", id: "h-1" });
  expect(() => planRetry({ ...run, type: "onboardCardholder" }, past, options)).toThrow(
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
  const abandoned = executionHistoryOf([readRun({ steps: approved, endedBy })]);

  it("stays ended, in a retry of many and in one by its id", () => {
    for (const decisions of ["keep", "leaveOut"] as const) {
      const plan = () => planRetry(run, abandoned, { ...options, decisions });
      expect(plan).toThrow(
        expect.objectContaining({
          _tag: "EndedByPerson",
          message: expect.stringMatching(
            /was abandoned by Eve on 2026-11-21 10:00 UTC \(fraud suspected, do not pay\)/,
          ) as unknown,
          next: { operation: "retry", workflowId: run.workflowId, overrule: true },
        }),
      );
    }
  });

  // A caller without types can give anything.
  const optionsWith = (decisions: unknown) =>
    ({ ...options, decisions }) as unknown as RetryOptions;

  it("stays ended where nothing is said of what becomes of that", () => {
    expect(() => planRetry(run, abandoned, optionsWith(undefined))).toThrow(
      expect.objectContaining({ _tag: "EndedByPerson" }),
    );
  });

  it.each(["zzz", "", "Overrule", "overrule ", true, null, ["overrule"]])(
    "stays ended by such a word for it as %j, which is wrong of any run",
    (decisions) => {
      const running = executionHistoryOf([readRun({ steps: approved })]);
      for (const past of [abandoned, running]) {
        expect(() => planRetry(run, past, optionsWith(decisions))).toThrow(
          expect.objectContaining({ _tag: "InvalidInput" }),
        );
      }
    },
  );

  it("stays ended in a retry of many where it was asked to end, and failed by itself meanwhile", () => {
    const asked = executionHistoryOf([
      readRun({
        steps: [step("createPayout", 4, [send(1, "Refused")])],
        cancelAsked: { by: "Eve", event: 13 },
      }),
    ]);
    expect(() => planRetry(run, asked, { ...options, decisions: "leaveOut" })).toThrow(
      /was asked to end by Eve/,
    );
    expect(planRetry(run, asked, options).from).toBe("createPayout");
  });

  it("cannot go on from a step before which it was asked to end: it would end again at once", () => {
    const steps = [step("createPayout", 4)];
    const asked = executionHistoryOf([readRun({ steps, cancelAsked: { by: "Eve", event: 3 } })]);
    expect(() => planRetry(run, asked, options)).toThrow(/asked to end by Eve before createPayout/);
  });

  it("goes on where a person overrules it, from the approval on, and the instruction shows both", () => {
    const plan = planRetry(run, abandoned, { ...options, decisions: "overrule" });
    expect(plan.from).toBe("awaitApproval");
    expect(plan.overruled).toEqual([{ ...endedBy, runId: "run-1" }]);
    const at = expect.stringMatching(/^\d{4}-/) as unknown as string;
    expect(plan.instruction.decisions).toEqual([
      { ...endedBy, runId: "run-1", overruled: { by: "Bob", why: "checked", at } },
    ]);
  });

  it("is known in all runs since, overruled or not", () => {
    const { instruction } = planRetry(run, abandoned, { ...options, decisions: "overrule" });
    const steps = approved;
    const later = executionHistoryOf([
      readRun({ steps, endedBy }),
      readRun({
        runId: "run-2",
        steps,
        changes: [{ by: "reset", answer: { instruction } }],
      }),
    ]);
    expect(planRetry(run, later, options).instruction.decisions).toEqual(instruction.decisions);
    expect(() => planRetry(run, later, { ...options, decisions: "leaveOut" })).toThrow(/Eve/);
    expect(() => planRetry(run, later, { ...options, decisions: "overrule" })).toThrow(
      /there is nothing to overrule/,
    );
    // A run that never took the instruction up has not gone on with anything.
    const notTaken = executionHistoryOf([
      readRun({ steps, endedBy }),
      readRun({ runId: "run-2", steps }),
    ]);
    expect(() => planRetry(run, notTaken, options)).toThrow(/stays ended/);
  });
});

describe("a run that was asked to end before its last step began", () => {
  const cancelAsked = { by: "Ada", event: 9 };
  const paid: PastActivity = { ...send(1, ""), isDone: true, result: { payout_id: "p-1" } };
  const steps = [step("createPayout", 4, [paid]), step("awaitPayout", 12)];
  const planned = (past: Partial<ReadPastRun>) => {
    try {
      return planRetry(run, executionHistoryOf([readRun(past)]), options);
    } catch (error) {
      return error;
    }
  };

  it("can go on from the step before, which is named; no other run is advised for what it has made", () => {
    const refusal = planned({ steps, cancelAsked });
    expect(refusal).toMatchObject({
      _tag: "Refused",
      message: expect.stringMatching(
        /Go on from createPayout: .*Start no other run for it: createPayout has made p-1/,
      ) as unknown,
      next: { operation: "retry", workflowId: run.workflowId, from: "createPayout" },
    });
    expect(refusal).not.toMatchObject({
      message: expect.stringContaining("another id") as unknown,
    });
  });

  it("goes on from its retry where it was asked to end before that began", () => {
    const reset = { runId: "run-0", reason: "again", task: "7" as unknown as PastStep["taskEnd"] };
    const again = [step("createPayout", 12, [send(1, "OutcomeUnknown")])];
    expect(planned({ steps: again, cancelAsked, reset })).toMatchObject({
      from: "createPayout",
      eventId: 7,
      instruction: { sent: { createPayout: { outcome: "unknown" } } },
    });
  });
});

describe("another run for the same is advised", () => {
  const cancelAsked = { by: "Ada", event: 3 };
  const planOf = (failure: string) => () =>
    planRetry(
      run,
      executionHistoryOf([
        readRun({ steps: [step("createPayout", 4, [send(1, failure)])], cancelAsked }),
      ]),
      options,
    );

  it("where nothing was carried out", () => {
    expect(planOf("Refused")).toThrow("Start a run of another id");
  });

  it("never while nobody knows what was", () => {
    expect(planOf("OutcomeUnknown")).toThrow("settle that of invoice-1 first, and start no other");
  });
});
