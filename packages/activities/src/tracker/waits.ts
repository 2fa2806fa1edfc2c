import type { Assumptions, Cardholder, Page, Payout } from "@durable-payments/api-core";
import type { JsonObject, Wait } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { ActivityNotFoundError } from "@temporalio/client";
import { Effect } from "effect";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import type { Call } from "../run-operation.ts";
import {
  intervalMs,
  LONGEST_TRACKER_REST_MS,
  notListed,
  orRemoved,
  readFunds,
  readPayout,
  type Seen,
  seenCardholder,
  seenPayout,
} from "../waits.ts";
import { type JanitorOptions, readRunState } from "./janitor.ts";

/** What the tracker needs to complete waits. */
interface WaitsOptions extends Pick<JanitorOptions, "account" | "client" | "ledger" | "warn"> {
  /** Calls the service; each is one request, or one page. */
  readonly call: <A>(call: Call<A>) => Promise<A>;
}

/** So few are read one by one. */
const FEW = 5;

/** Most single reads of one sweep: the others come next. */
const MOST_SINGLE = 25;

/** A list that takes long to read takes a fifth of the time at most. */
const REST = 4;

/** Reading who waits takes at most this share of the time. */
const SHARE_OF_TIME = 1 / 20;

/** So often it is asked whether the run of a long wait is open still. */
const RUN_CHECKED_EVERY_MS = 6 * 3_600_000;

interface Tracked extends Wait {
  /** When it was read last. */
  polledAt: number;
  /** When its run was seen open last. */
  runSeenAt: number;
}

const keyOf = ({ activityId, runId, workflowId }: Wait): string =>
  JSON.stringify([workflowId, runId, activityId]);

/** Before the read: one that always fails is not read again at once, and keeps no other waiting. */
const markPolled = (waits: ReadonlyArray<Tracked>): void => {
  for (const wait of waits) wait.polledAt = Date.now();
};

/** Waits of an account by the ledger: reads what is due at the service, and completes the activities of what has ended. */
export class Waits {
  readonly #options: WaitsOptions;
  #waits = new Map<string, Tracked>();
  #readAt = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  #cardholdersFrom = 0;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waits.size;
  }

  /**
   * Reads what is due, and completes what has ended.
   *
   * @throws LedgerUnavailable; what `call` throws, after everything that could be completed was.
   */
  async sweep(): Promise<void> {
    await this.#refresh();
    await this.#sweepPayouts();
    await this.#sweepCardholders();
    await this.#sweepBalances();
    await this.#forgetClosedRuns();
  }

  async #refresh(): Promise<void> {
    const { account, ledger } = this.#options;
    const began = Date.now();
    if (began - this.#readAt < this.#tookMs / SHARE_OF_TIME) return;
    const known = this.#waits;
    this.#waits = new Map();
    for (const wait of await ledger.waits({ account, isOpen: true })) {
      // Its own first look was one.
      const { polledAt = wait.since, runSeenAt = began } = known.get(keyOf(wait)) ?? {};
      this.#waits.set(keyOf(wait), { ...wait, polledAt, runSeenAt });
    }
    this.#readAt = began;
    this.#tookMs = Date.now() - began;
  }

  /** What is to be read now, by what is waited for; the one that was read longest ago first. */
  #due(kind: Wait["kind"]): ReadonlyMap<string, ReadonlyArray<Tracked>> {
    const now = Date.now();
    const due = [...this.#waits.values()]
      .filter((wait) => wait.kind === kind)
      .filter(
        ({ polledAt, since }) =>
          now - polledAt >= intervalMs(Math.max(0, polledAt - since), LONGEST_TRACKER_REST_MS),
      )
      .toSorted((one, other) => one.polledAt - other.polledAt);
    return Map.groupBy(due, ({ thing }) => thing);
  }

  async #sweepPayouts(): Promise<void> {
    const unread = new Map(this.#due("payout"));
    const { call } = this.#options;
    // A page is worth its request while it shows more than one of those that are due.
    for (let page_num = 1, shown = 2; unread.size > FEW && shown > 1; page_num++) {
      ({ shown } = await this.#readPage<Payout>(
        unread,
        (client) => client.listPayouts({ page_num, page_size: PAGE_SIZE }),
        (payout) => payout.payout_id,
        (payout, assumptions) => seenPayout({ payout_id: payout.payout_id }, payout, assumptions),
      ));
    }
    for (const [payout_id, waits] of [...unread].slice(0, MOST_SINGLE)) {
      markPolled(waits);
      await this.#seen(waits, await call((client) => readPayout(client, { payout_id })));
    }
  }

  async #sweepCardholders(): Promise<void> {
    const began = Date.now();
    if (began < this.#cardholdersFrom) return;
    const unread = new Map(this.#due("cardholder"));
    const { account, ledger } = this.#options;
    for (let page_num = 1, isLast = false; unread.size > 0 && !isLast; page_num++) {
      const { page } = await this.#readPage<Cardholder>(
        unread,
        (client) => client.listCardholders({ page_num, page_size: PAGE_SIZE }),
        (cardholder) => cardholder.card_holder_id,
        seenCardholder,
      );
      isLast =
        page.item_list.length + page.unreadable.length === 0 ||
        page_num >= (page.total_page ?? Number.POSITIVE_INFINITY);
    }
    for (const [card_holder_id, waits] of unread) {
      await this.#seen(waits, await orRemoved(ledger, account, notListed(card_holder_id)));
    }
    this.#cardholdersFrom = Date.now() + REST * (Date.now() - began);
  }

  /** Reads a page of a list, and takes what it shows out of what is unread: `shown` counts that. */
  async #readPage<Item>(
    unread: Map<string, ReadonlyArray<Tracked>>,
    read: Call<Page<Item>>,
    idOf: (item: Item) => string,
    seenOf: (item: Item, assumptions: Assumptions) => Seen<object>,
  ): Promise<{ readonly page: Page<Item>; readonly shown: number }> {
    const { assumptions, page } = await this.#options.call((client) =>
      Effect.map(read(client), (answer) => ({
        page: answer,
        assumptions: client.options.assumptions,
      })),
    );
    let shown = 0;
    for (const item of page.item_list) {
      const waits = unread.get(idOf(item));
      if (waits === undefined) continue;
      shown += 1;
      unread.delete(idOf(item));
      await this.#seen(waits, seenOf(item, assumptions));
    }
    return { page, shown };
  }

  async #sweepBalances(): Promise<void> {
    for (const [thing, waits] of this.#due("balance")) {
      const [currency = "", amount = ""] = thing.split(" ");
      markPolled(waits);
      const seen = await this.#options.call((client) => readFunds(client, { currency, amount }));
      await this.#seen(waits, seen);
    }
  }

  async #seen(waits: ReadonlyArray<Tracked>, { isOpen, seen }: Seen<object>): Promise<void> {
    markPolled(waits);
    for (const wait of waits) {
      // What was seen is plain JSON.
      if (!isOpen) await this.#complete(wait, { ...seen });
    }
  }

  /** By workflow id alone: the activity's id names what it waits for, and a reset keeps it in another run. */
  async #complete(wait: Tracked, result: JsonObject): Promise<void> {
    const { activityId, workflowId } = wait;
    const { client, warn } = this.#options;
    try {
      await client.activity.complete({ workflowId, activityId }, result);
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) {
        // It stays, and is due again: it keeps none of the others waiting.
        return warn(
          `${activityId} of ${workflowId} could not be completed: ${temporalReason(error)}`,
        );
      }
    }
    await this.#forget(wait, result);
  }

  async #forget(wait: Tracked, outcome: JsonObject): Promise<void> {
    await this.#options.ledger.closeWait(wait, outcome);
    this.#waits.delete(keyOf(wait));
  }

  /** A terminated run ends no wait of its own. */
  async #forgetClosedRuns(): Promise<void> {
    const now = Date.now();
    for (const wait of this.#waits.values()) {
      if (now - Math.max(wait.runSeenAt, wait.since) < RUN_CHECKED_EVERY_MS) continue;
      wait.runSeenAt = now;
      const state = await readRunState(this.#options.client, wait.workflowId);
      if (state !== "open") await this.#forget(wait, { outcome: "runEnded" });
    }
  }
}
