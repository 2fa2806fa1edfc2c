/**
 * Reads of the feed, and its numbers.
 *
 * A reader remembers the last event that it has seen, and must never skip an event. Two transactions of PostgreSQL take
 * sequence numbers in one order, and may commit in the other. So a sequence cannot be the cursor, and a writer gives no
 * number. A reader gives it: to the committed events, in the order of their sequence, under a lock of the feed. An event
 * that commits later gets a later number. Events of one payment keep their order: the second was written after the first
 * had committed. It costs one update for each event, once, and a lock that no payment waits for. A transaction that stays
 * open delays only its own events. A dump keeps its order on another server, unlike ids of transactions (`xmin`).
 *
 * After a restore, an earlier reader knows events that the ledger has lost. The id of an event holds its number and a
 * hash of its row. So such a reader is refused, and does not continue with other events.
 */
import { redact } from "@durable-payments/client/effect";
import { hash } from "node:crypto";
import { type EventSubject, eventType, type EventType } from "../model/feed.ts";
import { limitsId, limitsOf, type Amounts } from "../model/limits.ts";
import { outcomeReason, type Standing } from "../model/standing.ts";
import type { Problem } from "./attention.ts";
import { eventsTable, type StoredEvent } from "./feed-schema.ts";
import { META } from "./schema.ts";
import type { Store } from "./store.ts";
import * as column from "./column.ts";
import { query, readFields } from "./table.ts";

/** Most events that are numbered in one transaction, or read by default. */
const MOST = 500;

/** Most of them if nobody has read the feed for long: PostgreSQL goes through all of those for each transaction. */
const MOST_AT_ONCE = 10_000;

/** An event of the feed of an account. Facts that do not apply are left out. No account number, and no payee. */
export interface FeedEvent {
  /** The cursor: events after it are those that follow. The same whenever and wherever it is delivered. */
  readonly id: string;
  readonly type: EventType;
  /** Hash of the account with the service. */
  readonly account: string;
  /** When it was recorded: milliseconds since 1970 by the ledger's clock. */
  readonly at: number;
  readonly subject: EventSubject;
  /** The state that the subject has since: of a payment, its standing. */
  readonly state: string;
  readonly workflowId: string;
  readonly step?: string;
  readonly runId?: string;
  readonly workflowType?: string;
  readonly batch?: string;
  /** Decimal string in units of `currency`. */
  readonly amount?: string;
  readonly currency?: string;
  readonly reference?: string;
  /** Id of the payout or the cardholder at the service. */
  readonly resultId?: string;
  /** The service's word for the status. */
  readonly word?: string;
  /** Why, for a person. */
  readonly reason?: string;
  /** Kind of a problem that needs a person. */
  readonly problem?: Problem["kind"];
  /** Payouts, runs or rows that a problem concerns, and their money: decimal strings by currency. */
  readonly count?: number;
  readonly sums?: Amounts;
  /** Rows of an ended file by their outcome, as they are when the event is read. */
  readonly rows?: Readonly<Record<string, number>>;
  /** Limits that apply since, by currency; null if there are none. */
  readonly maxAmounts?: Amounts | null;
  readonly approveAbove?: Amounts | null;
}

/** The ledger does not have the event of a cursor, or not in that order. Nothing was read or changed. */
export class UnknownCursor extends Error {
  override readonly name = "UnknownCursor";
  /** Read again after this event; from the first one if it is undefined. */
  readonly readAfter: string | undefined;
  constructor(message: string, readAfter: string | undefined) {
    super(message);
    this.readAfter = readAfter;
  }
}

const HEAD = {
  ledgerId: META.fields.ledgerId,
  epoch: META.fields.epoch,
  stopped: META.fields.stopped,
  first: column.numberOrNull,
  last: column.numberOrNull,
  pending: column.number,
};
const FEED = eventsTable("");

/** Returns the number of the event that an id names. */
export const numberIn = (id: string): number =>
  Number(/^evt_(\d{1,15})_[\w-]{16}$/.exec(id)?.[1] ?? Number.NaN);

const prunedAfter = (id: string) =>
  new UnknownCursor(
    `Events after ${id} were pruned: compare your records with a report, and read from the first event that is left.`,
    undefined,
  );

const orLeftOut = <A>(name: string, value: A | null | undefined): Record<string, A> =>
  value === null || value === undefined ? {} : { [name]: value };

/** Reads the feed of each account. */
export const feedReader = (store: Store) => {
  const { database, seal } = store;
  const { identity } = database.dialect;
  const selectHead = (account: string) =>
    query(
      `SELECT ledger_id, epoch, stopped, (SELECT min(number) FROM events WHERE account = $1) AS first,
       (SELECT max(number) FROM events WHERE account = $1) AS last,
       (SELECT count(*) FROM (SELECT 1 FROM events WHERE account = $1 AND number IS NULL LIMIT 1) AS one) AS pending FROM meta`,
      account,
    );
  const headOf = async (account: string) => {
    const [found = {}] = await store.find(selectHead(account));
    return readFields(HEAD, found, seal);
  };
  type Head = Awaited<ReturnType<typeof headOf>>;

  const idOf = ({ account, at, number: place, sequence }: StoredEvent, { ledgerId }: Head) =>
    `evt_${place}_${hash("sha256", JSON.stringify([ledgerId, account, sequence, at]), "base64url").slice(0, 16)}`;

  /** Numbers committed events, unless the ledger was restored and `recover` has not run: a reader would take them for the lost ones. */
  const numberEvents = (account: string, most = MOST): Promise<void> =>
    store.save(`events ${account}`, [
      query(
        `UPDATE events SET number = next.number, epoch = (SELECT epoch FROM meta) FROM
         (SELECT sequence, row_number() OVER (ORDER BY sequence) + coalesce((SELECT max(number) FROM events WHERE account = $1), 0) AS number
          FROM (SELECT sequence FROM events WHERE account = $1 AND number IS NULL ORDER BY sequence LIMIT ${most}) AS pending) AS next
         WHERE events.sequence = next.sequence AND EXISTS (SELECT 1 FROM meta WHERE stopped IS NULL AND server = ${identity})`,
        account,
      ),
    ]);

  const select = (account: string, where: string, ...values: ReadonlyArray<number>) =>
    query(`SELECT * FROM events WHERE account = $1 AND ${where}`, account, ...values);
  const idAt = async (
    account: string,
    where: string,
    head: Head,
    ...values: ReadonlyArray<number>
  ) => {
    const of = select(account, `${where} ORDER BY number DESC LIMIT 1`, ...values);
    const [found] = await store.read(FEED.fields, of);
    return found && idOf(found, head);
  };

  /**
   * Returns the number of the event of a cursor.
   *
   * @param isIncluded whether the event itself is to be read; a reader has it already.
   * @throws UnknownCursor.
   */
  const placeOf = async (
    account: string,
    id: string | undefined,
    head: Head,
    isIncluded = false,
  ): Promise<number> => {
    if (id === undefined) return 0;
    const place = numberIn(id);
    if (Number.isNaN(place))
      throw new UnknownCursor(`${JSON.stringify(id)} is not the id of an event.`, undefined);
    const { epoch, first, stopped } = head;
    if (first !== null && place < (isIncluded ? first : first - 1))
      throw isIncluded
        ? new UnknownCursor(
            `The event ${id} was pruned: begin with the first event that is left. Nothing was changed.`,
            undefined,
          )
        : prunedAfter(id);
    // The last event that was pruned has no row to compare with, and nothing is skipped after it.
    if (first !== null && place === first - 1) return place;
    if (id === (await idAt(account, "number = $2", head, place))) return place;
    // Events of an earlier epoch were there before the restore. None is numbered until `recover`.
    const after = await idAt(
      account,
      stopped === null ? "number < $2 AND epoch < $3" : "number < $2 AND epoch <= $3",
      head,
      place,
      epoch,
    );
    const read =
      stopped === null ? "Read" : "The ledger was restored: run `recover` first. Then read";
    const again = `${read} again ${after === undefined ? "from the first event" : `after ${after}`}.`;
    throw new UnknownCursor(
      `The feed of this account has no event ${id}: it is of another account, or was lost if the ledger was restored. ${isIncluded ? "Nothing was changed." : again}`,
      after,
    );
  };

  const limitsIn = async ({ account, was }: StoredEvent) => {
    const decisions = await store.decisions(limitsId(account));
    const upTo = decisions.filter(({ sequence }) => sequence <= Number(was));
    const { approveAbove, maxAmounts, pending } = limitsOf(upTo);
    return {
      state: pending?.sequence === Number(was) ? "pending" : "changed",
      maxAmounts,
      approveAbove,
    };
  };

  const rowsIn = async ({ workflowId: batch }: StoredEvent) => {
    const counted = await store.find(
      query(
        `SELECT coalesce(CASE state WHEN 'started' THEN (SELECT status FROM runs WHERE runs.workflow_id = batch_rows.workflow_id) ELSE state END, 'running') AS status,
         count(*) AS count FROM batch_rows WHERE batch = $1 GROUP BY 1 ORDER BY 1`,
        batch,
      ),
    );
    return {
      rows: Object.fromEntries(counted.map((row) => [String(row["status"]), Number(row["count"])])),
    };
  };

  const eventOf = async (row: StoredEvent, head: Head): Promise<FeedEvent> => {
    const { account, at, batch, details, kind, subject, was, word, workflowId } = row;
    const limits = subject === "limits" ? await limitsIn(row) : undefined;
    const { state, ...amounts } = limits ?? { state: row.state };
    // The word of a failure is its reason.
    const why = row.reason ?? outcomeReason({ standing: state as Standing, word }) ?? null;
    return {
      id: idOf(row, head),
      type: eventType({ kind, state, subject, was }),
      account,
      at,
      subject,
      state,
      workflowId,
      ...orLeftOut("step", row.step),
      ...orLeftOut("runId", row.runId === "" ? null : row.runId),
      ...orLeftOut(subject === "attention" ? "problem" : "workflowType", kind),
      ...orLeftOut("batch", batch),
      ...orLeftOut("amount", row.amount),
      ...orLeftOut("currency", row.currency),
      ...orLeftOut("reference", row.reference),
      ...orLeftOut("resultId", row.madeId),
      // The service's texts, and those of people, may name an account.
      ...orLeftOut("word", word && redact(word)),
      ...orLeftOut("reason", why && redact(why)),
      ...details,
      ...amounts,
      ...(subject === "batch" && state === "finished" && (await rowsIn(row))),
    };
  };

  /** Events after a number, and up to one. */
  const eventsAfter = async (
    account: string,
    head: Head,
    after: number,
    limit: number,
    to = Number.MAX_SAFE_INTEGER,
  ) => {
    const found = await store.read(
      FEED.fields,
      select(account, "number > $2 AND number <= $3 ORDER BY number LIMIT $4", after, to, limit),
    );
    return Promise.all(found.map((row) => eventOf(row, head)));
  };

  /** Numbers what is committed, and returns the head after that. */
  const readHead = async (account: string): Promise<Head> => {
    const head = await headOf(account);
    if (head.pending === 0 || head.stopped !== null) return head;
    await numberEvents(account);
    return headOf(account);
  };

  /** Returns the accounts that have a feed. Its cost grows with their number alone. */
  const feeds = () =>
    store.texts(
      "account",
      query(
        `WITH RECURSIVE feed (account) AS (SELECT min(account) FROM events UNION ALL
         SELECT (SELECT min(account) FROM events WHERE events.account > feed.account) FROM feed WHERE feed.account IS NOT NULL)
         SELECT account FROM feed WHERE account IS NOT NULL`,
      ),
    );

  /** Numbers all that is committed, however much it is: or as much as it may, if the ledger was restored. */
  const numberAll = async (account: string): Promise<void> => {
    for (let last: number | null | undefined; ;) {
      const head = await headOf(account);
      if (head.pending === 0 || head.stopped !== null || head.last === last) return;
      ({ last } = head);
      await numberEvents(account, MOST_AT_ONCE);
    }
  };

  return { eventsAfter, feeds, numberAll, placeOf, readHead };
};

/** The feed of each account. */
export const feedMethods = (store: Store) => {
  const { eventsAfter, feeds, numberAll, placeOf, readHead } = feedReader(store);
  return {
    /**
     * Returns the next events of an account, oldest first; fewer than `limit` if no more are committed.
     *
     * @param after id of the last event that the reader has: none of those that follow is ever skipped.
     * @throws UnknownCursor if the ledger does not have that event, with the one to read again from.
     */
    events: async (
      account: string,
      {
        after,
        limit = MOST,
      }: { readonly after?: string | undefined; readonly limit?: number } = {},
    ): Promise<ReadonlyArray<FeedEvent>> => {
      const head = await readHead(account);
      const place = await placeOf(account, after, head);
      const events = await eventsAfter(account, head, place, limit);
      // They were pruned since the head was read.
      if (after !== undefined && numberIn(events[0]?.id ?? after) > place + 1)
        throw prunedAfter(after);
      return events;
    },
    feeds,
    /** Removes events before a time; the newest of each account stays, so that no number is given twice. @returns their number. */
    pruneEvents: async (before: number): Promise<number> => {
      let pruned = 0;
      for (const account of await feeds()) {
        // A reader that is behind is refused, and skips nothing unknowingly.
        await numberAll(account);
        // A clock may go back: an event stays with all that follow it, because a reader would skip a gap unknowingly.
        const [kept] = await store.find(
          query(
            `SELECT coalesce((SELECT number FROM events WHERE account = $1 AND number IS NOT NULL AND at >= $2 ORDER BY number LIMIT 1),
             (SELECT max(number) FROM events WHERE account = $1), 0) AS number`,
            account,
            before,
          ),
        );
        const gone = query(
          `DELETE FROM events WHERE sequence IN (SELECT sequence FROM events WHERE account = $1 AND number < $2
           ORDER BY number LIMIT ${MOST}) RETURNING sequence`,
          account,
          Number(kept?.["number"]),
        );
        for (;;) {
          const some = (await store.writeReturning(`events ${account}`, gone)).length;
          pruned += some;
          if (some < MOST) break;
        }
      }
      return pruned;
    },
  };
};
