import { defaultPayloadConverter } from "@temporalio/common";
import { type History, historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readRun } from "../../src/history/read-run.ts";
import { timelineSteps } from "../../src/timeline/steps.ts";

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);

const sent = (eventId: number, input: object, intent?: object) => ({
  eventId,
  activityTaskScheduledEventAttributes: {
    activityType: { name: "createPayout" },
    workflowTaskCompletedEventId: 4,
    input: { payloads: [payload(input), ...(intent === undefined ? [] : [payload(intent)])] },
  },
});

it("what steps send side by side is of the step that the send names, not of the last one", () => {
  const history = {
    events: [
      { eventId: 1, workflowExecutionStartedEventAttributes: {} },
      sent(5, { payout_reason: "a" }, { step: "payTheFirst", number: 1 }),
      sent(6, { payout_reason: "b" }, { step: "payTheSecond", number: 1 }),
      {
        eventId: 7,
        upsertWorkflowSearchAttributesEventAttributes: {
          workflowTaskCompletedEventId: 4,
          searchAttributes: { indexedFields: { PaymentStage: payload("payTheSecond") } },
        },
      },
      {
        eventId: 8,
        activityTaskCompletedEventAttributes: {
          scheduledEventId: 5,
          result: { payloads: [payload({ payout_id: "p-1" })] },
        },
      },
    ],
  } as unknown as History;
  const { steps } = readRun(history);
  expect(
    steps.map(({ activities, name }) => [name, activities.map(({ result }) => result)]),
  ).toEqual([
    ["payTheFirst", [{ payout_id: "p-1" }]],
    ["payTheSecond", [undefined]],
  ]);
});

it("what the journal has of a run is read, too, where the server tried a failed local activity again", () => {
  const scheduled = (eventId: number, name: string) => ({
    eventId,
    activityTaskScheduledEventAttributes: {
      activityType: { name },
      workflowTaskCompletedEventId: 4,
      input: { payloads: [payload({})] },
    },
  });
  const completed = (scheduledEventId: number, result: unknown) => ({
    eventId: scheduledEventId + 1,
    activityTaskCompletedEventAttributes: {
      scheduledEventId,
      result: { payloads: [payload(result)] },
    },
  });
  const forgotten = { step: "createPayout", operation: "createPayout", begunAt: 1, ids: {} };
  const history = {
    events: [
      { eventId: 1, workflowExecutionStartedEventAttributes: {} },
      scheduled(5, "listPayouts"),
      completed(5, [{ step: "another" }]),
      scheduled(7, "findForgottenSends"),
      completed(7, [forgotten]),
    ],
  } as unknown as History;
  expect(readRun(history).forgotten).toEqual([forgotten]);
});

it("a decision that is given again after a reset counts only where the run takes it", () => {
  const entered = {
    eventId: 5,
    upsertWorkflowSearchAttributesEventAttributes: {
      workflowTaskCompletedEventId: 4,
      searchAttributes: { indexedFields: { PaymentStage: payload("createPayout") } },
    },
  };
  const given = (updateId: string) => ({
    workflowExecutionUpdateAdmittedEventAttributes: {
      request: {
        meta: { updateId },
        input: {
          name: "resolve",
          args: { payloads: [payload({ by: updateId, question: "1-a", amend: { amount: "1" } })] },
        },
      },
    },
  });
  const accepted = {
    workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId: "Ada" },
  };
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: {} },
    entered,
    given("Ada"),
    given("Bob"),
    accepted,
  ];
  const { changes } = readRun({ events } as unknown as History);
  expect(changes).toMatchObject([{ by: "decision", decision: { by: "Ada" } }]);
});

it("a run that was started with its stage is at the step that its first send names", () => {
  const asked = {
    eventId: 11,
    upsertWorkflowSearchAttributesEventAttributes: {
      workflowTaskCompletedEventId: 10,
      searchAttributes: { indexedFields: { PaymentStage: payload("needsAttention") } },
    },
  };
  const decided = {
    eventId: 12,
    workflowExecutionUpdateAcceptedEventAttributes: {
      acceptedRequest: {
        input: {
          name: "resolve",
          args: { payloads: [payload({ by: "Ada", question: "1-a", amend: { amount: "1" } })] },
        },
      },
    },
  };
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: {} },
    sent(5, {}, { step: "createPayout", number: 1 }),
    asked,
    decided,
  ];
  const { changes, steps } = readRun({ events } as unknown as History);
  expect(steps).toMatchObject([
    {
      name: "createPayout",
      isCurrent: true,
      events: [{ kind: "activity" }, { kind: "humanTask" }, { kind: "update" }],
      decisions: [{ by: "Ada" }],
    },
  ]);
  expect(changes).toMatchObject([{ by: "decision", step: "createPayout" }]);
});

it("an amendment that was refused after the run had accepted the update was not taken", () => {
  const recorded = readFileSync(
    new URL("../../../workflows/test/histories/payout-amended-by-a-person.json", import.meta.url),
    "utf8",
  );
  const { changes, steps } = readRun(historyFromJSON(JSON.parse(recorded)));
  const amend = { payout: { payout_reference: "Invoice 1a" } };
  expect(changes).toMatchObject([{ by: "decision", decision: { by: "Ada", amend } }]);
  const step = steps.find(({ name }) => name === "createPayout");
  expect(step?.decisions).toMatchObject([{ amend }]);
  expect(step?.events.filter(({ kind }) => kind === "update")).toMatchObject([
    { content: { amend } },
  ]);
});

it("a step that was done is not what a retry failed at whose amendment was refused", () => {
  const at = (seconds: number) => ({ eventTime: { seconds } });
  const history = {
    events: [
      { eventId: 1, ...at(1), workflowExecutionStartedEventAttributes: {} },
      { ...sent(5, { payout_reason: "a" }, { step: "createPayout", number: 1 }), ...at(2) },
      {
        eventId: 6,
        ...at(3),
        activityTaskCompletedEventAttributes: {
          scheduledEventId: 5,
          result: { payloads: [payload({ payout_id: "p-1" })] },
        },
      },
      {
        eventId: 7,
        ...at(9),
        workflowTaskFailedEventAttributes: { newRunId: "b", baseRunId: "a" },
      },
      {
        eventId: 8,
        ...at(10),
        workflowExecutionFailedEventAttributes: {
          failure: { applicationFailureInfo: { type: "AmendmentRefused" } },
        },
      },
    ],
  } as unknown as History;
  const end = { at: "1970-01-01T00:00:10.000Z", isDone: false, isCancelled: false };
  expect(timelineSteps(readRun(history), end)).toMatchObject([
    { name: "createPayout", state: "completed", until: "1970-01-01T00:00:03.000Z" },
  ]);
});
