import { openLedger } from "@durable-payments/ledger";
import { expect, it, test, vi } from "vitest";
import { InvalidInput } from "../../src/errors.ts";
import { planRepair } from "../../src/actions/retry/repair.ts";
import { Payments } from "../../src/payments/payments.ts";
import { readEvents } from "../../src/views/events.ts";
import { filterOf, filterText } from "../../src/views/list.ts";
import { readInstallation } from "../../src/payments/settings.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";

const access = { baseUrl: "http://localhost:1", clientId: "c", apiKey: "k" };
const ledger = await openLedger("memory");
await put(ledger, row({ workflowId: "payout/one" }));
const payments = new Payments(readInstallation({ ...access, ledger: "memory" }, {}, ledger));

const itemsOf = async (listed: AsyncIterable<unknown>): Promise<ReadonlyArray<unknown>> => {
  const items: Array<unknown> = [];
  for await (const item of listed) items.push(item);
  return items;
};

test.each<[object, string]>([
  [{ account: "unknown" }, "default"],
  [{ account: "" }, "account must be"],
  [{ currency: "eur" }, "currency must be three capital letters"],
  [{ since: Number.NaN }, "since must be a time"],
  [{ since: "2026-11-01" }, "since must be a time"],
  [{ until: new Date() }, "until must be a time"],
  [{ since: 5, until: 5 }, "until must be later than since"],
  [{ startedSince: 6, startedUntil: 5 }, "startedUntil must be later than startedSince"],
  [{ startedSince: Number.POSITIVE_INFINITY }, "startedSince must be a time"],
  [{ statuses: ["done"] }, "asking, approval"],
  [{ statuses: "failed" }, "statuses must be a list"],
  [{ statuses: [] }, "statuses must be a list"],
  [{ payee: "" }, "payee must be"],
  [{ payee: 5 }, "payee must be"],
  [{ paidsince: 5 }, "paidsince is unknown: use one of account"],
  [{ paidSince: 5 }, "since"],
  [[], "must be an object"],
])("the filter %j is refused by name, in each list and report", async (given, message) => {
  const filter = given as never;
  const asked = [payments.list(filter), payments.report(filter), itemsOf(payments.listAll(filter))];
  for (const one of asked) {
    const error: unknown = await one.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(InvalidInput);
    expect(error).toHaveProperty("message", expect.stringContaining(message));
  }
});

test("a repair is about its conditions in words: times and accounts as a person knows them", () => {
  const accounts = [{ name: "swiss", hash: "0123456789abcdef" }];
  const startedSince = Date.parse("2026-11-01T09:30:00Z");
  const filter = { step: "createCard", batch: undefined, account: "0123456789abcdef" };
  expect(filterText({ ...filter, startedSince, since: null }, accounts)).toBe(
    ", step createCard, account swiss, startedSince 2026-11-01 09:30 UTC",
  );
});

test("a retry that is planned names its payee: a part of a name may match several", async () => {
  const ledger = await openLedger("memory");
  const payees = { "b-2": "Muster AG", "b-3": "Muster GmbH" };
  for (const [payee, shown] of Object.entries(payees)) {
    const workflowId = `payout/to-${payee}`;
    const refused = row({ workflowId, state: "refused" });
    await put(ledger, { ...refused, request: { ...refused.request, payee } });
    await ledger.rememberPayees(ACCOUNT, [{ payee, mark: null, shown }]);
    const end = { endState: "failed", endedAt: 2, endType: "Refused", endReason: "no" } as const;
    await ledger.recordEnds([{ workflowId, runId: "run-1", ...end }]);
  }
  const filter = await filterOf(ledger, { payee: "muster" });
  const { retries } = await planRepair({ ledger, client: undefined }, filter, { by: "ada" });
  expect(new Set(retries.map(({ payee, payeeName }) => `${payee} ${payeeName}`))).toEqual(
    new Set(["b-2 Muster AG", "b-3 Muster GmbH"]),
  );
});

test("a reader that has ended gets no further event of the page that was read", async () => {
  const stop = new AbortController();
  const ledger = await openLedger("memory");
  for (const workflowId of ["payout/1", "payout/2"]) await put(ledger, row({ workflowId }));
  const page = async () => ledger.events(ACCOUNT);
  const [first] = await page();
  const seen: Array<string> = [];
  for await (const { id } of readEvents(page, { isFollowed: true, signal: stop.signal })) {
    seen.push(id);
    stop.abort();
  }
  expect(seen).toEqual([first?.id]);
});

it("a list and the events begin again with each loop", async () => {
  const listed = payments.listAll();
  for (const _ of [1, 2])
    expect(await itemsOf(listed)).toMatchObject([{ workflowId: "payout/one" }]);
  const read = vi.spyOn(ledger, "events");
  const events = payments.events();
  for (const _ of [1, 2]) await itemsOf(events);
  expect(read).toHaveBeenCalledTimes(2);
});

test.each<[string, () => Promise<unknown>]>([
  ["limit: NaN", () => payments.list({}, { limit: Number.NaN })],
  ["limit: -1", () => payments.list({}, { limit: -1 })],
  ["limit: 1.5 of all", () => itemsOf(payments.listAll({}, { limit: 1.5 }))],
  ["limit: NaN of batches", () => payments.batches({ limit: Number.NaN })],
  ["limit: Infinity", () => payments.list({}, { limit: Number.POSITIVE_INFINITY })],
  ["limit: 1e30 of batches", () => payments.batches({ limit: 1e30 })],
  ["after: empty", () => payments.list({}, { after: {} as never })],
  ["after: no id", () => payments.list({}, { after: { key: 5, workflowId: 7 as never } })],
  [
    "after, of another order",
    () => payments.list({}, { sort: "amount", after: { key: 5, workflowId: "a" } }),
  ],
  ["sort", () => payments.list({}, { sort: "payee" as never })],
  ["unknown field of a page", () => payments.list({}, { offset: 5 } as never)],
  ["by: payees", () => payments.report({}, "payees" as never)],
  ["by: empty", () => payments.report({}, "" as never)],
])("a wrong page or grouping is refused: %s", async (_, ask) => {
  await expect(ask()).rejects.toThrow(InvalidInput);
});

it("a report has the payments of 30 days by default, and says its period", async () => {
  const before = Date.now();
  const { since, until, totals } = await payments.report();
  expect(since).toBeGreaterThanOrEqual(before - 30 * 86_400_000);
  expect(until).toBeNull();
  expect(totals).toMatchObject([{ currency: "EUR" }]);
  expect(await payments.report({ since: null })).toMatchObject({ since: null, totals });
  const day = 86_400_000;
  const old = await payments.report({ until: day });
  expect(old).toMatchObject({ since: -29 * day, until: day, totals: [] });
  // The totals of a list have all payments, unless it is asked for some.
  expect(await payments.list()).toMatchObject({ totals });
  expect(await payments.list({ since: undefined })).toMatchObject({ totals });
  expect(await payments.list({ until: day })).toMatchObject({ runs: [], totals: [] });
});

test.each<[string, () => Promise<unknown>, string]>([
  ["an unknown field", () => itemsOf(payments.events({ from: "x" } as never)), "from is unknown"],
  ["no id", () => itemsOf(payments.events({ after: "" })), 'an event: "" is invalid'],
  ["another text", () => itemsOf(payments.events({ after: "evt_x" })), '"evt_x" is invalid'],
  [
    "the first one",
    () => payments.upkeep.redeliver({ from: "" }),
    'from must be the id of an event: "" is invalid. Nothing was changed.',
  ],
  ["the last one", () => payments.upkeep.redeliver({ to: "x" }), "to must be the id of an event"],
  [
    "a field of another",
    () => payments.upkeep.redeliver({ after: "x" } as never),
    "after is unknown",
  ],
])("events are chosen by ids of events: %s is refused", async (_, ask, message) => {
  const error: unknown = await ask().catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(InvalidInput);
  expect(error).toHaveProperty("message", expect.stringContaining(message));
});
