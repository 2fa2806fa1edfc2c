import type {
  Assumptions,
  Cardholder,
  CreateCardholderInput,
  CreatePayoutInput,
  Page,
  PaymentsClient,
  PaymentsError,
  Payout,
} from "@durable-payments/api-core";
import type { Journal, ListName } from "@durable-payments/journal";
import { ownershipKeys } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { Effect } from "effect";
import type { IntentMarks } from "./intent-marks.ts";
import { findConcurrentRuns, findOwners, findRunsKeyedAlike } from "./owners.ts";
import { toApplicationFailure } from "./failures.ts";
import { type JournalEvidence, readJournal, readOtherSends } from "./journal-evidence.ts";
import type { ListedItem } from "./listed-items.ts";
import { matchKey, plainKey } from "./match-fields.ts";
import { type ListedRow, type Likeness, matchCardholder, matchPayout } from "./match-rows.ts";
import type { SentPayout } from "./match-sent.ts";
import { type KeptPages, readList } from "./read-list.ts";
import { accountOf, optionsOf, type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import { DISPATCH_WITHIN_MS } from "./send-intent.ts";

/** A write whose answer did not come. */
export interface Sent<Request, Item = never> {
  /** The request as it was sent. */
  readonly request: Request;
  /** The step that sent it. */
  readonly step: string;
  /** When the run first meant to send it: milliseconds since 1970. */
  readonly since: number;
  /** The mark in the search attribute PaymentIds of runs that mean to make the same. */
  readonly intentMark: string;
  /** The keys under which the step may have sent it. */
  readonly keys?: ReadonlyArray<string>;
  /** What earlier reconciliations of the step showed as perhaps what was sent. */
  readonly seen?: ReadonlyArray<Item>;
}

/** How something listed compares with what was sent. */
export interface Match {
  /** The service's id of what is listed. */
  readonly id: string;
  /** Whether it is certainly what this step sent: it has its key, or the journal has its id. */
  readonly isOurs: boolean;
  /** Whether it is as it was sent to the last field; otherwise it is perhaps what was sent. */
  readonly isExact: boolean;
  /** Whether one field is legibly another than was sent; it may be listed in another way. */
  readonly differsInOne?: true;
  /** Whether the key that the list shows for it may be the one that was sent, in another spelling. */
  readonly mayBearKey?: true;
  /** Whether only an earlier reconciliation showed it: it is not listed any more, or as something else. */
  readonly isMissing?: true;
  /** The `unique_request_id` that the list shows for it. */
  readonly key?: string | undefined;
  /** Who is known to have made it, and is not this step. */
  readonly owner?: string | undefined;
}

/** What the service lists, or has listed, that may be what was sent, and how far the list is evidence. */
export interface Matches<Item> {
  /** What is listed. */
  readonly items: ReadonlyArray<Item>;
  /** The same in the same order, compared with what was sent. */
  readonly matches: ReadonlyArray<Match>;
  /** Workflow ids of other runs that may have made the same and do not know yet. */
  readonly concurrentRuns: ReadonlyArray<string>;
  /** Rows that cannot be read, and by what can be read of them may be what was sent. */
  readonly unreadableRows: number;
  /** Whether the list shows the key that was sent, as far as that is known. */
  readonly keyEcho: "same" | "other" | "none" | "unknown";
  /** Longest time that one request of the client may take, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** How long after it was made something may be missing from the list, in milliseconds. */
  readonly listLagMs: number;
  /** Up to when all that was made is listed, where that is known: milliseconds since 1970. */
  readonly listedUpTo?: number;
  /** How long what a run owns, or may have made, may be hidden from other runs, in milliseconds. */
  readonly visibilityLagMs: number;
  /** Why the list is no evidence, and will be none when it is read again. */
  readonly incomplete?: string;
  /** Nothing lists what was sent: no list was read. */
  readonly isUnlisted?: true;
}

/** Reads by which a run finds out whether a write without an answer was carried out. */
export interface ReconciliationActivities {
  /** Payouts with one of the keys, and those that may be what was sent, created since. */
  readonly findPayouts: (sent: Sent<CreatePayoutInput, Payout>) => Promise<Matches<Payout>>;
  /** Cardholders who may be what was sent, created since. */
  readonly findCardholders: (
    sent: Sent<CreateCardholderInput, Cardholder>,
  ) => Promise<Matches<Cardholder>>;
  /** The workflow ids of other runs by the ownership key that they have; keys that nobody has are left out. */
  readonly findOwners: (
    ownershipKeys: ReadonlyArray<string>,
  ) => Promise<Readonly<Record<string, string>>>;
}

/** Type of the failure of a reconciliation whose list does not add up: it is read again. */
export const LIST_DOES_NOT_ADD_UP = "ListDoesNotAddUp";

/** A list, and how what it shows compares with what was sent. */
interface SearchedList<Request, Item> {
  readonly list: ListName;
  readonly operation: "createPayout" | "createCardholder";
  readonly itemId: keyof Item & string;
  readonly keyOf: (item: Item) => string | undefined;
  readonly compare: (request: Request, row: ListedRow) => Likeness;
  /** Where the journal knows by it which other sends are alike. */
  readonly payoutOf?: (request: Request) => SentPayout;
  /** Whether runs may be marked with a secret: of persons. */
  readonly hasKeyedMarks?: true;
  /** Reads a page of what was created from then on, or of all. */
  readonly readPage: (
    client: PaymentsClient["Service"],
    page: { readonly page_num: number; readonly page_size: number },
    from: number,
  ) => Effect.Effect<Page<Item>, PaymentsError>;
}

/** What an attempt has read, for the next one. */
interface Kept<Item> {
  readonly read: KeptPages<Item>;
  /** What attempts showed whose list did not add up. */
  readonly seen: ReadonlyArray<Item>;
}

/** The largest page of both lists. */
const PAGE_SIZE = 50;

const PAYOUTS: SearchedList<CreatePayoutInput, Payout> = {
  list: "listPayouts",
  operation: "createPayout",
  itemId: "payout_id",
  keyOf: ({ unique_request_id: key }) => (key === undefined ? undefined : plainKey(key)),
  compare: matchPayout,
  payoutOf: (request) => request,
  readPage: (client, page, from) => {
    const { clockSkewSeconds, reconcileByTimeRange } = client.options.assumptions;
    const end = Date.now() + clockSkewSeconds * 1000;
    return client.listPayouts({
      ...page,
      ...(reconcileByTimeRange && { date_type: "create_time", start: Math.max(0, from), end }),
    });
  },
};

const CARDHOLDERS: SearchedList<CreateCardholderInput, Cardholder> = {
  list: "listCardholders",
  operation: "createCardholder",
  itemId: "card_holder_id",
  keyOf: () => undefined,
  compare: matchCardholder,
  hasKeyedMarks: true,
  readPage: (client, page) => client.listCardholders(page),
};

/** The part of its time in which a reconciliation reads: what it has read by then is still to be returned. */
const READ_WITHIN = 0.8;

/** Most matches that a reconciliation returns. */
const MOST_MATCHES = 100;

// What decides comes first: a result has a limit, and a list can show many alike.
const RANKS: Readonly<Record<Likeness, number>> = { exact: 0, near: 1, different: 1, similar: 2 };

const rank = ({ isOurs, owner }: Match): number => (isOurs ? 0 : owner === undefined ? 1 : 2);

/** What the assumption says, or else what answers have shown; that lists show it too is no fact. */
const echoOf = (
  { payoutKeyEcho }: Assumptions,
  { echo: { none, other, same } }: JournalEvidence,
): Matches<unknown>["keyEcho"] => {
  if (payoutKeyEcho !== "learned") return payoutKeyEcho;
  if (same > 0) return "unknown";
  if (other > 0) return "other";
  return none > 0 ? "none" : "unknown";
};

/** Make the reconciliation activities over a client. */
export const makeReconciliationActivities = (
  runtime: PaymentsRuntime,
  journal: Journal,
  marks: IntentMarks,
): ReconciliationActivities => {
  const searchList = async <Request, Item extends ListedItem & object>(
    {
      compare,
      hasKeyedMarks,
      itemId,
      keyOf,
      list,
      operation,
      payoutOf,
      readPage,
    }: SearchedList<Request, Item>,
    sent: Sent<Request, Item>,
  ): Promise<Matches<Item>> => {
    const { keys = [], request, since, step } = sent;
    const { assumptions, requestTimeoutMs } = await optionsOf(runtime);
    const from = since - assumptions.clockSkewSeconds * 1000;
    const idOf = (item: Item) => String(item[itemId]);
    const keysOf = (item: Item) => ownershipKeys({ [itemId]: idOf(item) }, keyOf(item));
    const isOurs = (item: Item) =>
      matchKey(keys, keyOf(item)) === "same" || known.ownIds.has(idOf(item));
    const likenessOf = (item: Item) => compare(request, item as ListedRow);
    const activity = Context.current();
    const { attempt, scheduledTimestampMs, startToCloseTimeoutMs } = activity.info;
    const startedAt = Date.now();
    // Pages that an attempt has read whose worker was lost, perhaps one of another build.
    const details = activity.info.heartbeatDetails as Partial<Kept<Item>> | undefined;
    const { read: kept = [], seen = [] } = attempt > 1 ? (details ?? {}) : {};
    const before: Kept<Item> = { read: kept, seen };
    const readAt = kept.length > 0 ? scheduledTimestampMs : startedAt;
    const known = await readJournal(journal, { operation, list, step, from });
    let read = before;
    const found = await readList<Item>({
      idOf,
      from,
      isOurs,
      mayBe: (item) => likenessOf(item) !== "different",
      assumptions,
      kept,
      keep: (pages) => {
        read = { ...before, read: pages };
        activity.heartbeat(read);
      },
      until: startedAt + READ_WITHIN * startToCloseTimeoutMs,
      pageSize: PAGE_SIZE,
      read: (page_num) =>
        runInActivity(
          runtime,
          (client) => readPage(client, { page_num, page_size: PAGE_SIZE }, from),
          (error) => toApplicationFailure(error, { nonRetryable: false }),
          () => read,
        ),
    });
    const listed = new Map(found.items.map((item) => [idOf(item), item]));
    const earlier = new Map(
      [...(sent.seen ?? []), ...before.seen].map((item) => [idOf(item), item]),
    );
    // One that is listed as something else by now is not listed any more as what was seen.
    const isMissing = (item: Item) => {
      const now = listed.get(idOf(item));
      if (now === undefined) return true;
      return !isOurs(now) && likenessOf(now) === "similar" && likenessOf(item) !== "similar";
    };
    const missing = new Map(
      [...earlier.values()].filter(isMissing).map((item) => [idOf(item), item]),
    );
    const items = [
      ...found.items.filter((item) => !missing.has(idOf(item))),
      ...missing.values(),
    ].toSorted((a, b) => RANKS[likenessOf(a)] - RANKS[likenessOf(b)]);
    if (found.fault !== undefined && !found.items.some(isOurs)) {
      // The next attempt reads it anew, and knows what was seen.
      activity.heartbeat({ read: [], seen: items.slice(0, MOST_MATCHES) } satisfies Kept<Item>);
      throw ApplicationFailure.create({
        type: LIST_DOES_NOT_ADD_UP,
        message: `${list} is no evidence: ${found.fault}.`,
      });
    }
    const isComplete = found.fault === undefined && !found.isTooLong;
    const lag = await known.measureLag(isComplete ? found.ids : known.madeIds, { readAt, since });
    // Before the owners: a run replaces its mark by what it owns.
    const concurrentRuns = await (hasKeyedMarks === true
      ? findRunsKeyedAlike(sent.intentMark, marks)
      : findConcurrentRuns(sent.intentMark));
    const account = await accountOf(runtime);
    const owners: Record<string, string> = {};
    const others =
      payoutOf === undefined || found.items.every(isOurs)
        ? undefined
        : await readOtherSends(journal, payoutOf(request), {
            step,
            since: from - requestTimeoutMs - DISPATCH_WITHIN_MS,
          });
    const ownerOf = (item: Item) =>
      known.ownerOf(idOf(item)) ??
      others?.owners.get(idOf(item)) ??
      keysOf(item).flatMap((key) => owners[key] ?? [])[0];
    const unexplained = items.filter((item) => !isOurs(item) && ownerOf(item) === undefined);
    // Whoever owns what comes after as many that nobody owns makes no difference.
    for (let asked = 0, unowned = 0; asked < unexplained.length && unowned < MOST_MATCHES;) {
      const some = unexplained.slice(asked, asked + MOST_MATCHES);
      Object.assign(owners, await findOwners(some.flatMap(keysOf), account));
      unowned += some.filter((item) => ownerOf(item) === undefined).length;
      asked += some.length;
    }
    const longestLagMs = assumptions.listLagSeconds * 1000;
    const incomplete = found.isTooLong
      ? `${list} has more pages than a reconciliation reads, or reads in its time (reconciliationMaxPages, listsAreNewestFirst).`
      : lag.hidden > 0
        ? `${list} does not show ${lag.hidden} that were made long ago.`
        : undefined;
    const matched = items.map((item) => {
      const [id, key, likeness] = [idOf(item), keyOf(item), likenessOf(item)];
      const match: Match = {
        id,
        isOurs: isOurs(item),
        isExact: likeness === "exact",
        ...(likeness === "similar" && { differsInOne: true }),
        ...(matchKey(keys, key) === "near" && { mayBearKey: true }),
        ...(missing.has(id) && { isMissing: true }),
        key,
        owner: ownerOf(item),
      };
      return { item, match };
    });
    const deciding = matched
      .toSorted((a, b) => rank(a.match) - rank(b.match))
      .slice(0, MOST_MATCHES);
    return {
      items: deciding.map(({ item }) => item),
      matches: deciding.map(({ match }) => match),
      concurrentRuns: [...new Set([...concurrentRuns, ...(others?.inDoubt ?? [])])],
      unreadableRows: found.unreadable.filter(
        ({ fields }) => compare(request, fields) !== "different",
      ).length,
      keyEcho: echoOf(assumptions, known),
      requestTimeoutMs,
      listLagMs: Math.max(longestLagMs, lag.longestMs),
      ...(assumptions.listsAreMonotone &&
        lag.lastListed !== undefined && { listedUpTo: lag.lastListed - requestTimeoutMs }),
      visibilityLagMs: assumptions.visibilityLagSeconds * 1000,
      ...(incomplete !== undefined && { incomplete }),
    };
  };

  return {
    findPayouts: (sent) => searchList(PAYOUTS, sent),
    findCardholders: (sent) => searchList(CARDHOLDERS, sent),
    findOwners: async (ownershipKeys) => findOwners(ownershipKeys, await accountOf(runtime)),
  };
};
