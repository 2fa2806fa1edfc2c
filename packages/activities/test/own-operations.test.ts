import { makeMemoryJournal } from "@durable-payments/journal";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { Schema } from "effect";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { OwnOperation, PaymentsActivities, SendContext, SendIntent } from "../src/index.ts";
import { schemaFaults } from "../src/schema-faults.ts";
import { activitiesFor, environment } from "./support/activities.ts";

interface Entry {
  readonly amount: string;
}

type Send = OwnOperation<Entry, { readonly id: string }>["send"];

let send: Send;
let sent: Array<{ readonly request: Entry; readonly key: string; readonly isResend: boolean }>;
let made: ReturnType<typeof activitiesFor>;
let journal: ReturnType<typeof makeMemoryJournal>;
let pause: { readonly by: string; readonly since: string; readonly why: string } | undefined;
beforeEach(() => {
  sent = [];
  pause = undefined;
  send = async () => ({ id: "E-1" });
  journal = makeMemoryJournal();
  const bookEntry: OwnOperation<Entry, { readonly id: string }> = {
    schema: z.object({ amount: z.string().regex(/^\d+$/, "must be digits") }),
    timeoutMs: 50,
    send: (request, context: SendContext) => {
      sent.push({ request, key: context.key, isResend: context.isResend });
      return send(request, context);
    },
    read: async (id) => ({ id }),
  };
  // Port 1 is reserved, and nothing listens on it: the payment service is not asked.
  made = activitiesFor(
    "http://127.0.0.1:1",
    {},
    { journal, readPause: async () => pause, operations: { bookEntry } },
  );
});
afterEach(() => made.close());

const activity = (name: string) =>
  // By its name, as a workflow calls it.
  made.activities[name as keyof PaymentsActivities] as unknown as (
    ...input: ReadonlyArray<unknown>
  ) => Promise<unknown>;

const book = (
  intent: Partial<SendIntent> = {},
  info: Parameters<typeof environment>[0] = {},
  amount = "12",
) =>
  environment(info).run(
    activity("send/bookEntry"),
    { amount, unique_request_id: "key-1" },
    { step: "bookEntry", number: 1, ...intent },
  );

const failureOf = async (result: Promise<unknown>): Promise<ApplicationFailure> => {
  const error: unknown = await result.catch((thrown: unknown) => thrown);
  if (error instanceof ApplicationFailure) return error;
  throw new Error("It did not fail.", { cause: error });
};

const outcomes = async () =>
  (await journal.find({ workflowId: "test" })).map(({ key, outcome }) => [key, outcome]);

/** No other run, as far as Temporal knows. */
const nobodyElse = {
  workflow: { list: async function* () {} },
  withAbortSignal: (_: unknown, use: () => Promise<unknown>) => use(),
} as unknown as Client;

it("where nothing lists what an own operation makes, no reading of a list is reported", async () => {
  const found = environment({}, { client: nobodyElse }).run(activity("find/bookEntry"), {
    intentMark: "intent:1",
    request: { amount: "12" },
    since: Date.now(),
    step: "bookEntry",
  });
  expect(await found).toMatchObject({
    items: [],
    incomplete: "Nothing lists what bookEntry makes.",
    isUnlisted: true,
  });
});

describe("a send of an own operation", () => {
  it("gets the request without its key, and the key beside it; the answer's id is in the journal", async () => {
    expect(await book()).toEqual({ bookEntry_id: "E-1", made: { id: "E-1" } });
    expect(sent).toEqual([{ request: { amount: "12" }, key: "key-1", isResend: false }]);
    const [recorded] = await journal.find({ workflowId: "test", step: "bookEntry" });
    expect(recorded).toMatchObject({ outcome: "carriedOut", ids: { bookEntry_id: "E-1" } });
  });

  it("is not made a second time after its worker was lost, nor after it was carried out", async () => {
    send = () => Promise.withResolvers<never>().promise;
    expect((await failureOf(book())).type).toBe("OutcomeUnknown");
    send = async () => ({ id: "E-1" });
    expect((await failureOf(book({}, { attempt: 2 }))).type).toBe("AlreadySent");
    expect((await failureOf(book())).type).toBe("AlreadySent");
    await book({ number: 2, knownTo: 1 });
    expect((await failureOf(book({ number: 3, knownTo: 2 }))).type).toBe("AlreadySent");
    expect(sent).toHaveLength(2);
    expect(await outcomes()).toEqual([
      ["key-1", "unknown"],
      ["key-1", "carriedOut"],
    ]);
  });

  it.each([
    ["refused", "Refused", "notCarriedOut"],
    ["notCarriedOut", "Unavailable", "notCarriedOut"],
  ] as const)("that is said to be %s is certainly not carried out", async (how, type, outcome) => {
    send = async (_, context) => {
      throw context[how]("no");
    };
    const failure = await failureOf(book());
    expect(failure).toMatchObject({ type, nonRetryable: true });
    expect(await outcomes()).toEqual([["key-1", outcome]]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("socket hang up"))],
    ["takes too long", () => Promise.withResolvers<never>().promise],
  ] as const)("that %s may have been carried out", async (_, sending) => {
    send = sending;
    const failure = await failureOf(book());
    expect(failure).toMatchObject({ type: "OutcomeUnknown", nonRetryable: true });
    expect(await outcomes()).toEqual([["key-1", "unknown"]]);
  });

  it("whose answer has no id may have been carried out", async () => {
    send = async () => ({}) as never;
    expect((await failureOf(book())).type).toBe("UnexpectedAnswer");
    expect(await outcomes()).toEqual([["key-1", "unknown"]]);
  });

  it("is not made while sends are paused, nor where its request is wrong", async () => {
    pause = { by: "Ada", since: "2026-11-22T10:00:00Z", why: "a look" };
    expect((await failureOf(book())).type).toBe("Paused");
    pause = undefined;
    const failure = await failureOf(book({}, {}, "twelve"));
    expect(failure.message).toContain("amount must be digits");
    expect(sent).toEqual([]);
  });

  it("shows no account number of what its function throws", async () => {
    send = () => Promise.reject(new Error("no account DE89370400440532013000"));
    expect((await failureOf(book())).message).not.toContain("DE89370400440532013000");
  });

  it("that names what another run has made proves nothing", async () => {
    await book();
    const workflowExecution = { workflowId: "other", runId: "r-2" };
    const failure = await failureOf(book({}, { workflowExecution }));
    expect(failure.type).toBe("AnswerContradicts");
  });
});

describe("operations and inputs of a worker", () => {
  it("are refused by name where they are none", () => {
    const making = (options: object) => () => activitiesFor("http://127.0.0.1:1", {}, options);
    expect(making({ operations: { "book entry": {} } })).toThrow("The operation book entry must");
    expect(making({ operations: { bookEntry: { send: async () => ({ id: "1" }) } } })).toThrow(
      "The operation bookEntry must have the functions read.",
    );
    expect(making({ inputs: { mine: { schema: { type: "object" } } } })).toThrow(
      "inputs.mine.schema must be a Standard Schema",
    );
    expect(making({ inputs: { payout: { schema: z.object({}) } } })).toThrow("inputs.payout");
  });

  it.each([
    ["zod", z.object({ entry: z.object({ amount: z.string() }) })],
    ["valibot", v.object({ entry: v.object({ amount: v.string() }) })],
    [
      "Effect",
      Schema.toStandardSchemaV1(Schema.Struct({ entry: Schema.Struct({ amount: Schema.String }) })),
    ],
  ])(
    "are checked by a schema of %s, and every fault has the path of its field",
    async (_, schema) => {
      expect(await schemaFaults(schema, { entry: { amount: "1" } })).toEqual([]);
      const [fault, ...more] = await schemaFaults(schema, { entry: { amount: 1 } });
      expect(fault?.field).toBe("entry.amount");
      expect(more).toEqual([]);
    },
  );
});
