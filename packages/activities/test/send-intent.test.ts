import type { RecordedSend } from "@durable-payments/journal";
import { expect, it } from "vitest";
import { sentAlready } from "../src/send-intent.ts";

const send = (number: number, outcome: RecordedSend["outcome"]): RecordedSend => ({
  workflowId: "payout 1",
  step: "createPayout",
  number,
  operation: "createPayout",
  runId: "run 1",
  payloadHash: "hash",
  begunAt: 0,
  outcome,
  ids: {},
});

it.each<[string, ReadonlyArray<RecordedSend>, true | undefined]>([
  ["both were refused", [send(1, "notCarriedOut"), send(2, "notCarriedOut")], true],
  ["the first is in doubt", [send(1, "unknown"), send(2, "notCarriedOut")], undefined],
  ["the first has begun", [send(1, "begun"), send(2, "notCarriedOut")], undefined],
  ["the last is in doubt", [send(1, "notCarriedOut"), send(2, "unknown")], undefined],
  ["the first was undone", [send(1, "undone"), send(2, "notCarriedOut")], undefined],
  ["the first is not in the journal", [send(2, "notCarriedOut")], undefined],
])("a run learns whether nothing of a write was carried out: %s", (_, recorded, isNone) => {
  const asked = { number: 1, knownTo: 0, payloadHash: "another" };
  const sent = sentAlready(asked, recorded.at(-1)!, recorded);
  expect(sent.isNoneCarriedOut).toBe(isNone);
});
