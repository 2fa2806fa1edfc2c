import type { ClientSettings, Payout } from "@durable-payments/api-core";
import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import type { Info } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { afterEach } from "vitest";
import { activitiesFor, environment, type Logged } from "./activities.ts";
import { cardholder, payout } from "./bodies.ts";
import { type RawService, startRawService, success } from "./raw-service.ts";

/** A row of a list, as the service writes it. */
export type Row = Readonly<Record<string, unknown>>;

/** When the run first meant to send what these tests reconcile. */
export const since = Date.parse("2026-11-20T12:00:00Z");

/** A time that many minutes after it, ISO 8601. */
export const minutesAfter = (minutes: number): string =>
  new Date(since + minutes * 60_000).toISOString();

/** A listed payout exactly like the one that is searched for, without a key. */
export const payoutRow = (payout_id: string, changes: Row = {}): Row => ({
  payout_id,
  payout_status: "processing",
  amount: "250.00",
  currency: "USD",
  beneficiary_id: "beneficiary-1",
  payout_reference: "Invoice 1",
  unique_request_id: "",
  create_time: minutesAfter(1),
  ...changes,
});

/** Rows that are somebody else's, each newer than the next. */
export const otherRows = (count: number, { from = 100, prefix = "other" } = {}): Array<Row> =>
  Array.from({ length: count }, (_, i) =>
    payoutRow(`${prefix}-${i}`, {
      beneficiary_id: "beneficiary-2",
      amount: "17.00",
      create_time: minutesAfter(from - i / 100),
    }),
  );

/** A listed cardholder exactly like the one that is searched for. */
export const cardholderRow = (card_holder_id: string, changes: Row = {}): Row => ({
  card_holder_id,
  card_holder_status: "PENDING",
  card_num: 0,
  first_name: "Ada",
  last_name: "Example",
  create_time: minutesAfter(1),
  ...changes,
});

/** Pages of 50 of these rows, with the totals that belong to them. */
export const pagesOf = (rows: ReadonlyArray<Row>) => (page_num: number) => ({
  total_item: rows.length,
  total_page: Math.ceil(rows.length / 50),
  item_list: rows.slice((page_num - 1) * 50, page_num * 50),
});

/** What the service's list answers: the data of the envelope, by page and by its how-manieth answer. */
export type List = (page_num: number, query: URLSearchParams) => unknown;

/** A service that answers a list, and activities over it. */
export interface Listing {
  readonly service: RawService;
  readonly logged: ReadonlyArray<Logged>;
  /** What the heartbeats carried, oldest first. */
  readonly heartbeats: ReadonlyArray<unknown>;
  /** The server's list of runs was asked these, oldest first. */
  readonly queries: ReadonlyArray<string>;
  readonly pagesRead: () => ReadonlyArray<number>;
  readonly findPayouts: (
    info?: Partial<Info>,
    seen?: ReadonlyArray<Payout>,
  ) => ReturnType<ReturnType<typeof activitiesFor>["activities"]["findPayouts"]>;
  readonly findCardholders: () => ReturnType<
    ReturnType<typeof activitiesFor>["activities"]["findCardholders"]
  >;
  readonly stop: () => Promise<void>;
}

/** Starts a service whose list says this. No run claims anything. */
export const startListing = async (
  list: List,
  {
    assumptions,
    journal,
    keys = ["key-1"],
  }: {
    assumptions?: ClientSettings["assumptions"];
    journal?: Partial<Journal>;
    keys?: ReadonlyArray<string>;
  } = {},
): Promise<Listing> => {
  const queryOf = (path: string) => new URL(path, "http://service").searchParams;
  const service = await startRawService(({ path }) => {
    const query = queryOf(path);
    return success(list(Number(query.get("page_num")), query));
  });
  const { activities, close } = activitiesFor(
    service.url,
    assumptions === undefined ? {} : { assumptions },
    { journal: { ...makeMemoryJournal(), ...journal } },
  );
  const logged: Array<Logged> = [];
  const heartbeats: Array<unknown> = [];
  const queries: Array<string> = [];
  async function* none({ query = "" }: { readonly query?: string } = {}) {
    queries.push(query);
  }
  const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
  // Of a client, only the list of workflows is asked for, for as long as the activity lasts.
  const client = { workflow: { list: none }, withAbortSignal } as unknown as Client;
  const sent = { since, intentMark: "intent:1" };
  const env = (info: Partial<Info> = {}) => {
    const made = environment(info, { client, logged });
    made.on("heartbeat", (details: unknown) => heartbeats.push(details));
    return made;
  };
  return {
    service,
    logged,
    heartbeats,
    queries,
    pagesRead: () => service.received.map(({ path }) => Number(queryOf(path).get("page_num"))),
    findPayouts: (info, seen) =>
      env(info).run(activities.findPayouts, {
        ...sent,
        request: payout,
        step: "createPayout",
        keys,
        ...(seen !== undefined && { seen }),
      }),
    findCardholders: () =>
      env().run(activities.findCardholders, {
        ...sent,
        request: cardholder,
        step: "createCardholder",
      }),
    stop: async () => {
      await close();
      await service.stop();
    },
  };
};

/** Starts services with lists, one at a time: each ends with its test, or as the next one starts. */
export const listings = (): typeof startListing => {
  let current: Listing | undefined;
  const stop = async (): Promise<void> => {
    await current?.stop();
    current = undefined;
  };
  afterEach(stop);
  return async (...given) => {
    await stop();
    current = await startListing(...given);
    return current;
  };
};
