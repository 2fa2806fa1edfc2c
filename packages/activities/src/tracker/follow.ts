/**
 * Follows what the service has not decided yet: each payout of the ledger whose outcome is not known, and each cardholder
 * and balance that a run waits for.
 *
 * A payout is followed, and not the wait for it. Its run may have been cancelled, terminated or lost with Temporal's
 * database, or may never have waited: the money moves all the same, and reports state the outcome. So a run that waits
 * for a payout is one more reader of the same look: the ledger records what was seen, and then the wait is completed.
 *
 * Nothing is kept here: the ledger says what is due, the longest due first, and each reading is a fact of its row. So a
 * million open payouts take no memory, and a tracker that dies loses nothing. Requests have a budget; the
 * readers of payouts are in due.ts and settled.ts.
 */
import {
  isPaymentsError,
  type ListCardholdersInput,
  type Page,
  type Payout,
  readTime,
} from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import type {
  JsonObject,
  ReadPayout,
  RecordedWait,
  RecordedWrite,
  Wait,
} from "@durable-payments/ledger";
import { atOnce, temporalReason } from "@durable-payments/protocol";
import { ActivityNotFoundError } from "@temporalio/client";
import { Effect } from "effect";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import { zoneOf } from "../payout-status.ts";
import { type ClientCall, LAST } from "../run-operation.ts";
import {
  notListed,
  READINGS,
  retrievePayout,
  type Seen,
  seenCardholder,
  seenPayout,
  type SeenStatus,
} from "../wait-readings.ts";
import { isRefusedRead, withReason } from "../write/outcomes.ts";
import type { JanitorOptions } from "./janitor.ts";

/** Dependencies of the part of the tracker that follows payouts and waits. */
export interface FollowOptions extends Pick<
  JanitorOptions,
  "account" | "client" | "ledger" | "warn"
> {
  /** Calls the service; each is one request, or one page. */
  readonly call: <A>(call: ClientCall<A>) => Promise<A>;
}

/** Share of the account's rate that the tracker reads with: half of it by the list of what has settled. */
const SHARE_OF_RATE = 1 / 4;

/** Requests a second, if no rate limits the account. */
const REQUESTS_PER_SECOND = 20;

/** Waits of a kind that one turn reads at most. */
const MOST_AT_ONCE = 50;

/** Reading a slow list takes at most a fifth of the time. */
const REST = 4;

/** Completions, and requests, that are under way at once. */
const PARALLEL = 16;

/** Failures that concern one item only: the service itself can be read. */
const OF_ONE: ReadonlySet<string> = new Set([
  "RequestRefused",
  "InvalidRequest",
  "UnexpectedAnswer",
]);

/** The filter of cardholders whose identity is being checked. */
const PENDING = { card_holder_status: 0 } as const;

/** The longest interval of readings of a payout is not shorter. */
const LEAST_LONGEST_MS = 60_000;

/** A payout that was read; without `seen` it could not be. */
export interface ReadOfPayout {
  readonly row: RecordedWrite;
  readonly seen?: SeenStatus | undefined;
  readonly problem?: string | undefined;
}

/** Waits for one object that was read; without `seen` it is still open. */
interface ReadOfWaits {
  readonly waits: ReadonlyArray<RecordedWait>;
  readonly seen?: Seen["seen"] | undefined;
  /** Why it cannot be read; null if it can, undefined if that is not known. */
  readonly problem?: string | null | undefined;
}

/** A service may respond to the page after the last one with an error. */
export const isLastPage = (
  { item_list, total_page, unreadable }: Page<object>,
  page_num: number,
): boolean =>
  item_list.length + unreadable.length === 0 ||
  page_num >= (total_page ?? Number.POSITIVE_INFINITY);

/**
 * Follows the objects of an account: reads due ones at the service, records what is seen, and completes the activities
 * of waits.
 */
export const follow = ({ account, call, client, ledger, warn }: FollowOptions) => {
  /** As they were counted last. */
  let waiting = { open: 0, returns: 0 };
  let perRequest = 1;
  let aheadMs: number | undefined;

  /** The assumptions, and the requests a second of each of the two readers of payouts. */
  const settings = () =>
    call(({ options: { assumptions }, rate }) =>
      Effect.sync(() => ({
        assumptions,
        perSecond: ((rate() ?? REQUESTS_PER_SECOND / SHARE_OF_RATE) * SHARE_OF_RATE) / 2,
      })),
    );

  /** By workflow id alone: the activity's id names the object of its wait, and a reset keeps it in another run. */
  const complete = async (wait: RecordedWait, outcome: JsonObject) => {
    const { activityId, workflowId } = wait;
    try {
      await client.activity.complete({ workflowId, activityId }, outcome);
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) {
        // It stays due, and does not delay the others.
        warn(`${activityId} of ${workflowId} could not be completed: ${temporalReason(error)}`);
        return [];
      }
    }
    return [{ ...wait, outcome }];
  };

  /** Completes waits whose object has an outcome, and records what was seen of the others. */
  const endSeen = async (read: ReadonlyArray<ReadOfWaits>): Promise<void> => {
    const each = read.flatMap(({ waits, ...of }) => waits.map((wait) => ({ wait, ...of })));
    const isOpen = ({ seen }: Omit<ReadOfWaits, "waits">) => (seen?.outcome ?? "open") === "open";
    await ledger.readWaits(each.filter(isOpen));
    const ended = each.filter((one) => !isOpen(one));
    // The result is plain JSON.
    const closed = await atOnce(ended, ({ seen, wait }) => complete(wait, { ...seen }), PARALLEL);
    await ledger.closeWaits(closed.flat());
  };

  /** Records what was read of payouts, and completes the waits for those with an outcome. */
  const endPayouts = async (read: ReadonlyArray<ReadOfPayout>): Promise<void> => {
    const { perSecond } = await settings();
    const seen = read.map(({ problem, row, seen: of }): ReadPayout => {
      const refused = problem && { word: "", outcome: null, asks: false, problem };
      return { row, seen: of?.status ?? (refused || undefined) };
    });
    // Old payouts are read less often if there are more than the requests are enough for.
    const longestMs = Math.max(LEAST_LONGEST_MS, (waiting.open * 1_000) / (perSecond * perRequest));
    await ledger.sawPayouts(account, seen, longestMs);
    const ended = new Map(
      read.flatMap(({ row: { madeId }, seen: of }) =>
        madeId === null || of === undefined || of.seen.outcome === "open"
          ? []
          : [[madeId, of.seen] as const],
      ),
    );
    if (ended.size === 0) return;
    const waits = await ledger.waits({
      account,
      kind: "payout",
      isOpen: true,
      things: [...ended.keys()],
    });
    await endSeen(waits.map((wait) => ({ waits: [wait], seen: ended.get(wait.thing) })));
  };

  /**
   * Reads one object. A failure is a problem of the object for people, or a fault of more than this object. A new object
   * may be unknown to a part of the service, for as long as it may be missing from a list.
   */
  const readOne = async <A>(
    name: string,
    ageMs: number,
    read: ClientCall<A>,
  ): Promise<{ readonly value?: A; readonly problem?: string; readonly fault?: unknown }> => {
    try {
      return { value: await call(read) };
    } catch (error) {
      if (!isPaymentsError(error) || !OF_ONE.has(error._tag)) return { fault: error };
      warn(`${name}: ${error.message}`);
      const { assumptions } = await settings();
      return ageMs < assumptions.listLagSeconds * 1_000 ? {} : { problem: withReason(error) };
    }
  };

  /** Throws a fault that concerns all, such as an outage. The service may break at one item: that delays no other. */
  const throwFault = (read: ReadonlyArray<{ readonly fault?: unknown }>): void => {
    const faulty = read.filter(({ fault }) => fault !== undefined);
    const isOfOne = (fault: unknown): boolean =>
      faulty.length < read.length && isRefusedRead(fault, 599);
    const ofAll = faulty.find(({ fault }) => !isOfOne(fault));
    if (ofAll !== undefined) throw ofAll.fault;
    for (const { fault } of faulty) warn(messageOf(fault));
  };

  /** Returns what a payout shows, by its write. */
  const seerOf = async () => {
    const [{ assumptions }, words, { now }] = await Promise.all([
      settings(),
      ledger.words(account),
      ledger.state(),
    ]);
    return (row: RecordedWrite, payout: Payout): SeenStatus => {
      const created = readTime(payout.create_time, zoneOf(assumptions))?.earliest;
      if (created !== undefined) aheadMs = created - row.changedAt;
      const known = { payout_id: row.madeId ?? "", row, knownForMs: now - row.changedAt };
      return seenPayout(known, payout, assumptions, words);
    };
  };

  /**
   * Records those payouts of a list that are open in the ledger, or watched, and returns them. A list may be behind: it
   * changes no outcome of a watched payout, which is to be read alone.
   */
  const endListed = async (listed: ReadonlyArray<Payout>, which: "open" | "watched" = "open") => {
    if (listed.length === 0) return [];
    const shown = new Map(listed.map((payout) => [payout.payout_id, payout]));
    const [rows, see] = await Promise.all([ledger.payouts(account, [...shown.keys()]), seerOf()]);
    const found = rows.flatMap((row) => {
      const payout = shown.get(row.madeId ?? "");
      const isOpen = row.standing === "made";
      if (payout === undefined || row.readAfter === null || isOpen !== (which === "open"))
        return [];
      const seen = see(row, payout);
      return [{ row, seen, isRecorded: isOpen || seen.status.outcome === row.standing }];
    });
    const read = found.filter(({ isRecorded }) => isRecorded);
    if (read.length > 0) await endPayouts(read);
    return found;
  };

  /** Reads payouts one by one. A payout that cannot be read is read again later, and delays no other. */
  const readPayouts = async (rows: ReadonlyArray<RecordedWrite>): Promise<void> => {
    if (rows.length === 0) return;
    const [see, { now }] = await Promise.all([seerOf(), ledger.state()]);
    const read = await atOnce(
      rows,
      async (row) => {
        const payout_id = row.madeId ?? "";
        const one = await readOne(`payout ${payout_id}`, now - row.changedAt, (service) =>
          Effect.map(retrievePayout(service, payout_id), (payout) => see(row, payout)),
        );
        return { ...one, row, seen: one.value };
      },
      PARALLEL,
    );
    await endPayouts(read);
    throwFault(read);
  };

  /** The objects of the due waits of a kind. */
  const dueOf = async (kind: Wait["kind"]): Promise<Map<string, ReadonlyArray<RecordedWait>>> => {
    const due = { account, kind, isOpen: true, isDue: true, limit: MOST_AT_ONCE } as const;
    return Map.groupBy(await ledger.waits(due), ({ thing }) => thing);
  };

  /** Reads the objects of the due waits of a kind one by one. */
  const readEach = async (kind: Wait["kind"]): Promise<void> => {
    const objects = [...(await dueOf(kind))];
    if (objects.length === 0) return;
    const { now } = await ledger.state();
    const readWaits = async ([thing, waits]: (typeof objects)[number]) => {
      const since = Math.min(...waits.map((wait) => wait.since));
      const one = await readOne(`${kind} ${thing}`, now - since, (service) =>
        READINGS[kind](service, ledger, account, thing),
      );
      const problem = one.value === undefined ? one.problem : null;
      return { ...one, waits, seen: one.value?.seen, problem };
    };
    const read = await atOnce(objects, readWaits, PARALLEL);
    await endSeen(read);
    throwFault(read);
  };

  /** Reads a list of cardholders until it has shown the unread ones. Returns whether it shows others than open ones. */
  const readCardholders = async (
    unread: Map<string, ReadonlyArray<RecordedWait>>,
    filter: Pick<ListCardholdersInput, "card_holder_status">,
  ): Promise<boolean> => {
    const { assumptions } = await settings();
    let hasEnded = false;
    for (let page_num = 1, isLast = false; unread.size > 0 && !isLast; page_num++) {
      const page = await call((service) =>
        service.listCardholders({ ...filter, page_num, page_size: PAGE_SIZE }, LAST),
      );
      const shown = page.item_list.map((one) => ({
        seen: seenCardholder(one, assumptions).seen,
        waits: unread.get(one.card_holder_id) ?? [],
        problem: null,
      }));
      hasEnded ||= shown.some(({ seen }) => seen.outcome !== "open");
      for (const { seen } of shown) unread.delete(seen.card_holder_id);
      await endSeen(shown);
      isLast = isLastPage(page, page_num);
    }
    return hasEnded;
  };

  /**
   * Reads the due cardholders. There is no operation for one. Most of those that a run waits for are pending, and few of an
   * account's are: the whole list is read only for those that are pending no longer. Returns the time until the next turn.
   */
  const readDueCardholders = async (): Promise<number> => {
    const unread = await dueOf("cardholder");
    if (unread.size === 0) return 0;
    const began = Date.now();
    const isWhole = await readCardholders(unread, PENDING).catch((error: unknown) => {
      if (!isRefusedRead(error)) throw error;
      return false;
    });
    // A service that ignores the filter has shown all.
    if (!isWhole) await readCardholders(unread, {});
    const missing = [...unread].map(async ([id, waits]) => {
      const { seen } = await notListed(ledger, account, id);
      return { waits, seen, problem: null };
    });
    await endSeen(await Promise.all(missing));
    return REST * (Date.now() - began);
  };

  return {
    settings,
    endListed,
    readPayouts,
    /** How much later the service says that a payout was created than the ledger that it was made, as was seen last. */
    aheadMs: () => aheadMs,
    /** Records how many open payouts a request reads. */
    paced: (payouts: number): void => {
      perRequest = payouts;
    },
    /** Payouts and waits that have no outcome yet. A wait for a return takes no request: the watch of its payout reads for it. */
    size: () => waiting.open + waiting.returns,
    /** Counts them: a scan of an index, some 50 ms for a million. */
    count: async (): Promise<void> => {
      waiting = await ledger.countRead(account);
    },
    parts: {
      "waits for payouts": () => readEach("payout"),
      "waits for returns": () => readEach("return"),
      cardholders: readDueCardholders,
      balances: () => readEach("balance"),
    },
  };
};

/** The parts of the follower that the readers of payouts use. */
export type Followed = ReturnType<typeof follow>;
