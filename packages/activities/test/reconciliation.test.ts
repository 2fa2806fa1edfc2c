import type { Client } from "@temporalio/client";
import { afterEach, describe, expect, it } from "vitest";
import { activitiesFor, failureOf, run } from "./support/activities.ts";
import { cardholder, payout } from "./support/bodies.ts";
import { cardholderRow, minutesAfter, payoutRow, type Row, since } from "./support/listings.ts";
import { type RawService, type Said, startRawService, success } from "./support/raw-service.ts";

let service: RawService | undefined;
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  await service?.stop();
});

/** Workflow ids by an id that stands in their PaymentIds; this run's own is `test`. */
type Claims = Readonly<Record<string, ReadonlyArray<string>>>;

/** A Temporal client that knows these claims, and the queries that it was asked. */
const clientWith = (claims: Claims) => {
  const queries: Array<string> = [];
  async function* list({ query = "" }: { readonly query?: string }) {
    queries.push(query);
    const [, id = "", account] =
      /^PaymentIds = "(.*?)"(?: AND PaymentAccount = "(.*)")?$/.exec(query) ?? [];
    // Of the runs of another account the server shows none to whoever names an account.
    const runs = claims[id]?.filter((run) => account === undefined || !run.startsWith("foreign-"));
    for (const workflowId of runs ?? []) yield { workflowId };
  }
  const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
  // Of a client, only the list of workflows is asked for, for as long as the activity lasts.
  return { client: { workflow: { list }, withAbortSignal } as unknown as Client, queries };
};

const pageNumber = (path: string): number =>
  Number(new URL(path, "http://service").searchParams.get("page_num"));

/** Activities over a service whose list has these pages. */
const overPages = async (pages: ReadonlyArray<ReadonlyArray<Row>>) => {
  service = await startRawService(({ path }): Said => {
    const item_list = pages[pageNumber(path) - 1] ?? [];
    const ids = pages.flat().map(({ card_holder_id, payout_id = card_holder_id }) => payout_id);
    return success({ total_item: new Set(ids).size, total_page: pages.length, item_list });
  });
  const made = activitiesFor(service.url);
  ({ close } = made);
  return made.activities;
};

const intentMark = "intent:1";
const step = "createPayout";
const keys = ["key-1"];

const find = async (
  pages: ReadonlyArray<ReadonlyArray<Row>>,
  {
    claims = {},
    request = payout,
  }: { claims?: Claims; request?: Omit<typeof payout, "payout_reference"> } = {},
) => {
  const activities = await overPages(pages);
  const { client, queries } = clientWith(claims);
  const sent = { request, since, intentMark, step, keys };
  const found = await run(activities.findPayouts, sent, {}, { client });
  return { ...found, items: found.items.map(({ payout_id }) => payout_id), queries };
};

describe("findPayouts", () => {
  it("finds nothing in an empty list", async () => {
    expect(await find([[]])).toMatchObject({ items: [], matches: [], concurrentRuns: [] });
  });

  it("finds the one with the key that was sent, whatever else the service shows, and those alike", async () => {
    const { items } = await find([
      [
        payoutRow("alike"),
        payoutRow("ours", { unique_request_id: "key-1", amount: "249.50", payout_reference: "" }),
        payoutRow("alike-with-a-key", { unique_request_id: "key-2" }),
      ],
    ]);
    expect(items).toEqual(["ours", "alike", "alike-with-a-key"]);
  });

  it("compares amounts as numbers, and an absent reference with an empty one", async () => {
    const { payout_reference: _, ...request } = payout;
    const { items } = await find([[payoutRow("a", { amount: "250", payout_reference: null })]], {
      request,
    });
    expect(items).toEqual(["a"]);
  });

  it("leaves out what differs in two of beneficiary, amount, currency and reference, not in one", async () => {
    const amount = { amount: "250.01" };
    const { items, matches } = await find([
      [
        payoutRow("beneficiary", { beneficiary_id: "beneficiary-2" }),
        payoutRow("amount", amount),
        payoutRow("currency", { currency: "EUR" }),
        payoutRow("reference", { payout_reference: "Invoice 2" }),
        payoutRow("beneficiary-and-amount", { ...amount, beneficiary_id: "beneficiary-2" }),
        payoutRow("currency-and-amount", { ...amount, currency: "EUR" }),
        payoutRow("reference-and-amount", { ...amount, payout_reference: "Invoice 2" }),
      ],
    ]);
    expect(items).toEqual(["beneficiary", "amount", "currency", "reference"]);
    expect(matches.every(({ differsInOne }) => differsInOne)).toBe(true);
  });

  it("leaves out what was there before, but for a clock that runs behind by minutes", async () => {
    const { items } = await find([
      [
        payoutRow("of-a-slow-clock", { create_time: minutesAfter(-14) }),
        payoutRow("older", { create_time: minutesAfter(-16) }),
        payoutRow("of-unknown-time", { create_time: "" }),
      ],
    ]);
    expect(items).toEqual(["of-a-slow-clock", "of-unknown-time"]);
  });

  it("reads a list of another order to its end, each payout once", async () => {
    const old = payoutRow("old", { create_time: minutesAfter(-300) });
    const { items } = await find([
      [old, payoutRow("older-first", { create_time: minutesAfter(1) })],
      [payoutRow("older-first", { create_time: minutesAfter(1) }), payoutRow("newest")],
    ]);
    expect(items).toEqual(["older-first", "newest"]);
  });

  it("says which runs own what was found, and who else may have made it", async () => {
    const { matches, queries, concurrentRuns } = await find(
      [[payoutRow("a"), payoutRow("b", { unique_request_id: "key-2" }), payoutRow("c")]],
      {
        claims: {
          "payout:a": ["run-a"],
          "key:key-2": ["test", "run-b"],
          "payout:c": ["test"],
          "intent:1": ["test", "run-d"],
        },
      },
    );
    expect(matches.map(({ owner }) => owner)).toEqual([undefined, "run-a", "run-b"]);
    expect(concurrentRuns).toEqual(["run-d"]);
    expect(queries).toContainEqual(expect.stringMatching(/^PaymentIds = "key:key-2" AND /));
  });

  it.each([
    ["of another kind", { "4": ["run-a"], "card:4": ["run-a"], "beneficiary:4": ["run-b"] }],
    ["that is a key", { "4": ["run-a"], "key:4": ["run-a"] }],
  ])("takes no run for an owner that has the same id %s", async (_, claims) => {
    const { matches } = await find([[payoutRow("4")]], { claims });
    expect(matches).toMatchObject([{ id: "4", owner: undefined }]);
  });

  it("takes no run for the owner of a key that has it as an id", async () => {
    const { matches } = await find([[payoutRow("a", { unique_request_id: "4" })]], {
      claims: { "4": ["run-a"], "payout:4": ["run-a"] },
    });
    expect(matches).toMatchObject([{ id: "a", owner: undefined }]);
  });

  it("takes no run of another account for an owner: its ids are of another service's making", async () => {
    const { matches, queries } = await find([[payoutRow("17")]], {
      claims: { "payout:17": ["foreign-run"] },
    });
    expect(matches.map(({ owner }) => owner)).toEqual([undefined]);
    expect(queries.at(-1)).toMatch(
      /^PaymentIds = "payout:17" AND PaymentAccount = "[0-9a-f]{16}"$/,
    );
  });

  it("asks who may have made it before it asks who owns it: such a run may be an owner by then", async () => {
    const { queries } = await find([[payoutRow("a")]]);
    expect(queries.map((query) => query.split(" AND ")[0])).toEqual([
      'PaymentIds = "intent:1"',
      'PaymentIds = "payout:a"',
    ]);
  });

  it("asks for ids as ids, whatever the service put into them", async () => {
    const { queries } = await find([[payoutRow('a" OR PaymentIds = "b')]]);
    expect(queries).toContainEqual(
      expect.stringMatching(
        /^PaymentIds = "payout:a\\" OR PaymentIds = \\"b" AND PaymentAccount = "\w+"$/,
      ),
    );
  });

  it("is tried again when the list cannot be read", async () => {
    service = await startRawService(() => ({ status: 502, body: "<html>" }));
    const made = activitiesFor(service.url);
    ({ close } = made);
    const running = run(made.activities.findPayouts, {
      request: payout,
      since,
      intentMark,
      step,
      keys,
    });
    expect(await failureOf(running)).toMatchObject({ type: "OutcomeUnknown", nonRetryable: false });
  });
});

describe("findCardholders", () => {
  it("finds those of the same name that were created since, on every page, and their owners", async () => {
    const activities = await overPages([
      [cardholderRow("new"), cardholderRow("other-first", { first_name: "Grace" })],
      [
        cardholderRow("older", { create_time: minutesAfter(-60) }),
        cardholderRow("other-last", { last_name: "Hopper" }),
      ],
      [cardholderRow("slow-clock", { create_time: minutesAfter(-4) })],
    ]);
    const { client } = clientWith({ "cardholder:new": ["run-a"], "intent:1": ["run-b"] });
    const sent = { request: cardholder, since, intentMark, step };
    const found = await run(activities.findCardholders, sent, {}, { client });
    expect(found.items.map(({ card_holder_id }) => card_holder_id)).toEqual(["slow-clock", "new"]);
    expect(found.matches.map(({ owner }) => owner)).toEqual([undefined, "run-a"]);
    expect(found.concurrentRuns).toEqual(["run-b"]);
  });

  it("are no other run's where that has a card of the same id", async () => {
    const activities = await overPages([[cardholderRow("4")]]);
    const { client } = clientWith({ "4": ["run-a"], "card:4": ["run-a"] });
    const sent = { request: cardholder, since, intentMark, step };
    const { matches } = await run(activities.findCardholders, sent, {}, { client });
    expect(matches).toMatchObject([{ id: "4", isExact: true, owner: undefined }]);
  });
});
