/*
 * Readings of the objects that runs wait for: payouts, cardholders and balances.
 *
 * The activity of a wait reads an object once. The tracker reads it again until it has an outcome, and a write compares
 * what its run believes of it. So there is one reading for each kind of wait, and it says the same to all three. A payout
 * that was read is recorded in the ledger before anybody believes its outcome.
 */
import {
  type Assumptions,
  type Cardholder,
  isOneOf,
  type Payout,
  type PaymentsError,
  UnexpectedAnswer,
} from "@durable-payments/client/effect";
import type { Ledger, NewWait, RecordedWrite, SeenOfPayout, Wait } from "@durable-payments/ledger";
import { isAtLeast } from "@durable-payments/client/decimal";
import {
  type SeenCardholder,
  type SeenFunds,
  type SeenPayout,
  type SeenReturn,
  failureTypes,
  WAIT,
} from "@durable-payments/protocol/calls";
import { Effect, Option, Stream } from "effect";
import { withoutGroups } from "./evidence/amounts.ts";
import { contradictionOf, isOtherId } from "./evidence/match.ts";
import { countFailure } from "./failure-counter.ts";
import { payoutStatus, type Words } from "./payout-status.ts";
import { type ClientCall, LAST, type Service } from "./run-operation.ts";

/** A payout, as the ledger has it: a run proves neither its request nor its age. */
interface KnownPayout {
  readonly payout_id: string;
  /** Its write: a response about another request is a contradiction. */
  readonly row: RecordedWrite | undefined;
  /** For how long it has been known, by the ledger's own clock. */
  readonly knownForMs: number | undefined;
}

/** A result, which may still be `open`: then `why` is a sentence for a person. */
export interface Seen<A = { readonly outcome: string }> {
  readonly seen: A;
  readonly why: string;
}

/** Reads one object at the service, of which `thing` is the id; a balance is its currency and the amount that is needed. */
export type Reading<A extends { readonly outcome: string } = { readonly outcome: string }> = (
  client: Service,
  ledger: Ledger,
  account: string,
  thing: string,
) => Effect.Effect<Seen<A>, PaymentsError>;

/** A payout as its run and the ledger see it. */
export interface SeenStatus extends Seen<SeenPayout> {
  readonly status: SeenOfPayout;
}

/** Returns the fields of a payout that name no person. */
export const seenPayout = (
  { knownForMs, payout_id, row }: KnownPayout,
  payout: Payout,
  assumptions: Assumptions,
  words: Words,
): SeenStatus => {
  const { amount, currency, payout_status = "", short_reference } = payout;
  const { amount: asked, currency: of, payee } = row?.request ?? {};
  const sent = asked && of && payee && { amount: asked, currency: of, beneficiary_id: payee };
  const contradiction = sent
    ? contradictionOf(sent, payout, assumptions.payoutFieldsAsSent)
    : undefined;
  const status = payoutStatus(payout, assumptions, words, knownForMs);
  const outcome = status.outcome ?? "open";
  if (contradiction !== undefined) countFailure(failureTypes.payoutDiffers);
  return {
    status,
    seen: {
      payout_id,
      // To a workflow, money that came back was not paid.
      outcome: outcome === "returned" ? "failed" : outcome,
      payout_status,
      ...(amount !== undefined && { amount }),
      ...(currency !== undefined && { currency }),
      ...(short_reference !== undefined && { short_reference }),
      ...(contradiction !== undefined && { contradiction }),
    },
    why: `The payout is ${payout_status || "listed without a status"}.`,
  };
};

/** Returns the fields of a cardholder that name no person. */
export const seenCardholder = (
  cardholder: Cardholder,
  assumptions: Assumptions,
): Seen<SeenCardholder> => {
  const { card_holder_id, card_holder_status: status } = cardholder;
  const outcomes = [
    ["verified", assumptions.cardholderVerifiedStatuses],
    ["refused", assumptions.cardholderRefusedStatuses],
    ["incomplete", assumptions.cardholderIncompleteStatuses],
  ] as const;
  const [outcome = "open"] = outcomes.find(([, statuses]) => isOneOf(statuses, status)) ?? [];
  return {
    seen: {
      card_holder_id,
      outcome,
      ...(status !== undefined && { card_holder_status: status }),
    },
    why: `The cardholder is ${status ?? "listed without a status"}.`,
  };
};

/** Reads the write that made a cardholder. */
const readMaker = async (ledger: Ledger, account: string, id: string) => {
  const owner = (await ledger.owners(account, "createCardholder", [id])).get(id);
  const rows = owner === undefined ? [] : await ledger.rowsOf(owner.workflowId);
  return rows.find((row) => row.account === account && row.step === owner?.step);
};

/** Returns the state of a cardholder that the list does not show: a step may have removed it. */
export const notListed = async (
  ledger: Ledger,
  account: string,
  card_holder_id: string,
): Promise<Seen<SeenCardholder>> => {
  // An unreadable value proves nothing.
  const maker = await readMaker(ledger, account, card_holder_id).catch(() => undefined);
  const outcome = maker?.state === "undone" ? "removed" : "open";
  return { seen: { card_holder_id, outcome }, why: "The cardholder is not in the list yet." };
};

/** Reads a payout in the ledger, and the time by its clock. */
const readRecorded = async (ledger: Ledger, account: string, payout_id: string) => {
  const [row, { now }] = await Promise.all([ledger.payout(account, payout_id), ledger.state()]);
  return { row, now };
};

/** Reads one payout at the service. An answer about another payout fails. */
export const retrievePayout = (
  client: Service,
  payout_id: string,
): Effect.Effect<Payout, PaymentsError> =>
  Effect.flatMap(client.retrievePayout({ payout_id }, LAST), (payout) => {
    const isKept = client.options.assumptions.payoutFieldsAsSent.includes("payout_id");
    if (!isKept || !isOtherId(payout_id, payout.payout_id)) return Effect.succeed(payout);
    const message = `retrievePayout returned the payout ${payout.payout_id} instead of ${payout_id}.`;
    const operation = "retrievePayout";
    return Effect.fail(new UnexpectedAnswer({ operation, carriedOut: "no", message }));
  });

/**
 * Reads one payout, with what the ledger knows of it, or `age` says, and records what is seen before anybody believes it:
 * with the end of `wait`, if it has ended.
 */
export const readPayout = (
  client: Service,
  ledger: Ledger,
  account: string,
  payout_id: string,
  age?: number,
  wait?: NewWait,
): Effect.Effect<SeenStatus, PaymentsError> =>
  Effect.gen(function* () {
    const [{ now, row }, words] = yield* Effect.promise(() =>
      Promise.all([readRecorded(ledger, account, payout_id), ledger.words(account)]),
    );
    const payout = yield* retrievePayout(client, payout_id);
    const known = { payout_id, row, knownForMs: age ?? (row && now - row.changedAt) };
    const seen = seenPayout(known, payout, client.options.assumptions, words);
    const { outcome } = seen.seen;
    const ended = wait && outcome !== "open" ? { ...wait, outcome: { outcome } } : undefined;
    yield* Effect.promise(() => ledger.sawPayout(account, payout_id, seen.status, row, ended));
    return seen;
  });

/**
 * Returns whether the money of a payout came back. Only a new return is read at the service: another part may have seen it
 * since the wait began. Without a write of the ledger, nothing but the service's word says it.
 */
export const readReturn: Reading<SeenReturn> = (client, ledger, account, payout_id) =>
  Effect.gen(function* () {
    const known = Effect.promise(() => readRecorded(ledger, account, payout_id));
    const seenIn = ({ now, row }: Effect.Success<typeof known>, read?: SeenOfPayout) => {
      const outcome = row?.standing ?? read?.outcome;
      return {
        payout_id,
        outcome: outcome === "failed" || outcome === "returned" ? outcome : ("open" as const),
        payout_status: row?.word ?? read?.word ?? "",
        seen_at: new Date(row?.outcomeAt ?? now).toISOString(),
      };
    };
    const recorded = seenIn(yield* known);
    if (recorded.outcome !== "open") return { seen: recorded, why: "" };
    const { status, why } = yield* readPayout(client, ledger, account, payout_id);
    return { seen: seenIn(yield* known, status), why };
  });

/** Reads one cardholder, in the list: the service has no operation for one. */
export const readCardholder: Reading<SeenCardholder> = (client, ledger, account, card_holder_id) =>
  client.streams.listCardholders({}, LAST).pipe(
    Stream.filter((listed) => listed.card_holder_id === card_holder_id),
    Stream.runHead,
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.promise(() => notListed(ledger, account, card_holder_id)),
        onSome: (found) => Effect.succeed(seenCardholder(found, client.options.assumptions)),
      }),
    ),
  );

/** Reads a balance. If the service does not have it, it is refused, and the step creates it. */
export const readFunds: Reading<SeenFunds> = (client, _ledger, _account, thing) => {
  const [currency = "", amount = ""] = thing.split(" ");
  return Effect.map(
    client.retrieveBalance({ currency }, LAST),
    ({ available_balance, balance_id }) => {
      const outcome = isAtLeast(withoutGroups(available_balance), amount) ? "enough" : "open";
      return {
        seen: { currency, amount, outcome, balance_id, available_balance },
        why: `The ${currency} balance holds ${available_balance}, but ${amount} is needed.`,
      };
    },
  );
};

/** The readings of the objects of waits, by kind. */
export const READINGS: Readonly<Record<Wait["kind"], Reading>> = {
  payout: readPayout,
  return: readReturn,
  cardholder: readCardholder,
  balance: readFunds,
};

/** Returns the reading of the object of a wait, by the id of its activity; undefined if nothing needs to be read. */
export const lookOf = (
  activityId: string,
  ledger: Ledger,
  account: string,
): ClientCall<Seen> | undefined => {
  const end = activityId.indexOf(":");
  const kind = (["payout", "return", "cardholder"] as const).find(
    (one) => WAIT[one] === activityId.slice(0, end),
  );
  return kind && ((client) => READINGS[kind](client, ledger, account, activityId.slice(end + 1)));
};
