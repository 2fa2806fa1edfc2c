import { getEventListeners } from "node:events";
import { Effect, Stream } from "effect";
import { describe, expect, it } from "vitest";
import { PaymentsClient } from "../src/effect.ts";
import { clientFor, failureOf, settingsFor } from "./support/client.ts";
import { type Answer, type Received, refusal, startServer, success } from "./support/server.ts";

const payout = (id: string) => ({
  payout_id: id,
  payout_status: "closed",
  amount: "1.00",
  currency: "USD",
});

/** Pages of payouts with these ids; a page that is not there is empty. */
const pages =
  (...lists: ReadonlyArray<ReadonlyArray<string>>): Answer =>
  ({ query }) =>
    success({
      total_item: lists.flat().length,
      total_page: lists.length,
      item_list: (lists[Number(query["page_num"]) - 1] ?? []).map(payout),
    });

const collect = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const all: Array<A> = [];
  for await (const item of items) all.push(item);
  return all;
};

const idsOf = async (answer: Answer) => {
  await using server = await startServer(answer);
  await using client = clientFor(server.url);
  const listed = await collect(client.streams.listPayouts());
  return {
    ids: listed.map(({ payout_id }) => payout_id),
    asked: server.requests.map(({ query }) => query["page_num"]),
  };
};

const queriesOf = (requests: ReadonlyArray<Received>) => requests.map(({ query }) => query);

describe("a list as a stream", () => {
  it("reads page after page, in order", async () => {
    expect(await idsOf(pages(["a", "b"], ["c", "d"], ["e"]))).toStrictEqual({
      ids: ["a", "b", "c", "d", "e"],
      asked: ["1", "2", "3"],
    });
  });

  it("shows once what new items pushed onto the next page", async () => {
    // What came in between stands before the first page: the next stream shows it.
    const growing: Answer = ({ query }) =>
      success(
        query["page_num"] === "1"
          ? { total_item: 3, total_page: 2, item_list: ["c", "b"].map(payout) }
          : { total_item: 4, total_page: 2, item_list: ["b", "a"].map(payout) },
      );
    expect(await idsOf(growing)).toMatchObject({ ids: ["c", "b", "a"] });
  });

  it.each([
    ["no items", pages([]), { ids: [], asked: ["1"] }],
    ["no items and no pages", pages(), { ids: [], asked: ["1"] }],
    ["one page", pages(["a"]), { ids: ["a"], asked: ["1"] }],
  ])("ends with %s", async (_, answer, expected) => {
    expect(await idsOf(answer)).toStrictEqual(expected);
  });

  it("passes filters on, and asks for the largest pages", async () => {
    await using server = await startServer(pages([]));
    await using client = clientFor(server.url);
    await collect(client.streams.listPayouts({ status: "closed", scope: "house_account" }));
    await collect(client.streams.listTransactions({ transaction_type: "fee" }));
    await collect(client.streams.listCardholders({ card_holder_status: 1 }));
    expect(queriesOf(server.requests)).toStrictEqual([
      { page_num: "1", page_size: "50", status: "closed", scope: "house_account" },
      { page_num: "1", page_size: "100", transaction_type: "fee" },
      { page_num: "1", page_size: "50", card_holder_status: "1" },
    ]);
  });

  it("begins again with each loop, after a failed one, too", async () => {
    await using server = await startServer((received, n) =>
      n === 0 ? refusal("not now") : pages(["a", "b"])(received, n),
    );
    await using client = clientFor(server.url);
    const listed = client.streams.listPayouts();
    expect(await failureOf(collect(listed))).toMatchObject({ reason: "not now" });
    for await (const { payout_id } of listed) {
      expect(payout_id).toBe("a");
      break;
    }
    for (const _ of [1, 2]) expect(await collect(listed)).toHaveLength(2);
    expect(server.requests).toHaveLength(4);
  });

  it("asks for no page that is not needed", async () => {
    await using server = await startServer(pages(["a", "b"], ["c"]));
    await using client = clientFor(server.url);
    const iterable = client.streams.listPayouts();
    expect(server.requests).toHaveLength(0);
    for await (const { payout_id } of iterable) {
      expect(payout_id).toBe("a");
      break;
    }
    expect(server.requests).toHaveLength(1);
  });

  it("fails with the error of the page that fails, after the items before it", async () => {
    await using server = await startServer((received, n) =>
      n === 0 ? pages(["a"], ["b"])(received, n) : refusal("no more"),
    );
    await using client = clientFor(server.url);
    const seen: Array<string> = [];
    const reading = async () => {
      for await (const { payout_id } of client.streams.listPayouts()) seen.push(payout_id);
    };
    expect(await failureOf(reading())).toMatchObject({
      _tag: "RequestRefused",
      operation: "listPayouts",
      reason: "no more",
    });
    expect(seen).toStrictEqual(["a"]);
  });

  it("refuses a wrong filter before it sends anything", async () => {
    await using server = await startServer(pages([]));
    await using client = clientFor(server.url);
    const wrong = client.streams.listTransactions({ start: 2, end: 1 });
    expect(await failureOf(collect(wrong))).toMatchObject({
      _tag: "InvalidRequest",
      faults: [{ field: "end", problem: "must not be before start" }],
    });
    expect(server.connections()).toBe(0);
  });

  it.each<[string, Answer, string]>([
    ["an empty page", pages(["a", "b"], [], ["c"]), "2 of 3 items"],
    [
      "a list that is empty",
      () => success({ total_item: 7, total_page: 1, item_list: [] }),
      "0 of 7",
    ],
    [
      "a list that is null",
      () => success({ total_item: 7, total_page: 1, item_list: null }),
      "0 of 7",
    ],
    ["no list", () => success({ total_item: 7, total_page: 1 }), "0 of 7"],
    [
      "the same page again",
      () => success({ total_item: 3, total_page: 3, item_list: [payout("a")] }),
      "1 of 3",
    ],
    [
      "a later page that says less",
      ({ query }) =>
        success(
          query["page_num"] === "1"
            ? { total_item: 3, total_page: 2, item_list: [payout("a")] }
            : { total_item: 0, total_page: 0, item_list: [] },
        ),
      "1 of 3",
    ],
  ])(
    "fails, and does not end, if fewer items came than there are: %s",
    async (_, answer, count) => {
      const error = await failureOf(idsOf(answer));
      expect(error).toMatchObject({
        _tag: "UnexpectedAnswer",
        operation: "listPayouts",
        carriedOut: "no",
      });
      expect(error.message).toContain(count);
    },
  );

  it.each<[string, object, ReadonlyArray<string>]>([
    [
      "the same page again and all items",
      { total_item: 1, total_page: 2, item_list: [payout("a")] },
      ["a"],
    ],
    ["no totals", { item_list: [payout("a")] }, ["a"]],
  ])("ends after %s", async (_, data, ids) => {
    expect((await idsOf(() => success(data))).ids).toStrictEqual(ids);
  });

  it("asks for no page after the last one because of a row that cannot be read", async () => {
    const odd = success({
      total_item: 2,
      total_page: 1,
      item_list: [payout("a"), { amount: "1" }],
    });
    expect(await idsOf(() => odd)).toEqual({ ids: ["a"], asked: ["1"] });
  });

  it("leaves out a row that cannot be read, and no other", async () => {
    const rows = [payout("a"), { ...payout("b"), payout_id: null }, "junk", payout("c")];
    const answer = () => success({ total_item: 4, total_page: 1, item_list: rows });
    expect((await idsOf(answer)).ids).toStrictEqual(["a", "c"]);
  });

  it("after the client is closed fails, and sends nothing", async () => {
    await using server = await startServer(pages(["a"]));
    await using client = clientFor(server.url);
    await client.close();
    expect(await failureOf(collect(client.streams.listPayouts()))).toMatchObject({
      _tag: "Unavailable",
      carriedOut: "no",
    });
    expect(server.connections()).toBe(0);
  });
});

describe("a signal", () => {
  const reason = new Error("enough");

  it("that is aborted already: nothing is sent", async () => {
    await using server = await startServer(pages(["a"]));
    await using client = clientFor(server.url);
    const signal = AbortSignal.abort(reason);
    await expect(collect(client.streams.listPayouts({}, { signal }))).rejects.toBe(reason);
    expect(server.connections()).toBe(0);
  });

  it("closes the request of a page that does not come", async () => {
    await using server = await startServer(() => () => undefined);
    await using client = clientFor(server.url);
    const controller = new AbortController();
    const reading = collect(client.streams.listPayouts({}, { signal: controller.signal }));
    await Promise.all([
      expect(reading).rejects.toBe(reason),
      server.received(1).then(() => controller.abort(reason)),
    ]);
    await server.closedByClient(1);
    expect(server.requests).toHaveLength(1);
  });

  it("shows no item after the abort, not even of a page that was read", async () => {
    await using server = await startServer(pages(["a", "b"], ["c"]));
    await using client = clientFor(server.url);
    const controller = new AbortController();
    const seen: Array<string> = [];
    const reading = async () => {
      for await (const { payout_id } of client.streams.listPayouts(
        {},
        { signal: controller.signal },
      )) {
        seen.push(payout_id);
        controller.abort(reason);
      }
    };
    await expect(reading()).rejects.toBe(reason);
    expect(seen).toStrictEqual(["a"]);
    expect(server.requests).toHaveLength(1);
  });

  it("keeps no listener when the stream has ended", async () => {
    await using server = await startServer(pages(["a"]));
    await using client = clientFor(server.url);
    const { signal } = new AbortController();
    await collect(client.streams.listPayouts({}, { signal }));
    expect(getEventListeners(signal, "abort")).toStrictEqual([]);
  });
});

it("has the filters of its call: a program may change the object afterwards", async () => {
  await using server = await startServer(pages([]));
  await using client = clientFor(server.url);
  const filters: { scope?: "clients_account" } = { scope: "clients_account" };
  const listed = client.streams.listPayouts(filters);
  delete filters.scope;
  for (const _ of [1, 2]) await collect(listed);
  expect(queriesOf(server.requests)).toMatchObject([
    { scope: "clients_account" },
    { scope: "clients_account" },
  ]);
});

describe("page by page", () => {
  it("is the plain operation", async () => {
    await using server = await startServer(pages(["a"], ["b"]));
    await using client = clientFor(server.url);
    expect(await client.listPayouts({ page_num: 2, page_size: 1 })).toMatchObject({
      total_item: 2,
      total_page: 2,
      item_list: [{ payout_id: "b" }],
    });
    expect(queriesOf(server.requests)).toStrictEqual([{ page_num: "2", page_size: "1" }]);
  });
});

it("is a Stream of Effect, too, which stops when enough is taken", async () => {
  await using server = await startServer(pages(["a", "b"], ["c", "d"], ["e"]));
  const taken = await PaymentsClient.use((client) =>
    client.streams.listPayouts().pipe(
      Stream.map(({ payout_id }) => payout_id),
      Stream.take(3),
      Stream.runCollect,
    ),
  ).pipe(Effect.provide(PaymentsClient.layer(settingsFor(server.url))), Effect.runPromise);
  expect(taken).toStrictEqual(["a", "b", "c"]);
  expect(server.requests).toHaveLength(2);
});
