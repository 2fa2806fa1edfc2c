import { AMENDED_MARK } from "./payment-memo.ts";
import { sendings } from "./steps.ts";

/** Write letters of either case alike: upper case first, as `ß` and `SS` are alike. */
export const caseless = (text: string): string => text.toUpperCase().toLowerCase();

/**
 * Normalize a key (`unique_request_id`) or an id: equal for two that differ in case and blanks at
 * their ends only.
 */
export const normalizedKey = (key: string): string => caseless(key.trim());

const INTENT = "intent:";

/** Mark, in PaymentIds, what a run is about to make, until it is known what became of it. */
export const intentMark = (intent: string): string => `${INTENT}${intent}`;

/** In PaymentIds beside a mark that was made with a secret. */
export const KEYED_MARK = `${INTENT}keyed`;

/** Begins what names the secret, in PaymentIds beside a mark that was made with it. */
export const KEY_OF_MARK = `${INTENT}key/`;

/** The kind of what an id names, by the service's name of the id's field. */
const kindOf = (idField: string): string =>
  sendings.find((sending) => sending.idField === idField)?.makes ?? idField;

/**
 * List what a run or step says to be its own, as its PaymentIds have it beside the id or key alone:
 * `payout:<payout_id>`, `cardholder:<card_holder_id>`, `key:<unique_request_id>`. Only these say who
 * owns something: nothing says that a payout has another id than a card, or than somebody's key.
 *
 * @param ids by the service's name of their field.
 */
export const ownershipKeys = (
  ids: Readonly<Record<string, string>>,
  key?: string,
): ReadonlyArray<string> => [
  ...Object.entries(ids).flatMap(([name, id]) => (id === "" ? [] : [`${kindOf(name)}:${id}`])),
  ...(key === undefined || key === "" ? [] : [`key:${normalizedKey(key)}`]),
];

/** An id, or a key, and what it is called: `payout_id`, `key`; `id` where that is not known. */
export interface NamedId {
  readonly name: string;
  readonly id: string;
}

/** Name the keys and ids among the PaymentIds of a run, by the ownership keys beside them. */
export const namedIds = (paymentIds: ReadonlyArray<string>): ReadonlyArray<NamedId> =>
  plainIds(paymentIds).map((id) => {
    const kind = paymentIds
      .filter((one) => one.includes(":") && !one.startsWith(INTENT))
      .map((one) => [one.slice(0, one.indexOf(":")), one.slice(one.indexOf(":") + 1)])
      .find(([, owned]) => owned === id || owned === normalizedKey(id))
      ?.at(0);
    const made = sendings.find(({ makes }) => makes === kind);
    return { name: made?.idField ?? kind ?? "id", id };
  });

/** List the keys and ids among the PaymentIds of a run: no marks, and no ownership keys of what stands there too. */
export const plainIds = (paymentIds: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = new Set(paymentIds.flatMap((id) => [id, normalizedKey(id)]));
  return paymentIds.filter(
    (id) =>
      !id.startsWith(INTENT) &&
      id !== AMENDED_MARK &&
      !(id.includes(":") && all.has(id.slice(id.indexOf(":") + 1))),
  );
};
