/*
 * Payouts from before the simulator started, such as ten million of them. They follow from arithmetic: one every so
 * often, each completed an hour after it was created. So they need no memory, and a page of them costs the same at any
 * place of the list.
 */
import type { ListPayoutsInput } from "@durable-payments/client/effect";
import type { RecordOf } from "./records.ts";

/** How many payouts there are from before, and when they were created. */
export interface Backlog {
  readonly payouts: number;
  /** Milliseconds between two of them. */
  readonly everyMs: number;
  /** When the last one is created, in milliseconds since 1970 by the service's clock: later ones are not listed yet. */
  readonly until: number;
}

/** Rows by their place, the oldest first. */
export interface Rows<Item> {
  readonly length: number;
  readonly at: (place: number) => Item;
}

const COMPLETED_AFTER_MS = 3_600_000;

const ID = /^00000000-0000-4000-8000-([\da-f]{12})$/;

const recordAt = ({ everyMs, payouts, until }: Backlog, place: number): RecordOf<"payouts"> => {
  const suffix = place.toString(16).padStart(12, "0");
  const created = until - (payouts - 1 - place) * everyMs;
  const create_time = new Date(created).toISOString();
  const complete_time = new Date(created + COMPLETED_AFTER_MS).toISOString();
  return {
    payout_id: `00000000-0000-4000-8000-${suffix}`,
    short_reference: `P${create_time.slice(2, 10).replaceAll("-", "")}-${suffix.slice(-8).toUpperCase()}`,
    payout_status: "completed",
    currency: "USD",
    amount: `${1 + (place % 900)}.00`,
    fee_amount: "0.00",
    beneficiary_id: "00000000-0000-4000-8000-00000000beef",
    beneficiary_name: "Earlier Payee",
    payer_id: "",
    payout_reason: "Goods purchased",
    payout_reference: `Earlier ${place}`,
    payment_date: create_time.slice(0, 10),
    unique_request_id: `earlier-${place}`,
    transaction_id: "",
    returned: false,
    create_time,
    update_time: complete_time,
    complete_time,
  };
};

/** Returns the payout with an id, if it is from before. */
export const payoutFromBefore = (
  backlog: Backlog | undefined,
  id: string,
): RecordOf<"payouts"> | undefined => {
  const place = Number.parseInt(ID.exec(id)?.[1] ?? "-1", 16);
  return backlog !== undefined && place >= 0 && place < backlog.payouts
    ? recordAt(backlog, place)
    : undefined;
};

/** Returns the payouts of the backlog that a query lists now, if any. None has a status, or a short reference, to filter by. */
export const payoutsFromBefore = (
  backlog: Backlog | undefined,
  now: number,
  {
    date_type,
    end = Infinity,
    scope,
    short_reference_id,
    start = -Infinity,
    status,
  }: ListPayoutsInput,
): Rows<RecordOf<"payouts">> | undefined => {
  const isFiltered = short_reference_id !== undefined || status !== undefined;
  if (backlog === undefined || isFiltered || scope === "clients_account") return undefined;
  const { everyMs, payouts, until } = backlog;
  const first = until - (payouts - 1) * everyMs;
  const shift = date_type === "settle_time" ? COMPLETED_AFTER_MS : 0;
  const within = (place: number) => Math.min(Math.max(place, 0), payouts);
  const from = within(Math.ceil((start - shift - first) / everyMs));
  const to = within(Math.floor((Math.min(end, now) - shift - first) / everyMs) + 1);
  return { length: Math.max(0, to - from), at: (place) => recordAt(backlog, from + place) };
};
