import type { Assumptions, Cardholder, Page, Payout } from "@durable-payments/api-core";
import type { JsonObject, RecordedWait, Wait } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { ActivityNotFoundError } from "@temporalio/client";
import { Effect } from "effect";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import type { Call } from "../run-operation.ts";
import {
  intervalMs,
  LONGEST_TRACKER_REST_MS,
  notListed,
  readFunds,
  readPayout,
  type Seen,
  seenCardholder,
  seenPayout,
  withSent,
} from "../waits.ts";
import { isPaymentsError, withReason } from "../write/outcomes.ts";
import { type JanitorOptions, readRunState } from "./janitor.ts";

/** Dependencies of the waits of the tracker. */
interface WaitsOptions extends Pick<JanitorOptions, "account" | "client" | "ledger" | "warn"> {
  /** Calls the service; each is one request, or one page. */
  readonly call: <A>(call: Call<A>) => Promise<A>;
}

/** Up to this number of waits is read one by one. */
const FEW = 5;

/** Most single reads of one sweep: the others come next. */
const MOST_SINGLE = 25;

/** Failures that concern one item only: the service itself can be read. */
const OF_ONE: ReadonlySet<string> = new Set(["Refused", "InvalidRequest", "UnexpectedAnswer"]);

/** Reading a slow list takes at most a fifth of the time. */
const REST = 4;

/** Reading who waits takes at most this share of the time. */
const SHARE_OF_TIME = 1 / 20;

/** How often the run of a long wait is checked to be still open. */
const RUN_CHECKED_EVERY_MS = 6 * 3_600_000;

interface Tracked extends RecordedWait {
  /** When it was read last. */
  polledAt: number;
  /** When its run was seen open last. */
  runSeenAt: number;
}

const keyOf = ({ activityId, runId, workflowId }: Wait): string =>
  JSON.stringify([workflowId, runId, activityId]);

/** A service may answer the page after the last one with an error. */
const isLastPage = ({ item_list, total_page, unreadable }: Page<object>, page_num: number) =>
  item_list.length + unreadable.length === 0 ||
  page_num >= (total_page ?? Number.POSITIVE_INFINITY);

/** Set before the read, so that a read that always fails does not delay others. */
const markPolled = (waits: ReadonlyArray<Tracked>): void => {
  for (const wait of waits) wait.polledAt = Date.now();
};

/** Waits of an account in the ledger: reads due objects at the service, and completes the activities of ended waits. */
export const waitsOf = ({ account, call, client, ledger, warn }: WaitsOptions) => {
  let all = new Map<string, Tracked>();
  let lastReadAt = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  let cardholdersFrom = 0;

  const refresh = async (): Promise<void> => {
    const began = Date.now();
    if (began - lastReadAt < tookMs / SHARE_OF_TIME) return;
    // If it cannot be read, the waits that are known stay.
    const open = await ledger.waits({ account, isOpen: true });
    const known = all;
    all = new Map();
    for (const wait of open) {
      // Its own first look was one. The ledger's clock may be ahead of ours: that makes no wait later.
      const { polledAt = Math.min(wait.since, began), runSeenAt = began } =
        known.get(keyOf(wait)) ?? {};
      all.set(keyOf(wait), { ...wait, polledAt, runSeenAt });
    }
    lastReadAt = began;
    tookMs = Date.now() - began;
  };

  /** The due waits by their object, the longest unread first. */
  const dueOf = (kind: Wait["kind"]): ReadonlyMap<string, ReadonlyArray<Tracked>> => {
    const now = Date.now();
    const due = [...all.values()]
      .filter((wait) => wait.kind === kind)
      .filter(
        ({ polledAt, since }) =>
          now - polledAt >= intervalMs(Math.max(0, polledAt - since), LONGEST_TRACKER_REST_MS),
      )
      .toSorted((one, other) => one.polledAt - other.polledAt);
    return Map.groupBy(due, ({ thing }) => thing);
  };

  const sweepPayouts = async (): Promise<void> => {
    const unread = new Map(dueOf("payout"));
    // A page is worth its request if it shows more than one due item.
    for (let page_num = 1, isLast = false; unread.size > FEW && !isLast; page_num++) {
      const { page, shown } = await readPage<Payout>(
        unread,
        (client) => client.listPayouts({ page_num, page_size: PAGE_SIZE }),
        (payout) => payout.payout_id,
        async (payout, assumptions) => {
          const { payout_id } = payout;
          // Its age is read only if it may have ended.
          const found = seenPayout(
            { payout_id, knownForMs: Infinity },
            payout,
            assumptions,
            new Map(),
          );
          return found.seen.outcome === "open"
            ? found
            : seenPayout(
                await withSent(ledger, account, payout_id),
                payout,
                assumptions,
                new Map(),
              );
        },
      );
      isLast = shown < 2 || isLastPage(page, page_num);
    }
    for (const [payout_id, waits] of [...unread].slice(0, MOST_SINGLE)) {
      await readOne(waits, (client) => readPayout(client, ledger, account, payout_id));
    }
  };

  const sweepCardholders = async (): Promise<void> => {
    const began = Date.now();
    if (began < cardholdersFrom) return;
    const unread = new Map(dueOf("cardholder"));
    for (let page_num = 1, isLast = false; unread.size > 0 && !isLast; page_num++) {
      const { page } = await readPage<Cardholder>(
        unread,
        (client) => client.listCardholders({ page_num, page_size: PAGE_SIZE }),
        (cardholder) => cardholder.card_holder_id,
        seenCardholder,
      );
      isLast = isLastPage(page, page_num);
    }
    for (const [card_holder_id, waits] of unread) {
      await endSeen(waits, await notListed(ledger, account, card_holder_id));
    }
    cardholdersFrom = Date.now() + REST * (Date.now() - began);
  };

  /** Reads a page of a list and removes its items from the unread ones: `shown` counts them. */
  const readPage = async <Item>(
    unread: Map<string, ReadonlyArray<Tracked>>,
    read: Call<Page<Item>>,
    idOf: (item: Item) => string,
    seenOf: (item: Item, assumptions: Assumptions) => Seen | Promise<Seen>,
  ): Promise<{ readonly page: Page<Item>; readonly shown: number }> => {
    const { assumptions, page } = await call((client) =>
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
      await endSeen(waits, await seenOf(item, assumptions));
    }
    return { page, shown };
  };

  /** Reads one item. If the service does not have it, the others are still read. */
  const readOne = async (waits: ReadonlyArray<Tracked>, read: Call<Seen>): Promise<void> => {
    markPolled(waits);
    try {
      await endSeen(waits, await call(read));
    } catch (error) {
      if (!isPaymentsError(error) || !OF_ONE.has(error._tag)) throw error;
      if (error._tag === "Refused") await noteProblem(waits, withReason(error));
      warn(`${waits.map(({ workflowId }) => workflowId).join(", ")}: ${error.message}`);
    }
  };

  const sweepBalances = async (): Promise<void> => {
    for (const [thing, waits] of dueOf("balance")) {
      const [currency = "", amount = ""] = thing.split(" ");
      await readOne(waits, (client) => readFunds(client, { currency, amount }));
    }
  };

  const endSeen = async (waits: ReadonlyArray<Tracked>, { seen }: Seen): Promise<void> => {
    markPolled(waits);
    if (seen.outcome === "open") return noteProblem(waits, null);
    for (const wait of waits) {
      // The result is plain JSON.
      await complete(wait, { ...seen });
    }
  };

  /** Lets people see that the service refuses to show the object of a wait. */
  const noteProblem = async (
    waits: ReadonlyArray<Tracked>,
    problem: string | null,
  ): Promise<void> => {
    for (const wait of waits) {
      if ((wait.outcome?.["problem"] ?? null) !== problem) await ledger.noteWait(wait, problem);
    }
  };

  /** By workflow id alone: the activity's id names the object of its wait, and a reset keeps it in another run. */
  const complete = async (wait: Tracked, result: JsonObject): Promise<void> => {
    const { activityId, workflowId } = wait;
    try {
      await client.activity.complete({ workflowId, activityId }, result);
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) {
        // It stays due, and does not delay the others.
        return warn(
          `${activityId} of ${workflowId} could not be completed: ${temporalReason(error)}`,
        );
      }
    }
    await forget(wait, result);
  };

  const forget = async (wait: Tracked, outcome: JsonObject): Promise<void> => {
    await ledger.closeWait(wait, outcome);
    all.delete(keyOf(wait));
  };

  /** A terminated run does not end its wait. */
  const forgetClosedRuns = async (): Promise<void> => {
    const now = Date.now();
    for (const wait of all.values()) {
      if (now - Math.max(wait.runSeenAt, wait.since) < RUN_CHECKED_EVERY_MS) continue;
      wait.runSeenAt = now;
      const state = await readRunState(client, wait.workflowId);
      if (state !== "open") await forget(wait, { outcome: "runEnded" });
    }
  };

  return {
    size: () => all.size,
    /** Reads the open waits of the ledger. */
    refresh,
    /** Parts of a sweep, which do not depend on each other. Each completes its due waits, and throws the error of `call`. */
    parts: {
      payouts: sweepPayouts,
      cardholders: sweepCardholders,
      balances: sweepBalances,
      "ended runs": forgetClosedRuns,
    },
  };
};
