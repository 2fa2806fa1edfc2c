import { type Journal, makeMemoryJournal, type Send } from "@durable-payments/journal";
import type { Client } from "@temporalio/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KnownSends } from "../src/index.ts";
import { activitiesFor, environment, run } from "./support/activities.ts";
import { card, cardholder } from "./support/bodies.ts";
import { type RawService, startRawService, success } from "./support/raw-service.ts";

const { workflowId = "" } = environment().context.info.workflowExecution ?? {};

let journal: Journal;
let service: RawService;
let made: ReturnType<typeof activitiesFor>;
beforeEach(async () => {
  journal = makeMemoryJournal();
  service = await startRawService(({ path }) =>
    path.endsWith("/cardholders")
      ? success({ card_holder_id: "H-1" })
      : success({ card_id: "C-1", card_holder_id: "H-1" }),
  );
  made = activitiesFor(service.url, {}, { journal });
});
afterEach(async () => {
  await made.close();
  await service.stop();
});

const begin = async (given: Partial<Send> = {}) => {
  const begun = await journal.begin({
    workflowId,
    runId: "run-1",
    step: "createPayout",
    number: 1,
    operation: "createPayout",
    payloadHash: "hash",
    ...given,
  });
  if (begun._tag === "AlreadySent") throw new Error("It was sent before.");
  return begun.send;
};
/** How a run was started: "chained" goes on where "before" has ended, the others by themselves. */
const getWorkflowExecutionHistory = async ({
  execution,
}: {
  readonly execution: { readonly runId: string };
}) => ({
  history: {
    events: [
      {
        workflowExecutionStartedEventAttributes:
          execution.runId === "chained" ? { continuedExecutionRunId: "before" } : {},
      },
    ],
  },
});
// Of a client, only the starts of runs are asked for.
const client = {
  workflowService: { getWorkflowExecutionHistory },
  options: { namespace: "default" },
  withAbortSignal: <A>(_: AbortSignal, work: () => Promise<A>) => work(),
} as unknown as Client;

const find = (known: KnownSends = {}) =>
  run(made.activities.findForgottenSends, known, {}, { client });

describe("a run that does not know what it has sent", () => {
  it("learns what was made, with its ids and its money", async () => {
    const sent = await begin({ key: "key-1", amount: "250.00", currency: "USD" });
    await sent.recordOutcome("carriedOut", { payout_id: "P-1", beneficiary_id: "B-1" });
    expect(await find()).toEqual([
      {
        step: "createPayout",
        operation: "createPayout",
        key: "key-1",
        amount: "250.00",
        currency: "USD",
        ids: { payout_id: "P-1", beneficiary_id: "B-1" },
        made: { payout_id: "P-1" },
        begunAt: expect.any(Number) as unknown,
      },
    ]);
  });

  it.each([
    ["that has begun", async () => void (await begin())],
    ["whose answer was lost", async () => (await begin()).recordOutcome("unknown")],
  ])("learns of a send %s", async (_, send) => {
    await send();
    expect(await find()).toMatchObject([{ step: "createPayout", ids: {} }]);
  });

  it("learns of what another run of its id has sent, of which Temporal may know nothing", async () => {
    await begin({ runId: "another" });
    expect(await find()).toHaveLength(1);
  });

  it("learns of the latest of several", async () => {
    await (await begin()).recordOutcome("unknown");
    await (await begin({ number: 2 })).recordOutcome("carriedOut", { payout_id: "P-2" });
    expect(await find({ createPayout: 1 })).toMatchObject([{ ids: { payout_id: "P-2" } }]);
  });
});

describe("what a step sent without an answer, and was found", () => {
  const found = (step: string) =>
    run(made.activities.recordFound, {
      step,
      operation: "createPayout",
      ids: { payout_id: "P-1" },
    });

  it("is recorded as carried out", async () => {
    await (await begin()).recordOutcome("unknown");
    expect(await found("createPayout")).toEqual({});
    expect(await journal.find({ workflowId })).toMatchObject([
      { outcome: "carriedOut", ids: { payout_id: "P-1" } },
    ]);
  });

  it("is not recorded where another step, or another run, has it", async () => {
    await (await begin()).recordOutcome("carriedOut", { payout_id: "P-1" });
    await (await begin({ step: "second" })).recordOutcome("unknown");
    expect(await found("second")).toEqual({ owner: "createPayout" });
    const other = await begin({ workflowId: "another", step: "third" });
    await other.recordOutcome("carriedOut", { payout_id: "P-2" });
    const ids = { payout_id: "P-2" };
    const { recordFound } = made.activities;
    expect(await run(recordFound, { step: "second", operation: "createPayout", ids })).toEqual({
      owner: "another",
    });
  });
});

describe("a run does not learn", () => {
  it("of what a chain of its id has paid, where it is started by itself", async () => {
    const sent = await begin({ runId: "chained" });
    expect(await find()).toHaveLength(1);
    await sent.recordOutcome("carriedOut", { payout_id: "P-1" });
    expect(await find()).toEqual([]);
  });

  it("of what it knows", async () => {
    await (await begin()).recordOutcome("carriedOut", { payout_id: "P-1" });
    expect(await find({ createPayout: 1 })).toEqual([]);
  });

  it("of what was not carried out", async () => {
    await (await begin()).recordOutcome("notCarriedOut");
    expect(await find()).toEqual([]);
  });

  it("of what runs of another id have sent", async () => {
    await begin({ workflowId: "another" });
    expect(await find()).toEqual([]);
  });

  it("of what no step has sent: its workflow calls the activity itself", async () => {
    await run(made.activities.createCardholder, cardholder);
    expect(await journal.find({ workflowId })).toHaveLength(1);
    expect(await find()).toEqual([]);
  });

  it("of what was undone", async () => {
    const { createCard, createCardholder } = made.activities;
    await environment().run(createCardholder, cardholder, { step: "createCardholder", number: 1 });
    await environment().run(createCard, card, { step: "issueCard", number: 1 });
    expect((await find()).map(({ step }) => step)).toEqual(["createCardholder", "issueCard"]);
    await run(made.activities.cancelCard, { card_id: "C-1" });
    expect((await find()).map(({ step }) => step)).toEqual(["createCardholder"]);
    await run(made.activities.removeCardholder, { card_holder_id: "H-1" });
    expect(await find()).toEqual([]);
  });
});
