import type { Client } from "@temporalio/client";
import {
  ApplicationFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
} from "@temporalio/common";
import { loadDataConverter } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { expect, it } from "vitest";
import { readablePayloads } from "../src/readable-payloads.ts";
import { readForgottenSends } from "../src/sends-in-history.ts";
import { payout } from "./support/bodies.ts";

const workflowId = "invoice-1";
const createPayout = { operation: "createPayout", step: "createPayout" };
const payloads = (...values: ReadonlyArray<unknown>) => ({
  payloads: values.map((value) => defaultPayloadConverter.toPayload(value)),
});

const eventTime = { seconds: 1_700_000_000 };
const started = (originalExecutionRunId = "first") => ({
  workflowExecutionStartedEventAttributes: { originalExecutionRunId },
});
const scheduled = (eventId: number, type: string, ...input: ReadonlyArray<unknown>) => ({
  eventId,
  eventTime,
  activityTaskScheduledEventAttributes: {
    activityId: String(eventId),
    activityType: { name: type },
    input: payloads(...input),
  },
});
const sent = (eventId: number, number = 1, step = "createPayout") =>
  scheduled(eventId, "createPayout", payout, { step, number });
const completed = (scheduledEventId: number, answer: unknown) => ({
  activityTaskCompletedEventAttributes: { scheduledEventId, result: payloads(answer) },
});
const failed = (scheduledEventId: number, type: string, ...details: ReadonlyArray<unknown>) => ({
  activityTaskFailedEventAttributes: {
    scheduledEventId,
    failure: defaultFailureConverter.errorToFailure(
      ApplicationFailure.create({ type, message: "no", details: [...details] }),
      defaultPayloadConverter,
    ),
  },
});

/** As workers and tools read: what does not decode is told, and ends no list. */
const loadedDataConverter = loadDataConverter(readablePayloads.configureClient({}).dataConverter);

const read = (
  histories: Readonly<Record<string, ReadonlyArray<unknown>>>,
  step = createPayout,
  recorded: Parameters<typeof readForgottenSends>[3] = [],
) => {
  const getHandle = (_: string, runId: string) => ({
    fetchHistory: async () => ({ events: histories[runId] }),
  });
  // Of a client, only histories are asked for.
  const client = {
    options: { loadedDataConverter },
    workflow: { getHandle },
  } as unknown as Client;
  const runs = Object.keys(histories).map((runId) => ({ workflowId, runId }));
  return readForgottenSends(client, runs, step, recorded);
};

const made = { payout_id: "P-1" };

it.each([
  ["answered", completed(2, made), "carriedOut"],
  ["without an answer", failed(2, "OutcomeUnknown", { carriedOut: "unknown" }), "unknown"],
  ["refused", failed(2, "Refused", { carriedOut: "no" }), "notCarriedOut"],
  ["held back by a pause", failed(2, "Paused"), "notCarriedOut"],
  ["failed for a reason that nobody knows", failed(2, "TypeError"), "unknown"],
  ["of a lost worker", failed(2, "WorkerLost", { carriedOut: "unknown" }), "begun"],
  ["not reported", {}, "begun"],
])("a send that was %s is taken as the journal would have it", async (_, end, outcome) => {
  const [send, ...others] = await read({ first: [started(), sent(2), end] });
  expect(others).toEqual([]);
  expect(send).toMatchObject({
    workflowId,
    runId: "first",
    step: "createPayout",
    number: 1,
    begunAt: 1_700_000_000_000,
    amount: payout.amount,
    outcome,
    ids: outcome === "carriedOut" ? made : {},
  });
});

it("a send of a lost worker is what the journal had of it then", async () => {
  const known = { number: 1, runId: "zeroth", outcome: "carriedOut", ids: made, begunAt: 1 };
  const detail = { ...known, isSamePayload: true };
  const [send] = await read({ first: [started(), sent(2), failed(2, "AlreadySent", detail)] });
  expect(send).toMatchObject(known);
});

it("another step, and what the journal has, is left out", async () => {
  const history = [started(), sent(2, 1, "other"), sent(3), completed(3, made)];
  const [send] = await read({ first: history });
  expect(await read({ first: history }, createPayout, [send!])).toEqual([]);
  // A reset has copied it.
  const copies = { second: history, first: history };
  expect(await read(copies, createPayout, [send!])).toEqual([]);
  expect(await read({ first: history })).toHaveLength(1);
});

it("what was undone since does not stand", async () => {
  const cardholder = { card_holder_id: "H-1" };
  const create = { operation: "createCardholder", step: "createCardholder" };
  const history = [
    started(),
    scheduled(2, "createCardholder", {}, { step: "createCardholder", number: 1 }),
    completed(2, cardholder),
    scheduled(3, "removeCardholder", cardholder),
    completed(3, {}),
  ];
  expect((await read({ first: history }, create)).map(({ outcome }) => outcome)).toEqual([
    "undone",
  ]);
});

const encrypted = {
  payloads: [{ metadata: { encoding: Buffer.from("binary/encrypted") }, data: Buffer.of(1) }],
};

it.each([
  [
    "what was sent",
    [
      {
        ...sent(2),
        activityTaskScheduledEventAttributes: {
          activityType: { name: "createPayout" },
          input: encrypted,
        },
      },
    ],
  ],
  [
    "what was answered",
    [sent(2), { activityTaskCompletedEventAttributes: { scheduledEventId: 2, result: encrypted } }],
  ],
])("%s under a key that is not here counts neither as sent nor as not sent", async (_, events) => {
  await expect(read({ first: [started(), ...events] })).rejects.toMatchObject({
    type: "UnreadablePayload",
    nonRetryable: false,
  });
});
