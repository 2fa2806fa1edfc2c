/*
 * Searches the service's list for the result of a write with an unknown outcome.
 *
 * A key in a row settles whose it is, but a list may not show keys. Then rows are compared, and a likeness alone proves
 * little: the row may be an equal payment of another run. So the ledger is asked which rows it has as the results of
 * other writes, and which other writes could own them. `verdict.ts` weighs all of that.
 *
 * In an outage, a thousand writes search one reading at once. They share what the ledger has of it as well, which is read
 * once, after the list, so that nothing can come in between. Only a row that may be of two writes costs each of them.
 */
import type { Assumptions } from "@durable-payments/client/effect";
import {
  type JsonObject,
  LEAVES_WITHIN_MS,
  type Ledger,
  type Verdict,
  type WritePolicy,
  type WriteRow,
} from "@durable-payments/ledger";
import { keysOf, pickTexts } from "../write/request.ts";
import type { ListReadings } from "./list-readings.ts";
import { matchKey, plainKey, type Likeness, type ListedRow } from "./match.ts";
import { agesBy, type KnownRow } from "./row-age.ts";
import { type Candidate, verdictOf } from "./verdict.ts";
import type { WindowReadings } from "./windows.ts";

/** The ledger's facts about the rows of a reading. */
interface Facts<Item> {
  readonly owners: Awaited<ReturnType<Ledger["owners"]>>;
  readonly known: ReadonlyArray<KnownRow>;
  /** Returns the writes without a known result, by how a row compares with their requests. */
  readonly rivalsOf: (item: Item) => Partial<Record<Likeness, ReadonlyArray<WriteRow>>>;
}

/** A list that is searched for the result of a write. */
export interface SearchedList<Item extends object> {
  readonly readings: ListReadings<Item>;
  /** Readings of a part that is enough for a write; left out if only the whole list can be read. */
  readonly windows?: WindowReadings<Item>;
  readonly idField: keyof Item & string;
  /** The facts about the rows of each reading, shared by all who search it. */
  readonly facts: WeakMap<ReadonlyArray<Item>, Promise<Facts<Item>>>;
  /** The key that a row shows; left out for a list whose rows never show the key of a write. */
  readonly keyOf?: (item: Item) => string | undefined;
  readonly compare: (facts: JsonObject, row: ListedRow) => Likeness;
  /** Fields of a found row that are kept. */
  readonly kept: ReadonlyArray<string>;
  /** Fields of a row that a person is shown. */
  readonly shown: ReadonlyArray<string>;
}

/** Most possible matches that a person is shown. */
const MOST_SHOWN = 20;

/** Shortest wait between two readings; each further one is three times as long as the search so far. */
const SHORTEST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 5 * 60_000;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Compares a listed key with those of all generations of a write. */
const keyMatcher = (row: WriteRow): ((listed: string | undefined) => Candidate["key"]) => {
  const [own = "", ...others] = keysOf(row);
  const known = new Map<string, Candidate["key"]>([
    ...others.map((key) => [key, "otherGeneration"] as const),
    [own, "own"],
  ]);
  return (listed) => {
    if (listed === undefined || listed.trim() === "") return "none";
    const plain = plainKey(listed);
    const exact = known.get(plain);
    if (exact !== undefined) return exact;
    // Most rows belong to other writes; a whole UUID is not another spelling of our key.
    if (plain === listed && UUID.test(plain)) return "other";
    const match = matchKey([own], listed);
    if (match === "same") return "own";
    if (matchKey(others, listed) === "same") return "otherGeneration";
    return match === "different" ? "other" : match === "near" ? "near" : "none";
  };
};

/** Whether lists show keys; by default, a list in which no row shows a key has none. */
const keysShownIn = (
  { payoutKeyEcho }: Assumptions,
  hasKeys: boolean,
  showsOne: boolean,
): "always" | "never" | "unknown" => {
  if (!hasKeys || payoutKeyEcho === "none") return "never";
  if (payoutKeyEcho === "same") return "always";
  return showsOne ? "unknown" : "never";
};

/** Whether two requests differ in more than one field: then no row of one looks like the other if one field is listed in another way. */
const areApart = (one: WriteRow["request"], other: WriteRow["request"]): boolean =>
  Object.entries(one.facts).filter(([name, fact]) => other.facts[name] !== fact).length > 1;

// Rows of the list are read by the names of their fields.
const fieldsOf = (item: object) => item as ListedRow;

/** Compares a row with a request. If the ledger has forgotten earlier sends, nothing is excluded. */
const compareIn =
  ({ compare }: Pick<SearchedList<object>, "compare">) =>
  ({ facts }: WriteRow["request"], fields: ListedRow): Likeness =>
    Object.keys(facts).length === 0 ? "near" : compare(facts, fields);

const NO_FACTS: Facts<unknown> = { owners: new Map(), known: [], rivalsOf: () => ({}) };

const readFacts = async <Item extends object>(
  list: SearchedList<Item>,
  items: ReadonlyArray<Item>,
  { account, operation }: WriteRow,
  ledger: Ledger,
): Promise<Facts<Item>> => {
  const idOf = (item: Item) => String(item[list.idField]);
  const [owners, rivals] = await Promise.all([
    ledger.owners(account, operation, items.map(idOf)),
    ledger.rivals(account, operation),
  ]);
  const known = items.flatMap((item) => {
    const owner = owners.get(idOf(item));
    return owner === undefined ? [] : [{ ...owner, created: fieldsOf(item)["create_time"] }];
  });
  const compare = compareIn(list);
  const compared = new Map<Item, ReturnType<Facts<Item>["rivalsOf"]>>();
  const rivalsOf = (item: Item) => {
    const found =
      compared.get(item) ??
      Object.groupBy(rivals, ({ request }) => compare(request, fieldsOf(item)));
    compared.set(item, found);
    return found;
  };
  return { owners, known, rivalsOf };
};

/**
 * Searches for the result of a write: reads the list, then the results and possible results of other writes from the
 * ledger, so that nothing can come in between. `now` is the ledger's clock before the search.
 */
export const searchList = async <Item extends object>(
  list: SearchedList<Item>,
  row: WriteRow,
  now: number,
  {
    assumptions,
    ledger,
    policy,
  }: { readonly assumptions: Assumptions; readonly ledger: Ledger; readonly policy: WritePolicy },
): Promise<Verdict> => {
  const compare = compareIn(list);
  const matchKeys = keyMatcher(row);
  const keyOfItem = (item: Item) => matchKeys(list.keyOf?.(item));
  const isOwn = (item: Item) => keyOfItem(item) === "own";
  const listedFrom = (row.until ?? now) + policy.listLagMs;
  const { fault, items, unreadable } =
    (await list.windows?.read(row, now >= listedFrom, isOwn)) ?? (await list.readings.read(isOwn));
  // Our key alone decides: such a row costs nothing else.
  const facts = items.some(isOwn)
    ? NO_FACTS
    : (list.facts.get(items) ?? readFacts(list, items, row, ledger));
  if (facts instanceof Promise) list.facts.set(items, facts);
  const { known, owners, rivalsOf } = await facts;
  const idOf = (item: Item) => String(item[list.idField]);
  // If nothing vouches for the write, an earlier request may have been different.
  const unkeyed = row.from !== null ? [] : items.filter((item) => keyOfItem(item) === "none");
  const alike = unreadable.filter(({ fields }) => compare(row.request, fields) !== "different");
  const ageOf = agesBy(row, known, assumptions);
  const othersOf = (item: Item, by: Likeness): ReadonlyArray<WriteRow> =>
    (rivalsOf(item)[by] ?? []).filter(
      ({ step, workflowId }) => step !== row.step || workflowId !== row.workflowId,
    );
  const rivalOf = (item: Item, own: Likeness): Candidate["rival"] => {
    const isAble = ({ request }: WriteRow) => own !== "exact" || !areApart(row.request, request);
    const alikes = [...othersOf(item, "exact"), ...othersOf(item, "near")];
    const able = [...alikes, ...othersOf(item, "similar").filter(isAble)];
    if (able.length === 0) return "none";
    const isSettling = able.some(
      ({ state, until }) =>
        state === "sending" || (state === "unknown" && (until ?? 0) + policy.listLagMs > now),
    );
    return isSettling ? "settling" : "open";
  };
  const candidates = items.flatMap((item): ReadonlyArray<Candidate> => {
    const key = keyOfItem(item);
    const likeness = compare(row.request, fieldsOf(item));
    if (key === "none" || key === "other") {
      if (likeness === "different") return [];
      // A row that is exactly as another open write was sent, and legibly not as this one, is not another spelling of ours;
      // unless their requests differ in that field alone.
      const isOfRival = ({ request }: WriteRow) => areApart(row.request, request);
      if (likeness === "similar" && othersOf(item, "exact").some(isOfRival)) return [];
    }
    const id = idOf(item);
    return [
      {
        id,
        key,
        likeness,
        result: pickTexts(item, list.kept),
        shown: pickTexts(item, list.shown),
        isOwned: owners.has(id),
        age: ageOf(fieldsOf(item)["create_time"]),
        // Compares the row with all of them, which only some verdicts need.
        get rival() {
          return rivalOf(item, likeness);
        },
      },
    ];
  });
  const lostAt = (row.until ?? now) - policy.requestTimeoutMs - LEAVES_WITHIN_MS;
  const verdict = verdictOf({
    candidates,
    unreadable: alike.filter(({ fields }) => ageOf(fields["create_time"]) !== "older").length,
    fault,
    readAt: now,
    listedFrom,
    nextAt: now + Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, 2 * (now - lostAt))),
    keysShown: keysShownIn(
      assumptions,
      list.keyOf !== undefined,
      items.some((item) => (list.keyOf?.(item) ?? "").trim() !== ""),
    ),
    knowsOthers: row.from !== null,
    unowned: unkeyed
      .filter((item) => !owners.has(idOf(item)))
      .slice(0, MOST_SHOWN)
      .map((item) => pickTexts(item, list.shown)),
  });
  return verdict.is === "unclear"
    ? { ...verdict, candidates: verdict.candidates.slice(0, MOST_SHOWN) }
    : verdict;
};
