/**
 * Follows what the service has not decided yet: each payout of the ledger whose outcome is not known, and each cardholder
 * and balance that a run waits for.
 *
 * A payout is followed, and not the wait for it. Its run may have been cancelled, terminated or lost with Temporal's
 * database, or may never have waited: the money moves all the same, and reports state the outcome. So a run that waits
 * for a payout is one more reader of the same look: the ledger records what was seen, and then the wait is completed.
 *
 * | payouts a second | open for three days | a minute |
 * |---|---|---|
 * | 0.1 | 26,000 | 520 pages of the list, one after another; a payout without a waiting run once an hour |
 * | 10, 100 | 2.6 and 26 million | too many for reading the whole list again and again |
 */
import {
  isPaymentsError,
  type Assumptions,
  type Cardholder,
  type Page,
  type Payout,
} from "@durable-payments/client/effect";
import type { JsonObject, RecordedWait, RecordedWrite, Wait } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { ActivityNotFoundError } from "@temporalio/client";
import { Effect } from "effect";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import type { Words } from "../payout-status.ts";
import { type ClientCall, LAST } from "../run-operation.ts";
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
import { withReason } from "../write/outcomes.ts";
import type { JanitorOptions } from "./janitor.ts";

/** Dependencies of the part of the tracker that follows payouts and waits. */
interface FollowOptions extends Pick<JanitorOptions, "account" | "client" | "ledger" | "warn"> {
  /** Calls the service; each is one request, or one page. */
  readonly call: <A>(call: ClientCall<A>) => Promise<A>;
}

/** Up to this number of objects is read one by one. */
const FEW = 5;

/** Most single reads of one sweep: the others come next. */
const MOST_SINGLE = 25;

/** Failures that concern one item only: the service itself can be read. */
const OF_ONE: ReadonlySet<string> = new Set([
  "RequestRefused",
  "InvalidRequest",
  "UnexpectedAnswer",
]);

/** Reading a slow list takes at most a fifth of the time. */
const REST = 4;

/** Reading the ledger takes at most this share of the time. */
const SHARE_OF_TIME = 1 / 20;

/** Longest interval of reads of a payout that no run waits for. */
const LONGEST_REST_WITHOUT_RUN_MS = 3_600_000;

/** An object of the service that is followed. */
interface Followed {
  readonly kind: Wait["kind"];
  readonly thing: string;
  readonly since: number;
  /** A payout of the ledger whose outcome is not known. */
  readonly payout: RecordedWrite | undefined;
  /** The open waits of runs for it: none if the run of a payout has ended, or never waited. */
  readonly waits: ReadonlyArray<RecordedWait>;
  /** When it was read last. */
  polledAt: number;
  /** Since when the service has refused to show it, each time. */
  refusedSince: number | undefined;
}

const keyOf = ({ kind, thing }: Pick<Followed, "kind" | "thing">): string => `${kind} ${thing}`;

/** A service may respond to the page after the last one with an error. */
const isLastPage = ({ item_list, total_page, unreadable }: Page<object>, page_num: number) =>
  item_list.length + unreadable.length === 0 ||
  page_num >= (total_page ?? Number.POSITIVE_INFINITY);

/**
 * Follows the objects of an account: reads due ones at the service, records what is seen, and completes the activities
 * of waits.
 */
export const follow = ({ account, call, client, ledger, warn }: FollowOptions) => {
  let all = new Map<string, Followed>();
  let words: Words = new Map();
  let lastReadAt = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  let cardholdersFrom = 0;

  const refresh = async (): Promise<void> => {
    const began = Date.now();
    if (began - lastReadAt < tookMs / SHARE_OF_TIME) return;
    // If it cannot be read, those that are known stay.
    const [waits, payouts, decided] = await Promise.all([
      ledger.waits({ account, isOpen: true }),
      ledger.openPayouts(account),
      ledger.words(account),
    ]);
    const found = [
      ...payouts.map((payout) => ({
        kind: "payout" as const,
        thing: payout.madeId ?? "",
        since: payout.changedAt,
        payout,
        wait: undefined,
      })),
      ...waits.map((wait) => ({
        kind: wait.kind,
        thing: wait.thing,
        since: wait.since,
        payout: undefined,
        wait,
      })),
    ];
    const known = all;
    const now = new Map<string, Followed>();
    for (const [key, some] of Map.groupBy(found, keyOf)) {
      const [first] = some;
      if (first === undefined) continue;
      const since = Math.min(...some.map((one) => one.since));
      // Its own first look was one. The ledger's clock may be ahead of ours: that makes no read later.
      const { polledAt = Math.min(since, began), refusedSince } = known.get(key) ?? {};
      now.set(key, {
        kind: first.kind,
        thing: first.thing,
        since,
        payout: first.payout,
        waits: some.flatMap(({ wait }) => wait ?? []),
        polledAt,
        refusedSince,
      });
    }
    all = now;
    words = decided;
    lastReadAt = began;
    tookMs = Date.now() - began;
  };

  /** The due objects, the longest unread first. */
  const dueOf = (kind: Wait["kind"]): Map<string, Followed> => {
    const now = Date.now();
    const isDue = ({ polledAt, since, waits }: Followed): boolean => {
      const longest = waits.length > 0 ? LONGEST_TRACKER_REST_MS : LONGEST_REST_WITHOUT_RUN_MS;
      return now - polledAt >= intervalMs(Math.max(0, polledAt - since), longest);
    };
    const due = [...all.values()]
      .filter((one) => one.kind === kind && isDue(one))
      .toSorted((one, other) => one.polledAt - other.polledAt);
    return new Map(due.map((one) => [one.thing, one]));
  };

  const sweepPayouts = async (): Promise<void> => {
    const unread = dueOf("payout");
    // A page is worth its request if it shows more than one due item.
    for (let page_num = 1, isLast = false; unread.size > FEW && !isLast; page_num++) {
      const { page, shown } = await readPage<Payout>(
        unread,
        (client) => client.listPayouts({ page_num, page_size: PAGE_SIZE }, LAST),
        (payout) => payout.payout_id,
        seenInList,
      );
      isLast = shown < 2 || isLastPage(page, page_num);
    }
    for (const [payout_id, one] of [...unread].slice(0, MOST_SINGLE)) {
      await readOne(one, (client) => readPayout(client, ledger, account, payout_id));
    }
  };

  /** Records what the list shows of a payout. Most are as they were, so the ledger is asked only about the others. */
  const seenInList = async (
    payout: Payout,
    assumptions: Assumptions,
    { payout: known }: Followed,
  ) => {
    const { payout_id } = payout;
    const first = seenPayout({ payout_id, knownForMs: Infinity }, payout, assumptions, words);
    const { asks, isUnlisted = false, outcome, word } = first.status;
    const mayHaveEnded = asks || outcome !== null;
    const sent = mayHaveEnded ? await withSent(ledger, account, payout_id) : undefined;
    const seen = sent === undefined ? first : seenPayout(sent, payout, assumptions, words);
    const isKnown =
      known?.word === word &&
      known.problem === null &&
      (known.wordUnlisted ?? false) === isUnlisted;
    if (mayHaveEnded || !isKnown) {
      await ledger.sawPayout(account, payout_id, seen.status, sent?.row);
    }
    return seen;
  };

  const sweepCardholders = async (): Promise<void> => {
    const began = Date.now();
    if (began < cardholdersFrom) return;
    const unread = dueOf("cardholder");
    for (let page_num = 1, isLast = false; unread.size > 0 && !isLast; page_num++) {
      const { page } = await readPage<Cardholder>(
        unread,
        (client) => client.listCardholders({ page_num, page_size: PAGE_SIZE }, LAST),
        (cardholder) => cardholder.card_holder_id,
        seenCardholder,
      );
      isLast = isLastPage(page, page_num);
    }
    for (const [card_holder_id, one] of unread) {
      await endSeen(one, await notListed(ledger, account, card_holder_id));
    }
    cardholdersFrom = Date.now() + REST * (Date.now() - began);
  };

  /** Reads a page of a list and removes its items from the unread ones: `shown` counts them. */
  const readPage = async <Item>(
    unread: Map<string, Followed>,
    read: ClientCall<Page<Item>>,
    idOf: (item: Item) => string,
    seenOf: (item: Item, assumptions: Assumptions, of: Followed) => Seen | Promise<Seen>,
  ): Promise<{ readonly page: Page<Item>; readonly shown: number }> => {
    const { assumptions, page } = await call((client) =>
      Effect.map(read(client), (answer) => ({
        page: answer,
        assumptions: client.options.assumptions,
      })),
    );
    let shown = 0;
    for (const item of page.item_list) {
      const one = unread.get(idOf(item));
      if (one === undefined) continue;
      shown += 1;
      unread.delete(idOf(item));
      await endSeen(one, await seenOf(item, assumptions, one));
    }
    return { page, shown };
  };

  /** Reads one item. If the service does not have it, the others are still read. */
  const readOne = async (one: Followed, read: ClientCall<Seen>): Promise<void> => {
    // Before the read, so that a read that always fails does not delay others.
    one.polledAt = Date.now();
    try {
      await endSeen(one, await call(read));
    } catch (error) {
      if (!isPaymentsError(error) || !OF_ONE.has(error._tag)) throw error;
      warn(`${keyOf(one)}: ${error.message}`);
      await noteRefused(one, withReason(error));
    }
  };

  const sweepBalances = async (): Promise<void> => {
    for (const [thing, one] of dueOf("balance")) {
      const [currency = "", amount = ""] = thing.split(" ");
      await readOne(one, (client) => readFunds(client, { currency, amount }));
    }
  };

  const endSeen = async (one: Followed, { seen }: Seen): Promise<void> => {
    one.polledAt = Date.now();
    one.refusedSince = undefined;
    if (seen.outcome === "open") return noteProblem(one, null);
    all.delete(keyOf(one));
    for (const wait of one.waits) {
      // The result is plain JSON.
      await complete(wait, { ...seen });
    }
  };

  /** A new object may be unknown to a part of the service, for as long as it may be missing from a list. */
  const noteRefused = async (one: Followed, problem: string): Promise<void> => {
    const now = Date.now();
    one.refusedSince ??= now;
    const lagMs = await call(({ options }) =>
      Effect.succeed(options.assumptions.listLagSeconds * 1_000),
    );
    if (now - one.refusedSince < lagMs) return;
    if (one.payout === undefined) return noteProblem(one, problem);
    await ledger.sawPayout(account, one.thing, { word: "", outcome: null, asks: false, problem });
  };

  /** Lets people see that the service refuses to show the object of a wait. */
  const noteProblem = async ({ waits }: Followed, problem: string | null): Promise<void> => {
    for (const wait of waits) {
      if ((wait.outcome?.["problem"] ?? null) !== problem) await ledger.noteWait(wait, problem);
    }
  };

  /** By workflow id alone: the activity's id names the object of its wait, and a reset keeps it in another run. */
  const complete = async (wait: RecordedWait, result: JsonObject): Promise<void> => {
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
    await ledger.closeWait(wait, result);
  };

  return {
    size: () => all.size,
    /** Reads the ledger. */
    refresh,
    /** Parts of a sweep, which do not depend on each other. Each completes its due waits, and throws the error of `call`. */
    parts: {
      payouts: sweepPayouts,
      cardholders: sweepCardholders,
      balances: sweepBalances,
    },
  };
};
