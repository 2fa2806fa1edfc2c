import { readFile } from "node:fs/promises";
import { defaultPayloadConverter } from "@temporalio/common";
import { type History, historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { expect, it } from "vitest";
import { readRun } from "../../src/history/read-run.ts";
import { timelineSteps } from "../../src/timeline/steps.ts";

const histories = new URL("../../../workflows/test/histories/", import.meta.url);

/** The last step of a run that was recorded, and what happened in it. */
const lastStep = async (name: string, isCancelled = false) => {
  const history: unknown = JSON.parse(await readFile(new URL(`${name}.json`, histories), "utf8"));
  const end = { at: new Date(0).toISOString(), isDone: false, isCancelled };
  const step = timelineSteps(readRun(historyFromJSON(history)), end).at(-1);
  return {
    step: `${step?.name} ${step?.state}`,
    events: step?.events.map((event) => {
      if (event.kind === "activity") return `${event.activity} ${event.outcome}`;
      return event.kind === "leftOver" ? `left over: ${event.what}` : event.kind;
    }),
  };
};

it("what was undone stands under the step that failed", async () => {
  expect(await lastStep("onboarding-compensated")).toEqual({
    step: "confirmCard failed",
    events: ["confirmCard failed", "cancelCard done", "removeCardholder done"],
  });
});

it("what could not be undone is left over, and no step that was done", async () => {
  expect(await lastStep("onboarding-compensated-in-part")).toEqual({
    step: "confirmCard failed",
    events: [
      "confirmCard failed",
      "cancelCard done",
      "removeCardholder failed",
      "left over: remove the cardholder",
    ],
  });
});

it("a step that was refused, and then abandoned, leaves nothing over", async () => {
  expect(await lastStep("onboarding-abandoned-by-a-person")).toEqual({
    step: "issueCard failed",
    events: ["createCard failed", "question", "update", "removeCardholder done"],
  });
});

it("a run that is cancelled undoes under the step at which it was", async () => {
  expect(await lastStep("onboarding-cancelled-at-awaitFunds-and-compensated", true)).toEqual({
    step: "awaitFunds cancelled",
    events: [
      "checkFunds done",
      "retrieveBalanceBankDetails done",
      "awaitFunds cancelled",
      "removeCardholder done",
    ],
  });
});

it("a step that a retry kept as done took the time until its answer, not until the retry", async () => {
  const file = new URL("payout-completed-after-a-reset.json", histories);
  const history: unknown = JSON.parse(await readFile(file, "utf8"));
  const end = { at: "2026-11-22T03:48:12.840Z", isDone: true, isCancelled: false };
  const steps = timelineSteps(readRun(historyFromJSON(history)), end);
  expect(steps.map(({ name, tookMs }) => [name, tookMs])).toEqual([
    ["createBeneficiary", 35],
    ["createPayout", 61_057],
    ["awaitPayout", 22],
  ]);
});

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);

const fieldsOf = (fields: Readonly<Record<string, unknown>>) => ({
  searchAttributes: {
    indexedFields: Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, payload(value)]),
    ),
  },
});

const written = (eventId: number, fields: Readonly<Record<string, unknown>>) => ({
  eventId,
  upsertWorkflowSearchAttributesEventAttributes: {
    workflowTaskCompletedEventId: 4,
    ...fieldsOf(fields),
  },
});

const sent = (eventId: number, step: string) => ({
  eventId,
  activityTaskScheduledEventAttributes: {
    activityType: { name: "createPayout" },
    workflowTaskCompletedEventId: 4,
    input: { payloads: [payload({ amount: "9.00" }), payload({ step, number: 1 })] },
  },
});

const lost = (eventId: number, scheduledEventId: number) => ({
  eventId,
  activityTaskFailedEventAttributes: {
    scheduledEventId,
    failure: { message: "No answer", applicationFailureInfo: { type: "OutcomeUnknown" } },
  },
});

const answered = (eventId: number, scheduledEventId: number) => ({
  eventId,
  activityTaskCompletedEventAttributes: {
    scheduledEventId,
    result: { payloads: [payload({ payout_id: "p-1" })] },
  },
});

const states = (events: ReadonlyArray<object>, end?: Parameters<typeof timelineSteps>[1]) =>
  timelineSteps(readRun({ events } as unknown as History), end).map(({ name, note, state }) =>
    [name, state, ...(note === undefined ? [] : [note])].join(" "),
  );

const NO_ANSWER = "no answer, reconciling";

it("a payout without an answer is running, with its timer, in a run that was started with its stage", () => {
  const events = [
    {
      eventId: 1,
      workflowExecutionStartedEventAttributes: fieldsOf({
        PaymentStage: "createPayout",
        PaymentInDoubt: "createPayout",
      }),
    },
    sent(5, "createPayout"),
    lost(7, 5),
    { eventId: 11, timerStartedEventAttributes: { workflowTaskCompletedEventId: 10 } },
  ];
  expect(states(events)).toEqual([`createPayout running ${NO_ANSWER}`]);
  const [step] = timelineSteps(readRun({ events } as unknown as History), undefined);
  expect(step?.events.map(({ kind }) => kind)).toEqual(["activity", "timer"]);
});

it.each([
  ["awaitPayout", "waiting"],
  ["awaitApproval", "attention"],
  ["awaitApproval (2)", "attention"],
])("%s, which goes on, is %s", (stage, state) => {
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: {} },
    written(5, { PaymentStage: stage }),
  ];
  expect(states(events)).toEqual([`${stage} ${state}`]);
});

const besideEachOther = [
  { eventId: 1, workflowExecutionStartedEventAttributes: {} },
  sent(5, "payTheFirst"),
  sent(6, "payTheSecond"),
  written(7, { PaymentStage: "payTheSecond", PaymentInDoubt: "payTheFirst payTheSecond" }),
];

it("a payout beside another one is done when its outcome is known, and not when its send has ended", () => {
  expect(states([...besideEachOther, lost(8, 5)])).toEqual([
    `payTheFirst running ${NO_ANSWER}`,
    "payTheSecond running",
  ]);
  expect(states([...besideEachOther, answered(8, 5)])[0]).toBe("payTheFirst completed");
  const found = written(9, { PaymentInDoubt: "payTheSecond" });
  expect(states([...besideEachOther, lost(8, 5), found])[0]).toBe("payTheFirst completed");
});

it("a payout without an answer is running though another step has begun since", () => {
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: {} },
    sent(5, "createPayout"),
    written(6, { PaymentStage: "createPayout", PaymentInDoubt: "createPayout" }),
    lost(7, 5),
    sent(8, "createPayout (2)"),
    written(9, {
      PaymentStage: "createPayout (2)",
      PaymentInDoubt: "createPayout createPayout (2)",
    }),
  ];
  expect(states(events)).toEqual([`createPayout running ${NO_ANSWER}`, "createPayout (2) running"]);
});

it("a payout without an answer was not done when the run has ended", () => {
  const end = { at: new Date(0).toISOString(), isDone: false, isCancelled: true };
  expect(states([...besideEachOther, lost(8, 5), answered(9, 6)], end)).toEqual([
    "payTheFirst cancelled",
    "payTheSecond cancelled",
  ]);
});

it("nothing of a run that has ended is pending", () => {
  const end = { at: "2026-11-22T08:00:00.000Z", isDone: true, isCancelled: false };
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: {} },
    sent(5, "createPayout"),
    written(6, { PaymentStage: "createPayout" }),
  ];
  const [step] = timelineSteps(readRun({ events } as unknown as History), end);
  expect(step?.events).toMatchObject([{ outcome: "noAnswer", until: end.at, nextAttemptAt: null }]);
});

it.each<[string, ReadonlyArray<object>, boolean]>([
  ["was left", [], true],
  [
    "was cancelled",
    [{ eventId: 9, activityTaskCanceledEventAttributes: { scheduledEventId: 5 } }],
    true,
  ],
  ["was left, of a payout that failed,", [], false],
])("a poll that %s when a signal came was not needed any more", (_, more, isDone) => {
  const end = { at: "2026-11-22T08:00:00.000Z", isDone, isCancelled: false };
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: {} },
    {
      eventId: 5,
      activityTaskScheduledEventAttributes: {
        activityType: { name: "awaitPayoutEnd" },
        workflowTaskCompletedEventId: 4,
      },
    },
    written(6, { PaymentStage: "awaitPayout" }),
    { eventId: 7, timerStartedEventAttributes: { workflowTaskCompletedEventId: 4 } },
    { eventId: 8, workflowExecutionSignaledEventAttributes: { signalName: "payoutEnded" } },
    ...more,
  ];
  const [step] = timelineSteps(readRun({ events }), end);
  expect(step).toMatchObject({
    state: isDone ? "completed" : "failed",
    events: [
      { kind: "activity", outcome: "endedBySignal", failure: null, nextAttemptAt: null },
      { kind: "timer", until: end.at },
      { kind: "signal" },
    ],
  });
});
