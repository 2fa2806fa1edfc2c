/*
 * Finds cardholders and cards that exist twice, in what the ledger has and what the service lists.
 *
 * Neither is enough alone. A person who was onboarded under two ids is in two rows of the ledger. Its marks of persons tell
 * namesakes apart; the service's list cannot, because it shows no day of birth. But a cardholder of a lost response, or one
 * that somebody has made by hand, is in no row: only the list shows it. So two that are listed under one name are the
 * same person, unless the ledger has made each of them. Cards have no list; the list of cardholders counts them.
 */
import type { Cardholder } from "@durable-payments/client/effect";
import { lettersAndDigits } from "@durable-payments/client/values";
import type { CardholderWrite } from "@durable-payments/ledger";

/** Something that exists twice, or perhaps does. */
export interface MadeTwice {
  readonly kind: /** Requests for one person under several ids. */
    | "person"
    /** The service lists several cardholders of one name, and the ledger has not made all of them. */
    | "name"
    /** Equal requests for a card of one cardholder under several ids. */
    | "card"
    /** The service counts more cards of a cardholder than the ledger has requested. */
    | "cardCount";
  /** The service's ids. */
  readonly cardholders: ReadonlyArray<string>;
  readonly cards: ReadonlyArray<string>;
  /** Runs that requested them. */
  readonly workflowIds: ReadonlyArray<string>;
}

/** A listed cardholder. */
export type ListedCardholder = Pick<
  Cardholder,
  "card_holder_id" | "card_num" | "first_name" | "last_name"
>;

const OPEN: ReadonlySet<CardholderWrite["standing"]> = new Set(["asking", "unknown"]);

/** Whether the outcome of a request is not known yet. */
export const isUnderWay = ({ standing, state }: CardholderWrite): boolean =>
  state === "sending" || state === "unknown" || (state !== "ended" && OPEN.has(standing));

/** Whether a request has taken effect, or may have. */
const hasMade = (write: CardholderWrite): boolean =>
  write.standing === "completed" || write.standing === "unknown" || isUnderWay(write);

/** The service's document says only that `card_num` is a number. One of a card is longer than a count. */
const countOf = ({ card_num }: ListedCardholder): number =>
  /^\d{1,4}$/.test(String(card_num)) ? Number(card_num) : 0;

const idOf = ({ card_holder_id }: ListedCardholder): string => card_holder_id;

/** A name as the marks of persons compare it: some people write the last name first. Empty if the service shows none. */
export const nameOf = ({ first_name, last_name }: ListedCardholder): string =>
  [first_name, last_name]
    .map((name) => lettersAndDigits(name ?? ""))
    .toSorted()
    .join(" ")
    .trim();

const known = (ids: ReadonlyArray<string | null>): ReadonlyArray<string> =>
  [...new Set(ids.filter((id) => id !== null))].toSorted();

const isCard = ({ operation }: CardholderWrite): boolean => operation === "createCard";

const found = (
  kind: MadeTwice["kind"],
  writes: ReadonlyArray<CardholderWrite>,
  cardholders: ReadonlyArray<string | null>,
): MadeTwice => ({
  kind,
  cardholders: known(cardholders),
  cards: known(writes.filter(isCard).map(({ madeId }) => madeId)),
  workflowIds: known(writes.map(({ ownerId }) => ownerId)),
});

/** Returns the cardholder of a write: of a card, the one that gets it. */
const holderOf = (write: CardholderWrite): string | null =>
  isCard(write) ? write.payee : write.madeId;

const several = <A>(all: ReadonlyArray<A>, by: (one: A) => string): ReadonlyArray<Array<A>> =>
  [...Map.groupBy(all, by)].flatMap(([key, some]) => (key !== "" && some.length > 1 ? [some] : []));

/** Returns the cardholders and cards of an account that exist and are not removed, by the ledger. */
export const existing = (
  writes: ReadonlyArray<CardholderWrite>,
): Readonly<Record<"cards" | "holders", ReadonlyArray<CardholderWrite>>> => {
  const removed = new Set(
    writes.flatMap(({ madeId, operation, standing }) =>
      operation.startsWith("create") || standing !== "completed" ? [] : madeId,
    ),
  );
  const made = (name: string) =>
    writes.filter(
      (write) => write.operation === name && hasMade(write) && !removed.has(write.madeId),
    );
  return { holders: made("createCardholder"), cards: made("createCard") };
};

/** Finds what exists twice in an account. Its cost grows with the writes and the list alone: each is read once. */
export const findMadeTwice = (
  writes: ReadonlyArray<CardholderWrite>,
  listed: ReadonlyArray<ListedCardholder>,
): ReadonlyArray<MadeTwice> => {
  const { cards, holders } = existing(writes);
  const makers = new Map(
    writes.flatMap((write) =>
      write.operation === "createCardholder" && write.madeId !== null
        ? [[write.madeId, write] as const]
        : [],
    ),
  );
  const madeBy = (some: ReadonlyArray<ListedCardholder>) =>
    some.flatMap((one) => makers.get(idOf(one)) ?? []);
  // A card that was cancelled may be counted.
  const requested = Map.groupBy(
    writes.filter((write) => isCard(write) && (hasMade(write) || write.standing === "undone")),
    ({ payee }) => payee,
  );
  return [
    // A pruned write has no mark, and keeps the hash of its request.
    ...several(holders, ({ hash, payee }) => payee ?? hash).map((some) =>
      found("person", some, some.map(holderOf)),
    ),
    ...several(listed, nameOf)
      // A pruned write has no mark: it may be of the same person, although its request was another one.
      .filter((some) => madeBy(some).filter(({ payee }) => payee !== null).length < some.length)
      .map((some) => found("name", madeBy(some), some.map(idOf))),
    ...several(cards, ({ hash }) => hash).map((some) => found("card", some, some.map(holderOf))),
    ...listed.flatMap((one) => {
      const id = idOf(one);
      const own = requested.get(id) ?? [];
      // Cards of other cardholders may be made elsewhere; those of a pruned one cannot be counted.
      const isOurs = (makers.get(id)?.payee ?? null) !== null;
      return isOurs && countOf(one) > own.length ? [found("cardCount", own, [id])] : [];
    }),
  ];
};
