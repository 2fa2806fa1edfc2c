import {
  type Assumptions,
  type Balance,
  type Cardholder,
  type PaymentsClient,
  type PaymentsError,
  type Payout,
  UnexpectedAnswer,
} from "@durable-payments/api-core";
import type { Ledger } from "@durable-payments/ledger";
import { isAtLeast, withoutGroups } from "@durable-payments/api-core/decimal";
import type {
  CardholderWait,
  FundsWait,
  PayoutWait,
  SeenCardholder,
  SeenFunds,
  SeenPayout,
} from "@durable-payments/protocol/calls";
import { Effect, Option, Stream } from "effect";
import { contradictionOf, isOtherId } from "../evidence/match-rows.ts";
import { cardholderState, payoutState } from "../statuses.ts";

type Client = PaymentsClient["Service"];

/** Something that was seen while it is open, and why it is: a sentence for a person. */
export interface Seen<A> {
  readonly seen: A;
  readonly isOpen: boolean;
  readonly why: string;
}

/** The longest rest between two reads of the tracker: seldom enough for the service, often enough for people. */
export const LONGEST_TRACKER_REST_MS = 60_000;

const SHORTEST_REST_MS = 1_000;

/** Returns the milliseconds from one read to the next: a tenth of the time waited so far, within bounds. */
export const intervalMs = (waitedMs: number, longestMs: number): number =>
  Math.max(SHORTEST_REST_MS, Math.min(longestMs, waitedMs / 10));

/** Returns what a payout says of itself, without names. */
export const seenPayout = (
  { payout_id, sent }: PayoutWait,
  payout: Payout,
  assumptions: Assumptions,
): Seen<SeenPayout> => {
  const { amount, currency, payout_status = "", short_reference } = payout;
  const contradiction = sent && contradictionOf(sent, payout, assumptions.payoutFieldsAsSent);
  const outcome = payoutState(payout, assumptions);
  return {
    seen: {
      payout_id,
      outcome,
      payout_status,
      ...(amount !== undefined && { amount }),
      ...(currency !== undefined && { currency }),
      ...(short_reference !== undefined && { short_reference }),
      ...(contradiction !== undefined && { contradiction }),
    },
    isOpen: outcome === "open",
    why: `The payout is ${payout_status || "listed without a status"}.`,
  };
};

/** Returns what a cardholder says of itself, without names. */
export const seenCardholder = (
  cardholder: Cardholder,
  assumptions: Assumptions,
): Seen<SeenCardholder> => {
  const { card_holder_id, card_holder_status: status } = cardholder;
  const outcome = cardholderState(cardholder, assumptions);
  return {
    seen: {
      card_holder_id,
      outcome,
      ...(status !== undefined && { card_holder_status: status }),
    },
    isOpen: outcome === "open",
    why: `The cardholder is ${status ?? "listed without a status"}.`,
  };
};

/** Returns what is known of a cardholder that the list does not show. */
export const notListed = (card_holder_id: string): Seen<SeenCardholder> => ({
  seen: { card_holder_id, outcome: "open" },
  isOpen: true,
  why: "The cardholder is not in the list yet.",
});

/** Returns that a cardholder was removed, where the list does not show it and the ledger says so. */
export const orRemoved = async (
  ledger: Ledger,
  account: string,
  found: Seen<SeenCardholder>,
): Promise<Seen<SeenCardholder>> => {
  const { card_holder_id } = found.seen;
  const readState = async () => {
    const owners = await ledger.owners(account, "createCardholder", [card_holder_id]);
    const owner = owners.get(card_holder_id);
    return owner && (await ledger.look(owner)).row?.state;
  };
  // What cannot be read says nothing.
  return (await readState().catch(() => undefined)) === "undone"
    ? { ...found, seen: { card_holder_id, outcome: "removed" }, isOpen: false }
    : found;
};

/** Returns whether a balance holds what is needed. */
const seenFunds = ({ amount, currency }: FundsWait, balance: Balance): Seen<SeenFunds> => {
  const { available_balance, balance_id } = balance;
  const isEnough = isAtLeast(withoutGroups(available_balance), amount);
  return {
    seen: {
      currency,
      amount,
      outcome: isEnough ? "enough" : "open",
      balance_id,
      available_balance,
    },
    isOpen: !isEnough,
    why: `The ${currency} balance holds ${available_balance}, ${amount} is needed.`,
  };
};

/** Reads one payout; an answer about another one fails. */
export const readPayout = (
  client: Client,
  wait: PayoutWait,
): Effect.Effect<Seen<SeenPayout>, PaymentsError> =>
  Effect.flatMap(client.retrievePayout({ payout_id: wait.payout_id }), (payout) => {
    const { assumptions } = client.options;
    return assumptions.payoutFieldsAsSent.includes("payout_id") &&
      isOtherId(wait.payout_id, payout.payout_id)
      ? Effect.fail(
          new UnexpectedAnswer({
            operation: "retrievePayout",
            carriedOut: "no",
            message: `retrievePayout was answered about the payout ${payout.payout_id}, not ${wait.payout_id}.`,
            answer: "",
          }),
        )
      : Effect.succeed(seenPayout(wait, payout, assumptions));
  });

/** Reads one cardholder, in the list: the service has no operation for one. */
export const readCardholder = (
  client: Client,
  wait: CardholderWait,
): Effect.Effect<Seen<SeenCardholder>, PaymentsError> =>
  client.streams.listCardholders().pipe(
    Stream.filter(({ card_holder_id }) => card_holder_id === wait.card_holder_id),
    Stream.runHead,
    Effect.map(
      Option.match({
        onNone: () => notListed(wait.card_holder_id),
        onSome: (found) => seenCardholder(found, client.options.assumptions),
      }),
    ),
  );

/** Reads a balance; one that the service does not have is refused, and the step creates it. */
export const readFunds = (
  client: Client,
  wait: FundsWait,
): Effect.Effect<Seen<SeenFunds>, PaymentsError> =>
  Effect.map(client.retrieveBalance({ currency: wait.currency }), (balance) =>
    seenFunds(wait, balance),
  );
