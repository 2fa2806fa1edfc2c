/*
 * Waits for a payout, an identity check or funds, each by one activity.
 *
 * A wait may take weeks, and a poll for each run would cost a request each time. So an activity looks once, records its
 * wait, and is completed later by the tracker, which reads the service for all waits together. The result is recorded in
 * the ledger before anybody believes it: a worker that dies in between has not lost it.
 */
import {
  type Assumptions,
  type Cardholder,
  isOneOf,
  type Payout,
  type PaymentsClient,
  type PaymentsError,
  UnexpectedAnswer,
} from "@durable-payments/client/effect";
import {
  type Ledger,
  LedgerUnavailable,
  type NewWait,
  type SeenOfPayout,
  type Wait,
} from "@durable-payments/ledger";
import { isAtLeast } from "@durable-payments/client/decimal";
import {
  type FundsWait,
  type SeenCardholder,
  type SeenFunds,
  type SeenPayout,
  failureTypes,
  WAIT,
  type WaitActivities,
} from "@durable-payments/protocol/calls";
import { Effect, Option, Stream, Result } from "effect";
import { withoutGroups } from "./evidence/amounts.ts";
import { contradictionOf, isOtherId } from "./evidence/match.ts";
import { countFailure } from "./failure-counter.ts";
import { Context } from "@temporalio/activity";
import type { ApplicationFailure } from "@temporalio/common";
import { payoutStatus, type Words } from "./payout-status.ts";
import { readFailure } from "./reads.ts";
import { type ClientCall, LAST, notYet, type PaymentsRuntime, runCall } from "./run-operation.ts";

type Service = PaymentsClient["Service"];

/** The wait for a payout, as the ledger has it. */
export interface KnownPayout {
  readonly payout_id: string;
  /** For how long it has been known, by the ledger's own clock. */
  readonly knownForMs?: number;
  /** The request: a response about another object is a contradiction. */
  readonly sent?: Parameters<typeof contradictionOf>[0];
  /** Its write. */
  readonly row?: Awaited<ReturnType<Ledger["payout"]>>;
}

/** A result, which may still be `open`: then `why` is a sentence for a person. */
export interface Seen<A = { readonly outcome: string }> {
  readonly seen: A;
  readonly why: string;
}

/** Longest interval of the tracker's reads: acceptable for the service and for people. */
export const LONGEST_TRACKER_REST_MS = 60_000;

const SHORTEST_REST_MS = 1_000;

/** Returns the milliseconds from one read to the next: a tenth of the time waited so far, within bounds. */
export const intervalMs = (waitedMs: number, longestMs: number): number =>
  Math.max(SHORTEST_REST_MS, Math.min(longestMs, waitedMs / 10));

/** A payout as its run and the ledger see it. */
interface SeenStatus extends Seen<SeenPayout> {
  readonly status: SeenOfPayout;
}

/** Returns the fields of a payout that name no person. */
export const seenPayout = (
  { knownForMs, payout_id, sent }: KnownPayout,
  payout: Payout,
  assumptions: Assumptions,
  words: Words,
): SeenStatus => {
  const { amount, currency, payout_status = "", short_reference } = payout;
  const contradiction = sent && contradictionOf(sent, payout, assumptions.payoutFieldsAsSent);
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

/**
 * Returns the wait for a payout with its request and its age, as the ledger has them: a run proves neither.
 *
 * @param age if the caller knows it.
 */
export const withSent = async (
  ledger: Ledger,
  account: string,
  payout_id: string,
  age?: Pick<KnownPayout, "knownForMs">,
): Promise<KnownPayout> => {
  const row = await ledger.payout(account, payout_id);
  const { amount, currency, payee } = row?.request ?? {};
  return {
    payout_id,
    row,
    ...(age ?? (row && { knownForMs: (await ledger.state()).now - row.changedAt })),
    ...(amount && currency && payee && { sent: { amount, currency, beneficiary_id: payee } }),
  };
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

/**
 * Reads one payout, with what the ledger knows of it, or `age` says, and records what is seen before anybody believes it:
 * with the end of `wait`, if it has ended. An answer about another payout fails.
 */
export const readPayout = (
  client: Service,
  ledger: Ledger,
  account: string,
  payout_id: string,
  age?: Pick<KnownPayout, "knownForMs">,
  wait?: NewWait,
): Effect.Effect<Seen<SeenPayout>, PaymentsError> =>
  Effect.gen(function* () {
    const [known, words] = yield* Effect.promise(() =>
      Promise.all([withSent(ledger, account, payout_id, age), ledger.words(account)]),
    );
    const payout = yield* client.retrievePayout({ payout_id }, LAST);
    const { assumptions } = client.options;
    const isKept = assumptions.payoutFieldsAsSent.includes("payout_id");
    if (isKept && isOtherId(payout_id, payout.payout_id))
      return yield* Effect.fail(
        new UnexpectedAnswer({
          operation: "retrievePayout",
          carriedOut: "no",
          message: `retrievePayout returned the payout ${payout.payout_id} instead of ${payout_id}.`,
        }),
      );
    const seen = seenPayout(known, payout, assumptions, words);
    const { outcome } = seen.seen;
    const ended = wait && outcome !== "open" ? { ...wait, outcome: { outcome } } : undefined;
    yield* Effect.promise(() =>
      ledger.sawPayout(account, payout_id, seen.status, known.row, ended),
    );
    return seen;
  });

/** Reads one cardholder, in the list: the service has no operation for one. */
const readCardholder = (
  client: Service,
  ledger: Ledger,
  account: string,
  card_holder_id: string,
): Effect.Effect<Seen<SeenCardholder>, PaymentsError> =>
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
export const readFunds = (
  client: Service,
  { amount, currency }: FundsWait,
): Effect.Effect<Seen<SeenFunds>, PaymentsError> =>
  Effect.map(client.retrieveBalance({ currency }, LAST), ({ available_balance, balance_id }) => {
    const outcome = isAtLeast(withoutGroups(available_balance), amount) ? "enough" : "open";
    return {
      seen: { currency, amount, outcome, balance_id, available_balance },
      why: `The ${currency} balance holds ${available_balance}, but ${amount} is needed.`,
    };
  });

/** Longest interval of a polling wait without a tracker: each attempt is billed. */
const LONGEST_OWN_REST_MS = 6 * 3_600_000;

/** The time from the first attempt of a wait to this one, in milliseconds by Temporal's clock. */
const waitedMs = (): number => {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return currentAttemptScheduledTimestampMs - scheduledTimestampMs;
};

/** Returns the failure of a polling attempt until its next read is due. */
const pollAgain = (why: string): ApplicationFailure =>
  notYet(why, intervalMs(waitedMs(), LONGEST_OWN_REST_MS));

/**
 * How a wait continues after its first look. `completed`: the tracker completes its activity. `polled`: it reads the
 * service itself, as the time-skipping test server holds its time during asynchronous completion.
 */
export type WaitsBy = "completed" | "polled";

/** Options of the activities that wait. */
export interface WaitOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  /** The account of the runtime's client, as a hash. */
  readonly account: () => Promise<string>;
  readonly waits: WaitsBy;
}

/** Returns the reading of the object of a wait, by the id of its activity; undefined if nothing needs to be read. */
export const lookOf = (
  activityId: string,
  ledger: Ledger,
  account: string,
): ClientCall<Seen> | undefined => {
  const isOf = (name: string) => activityId.startsWith(`${name}:`);
  const thing = activityId.slice(activityId.indexOf(":") + 1);
  if (isOf(WAIT.cardholder)) return (client) => readCardholder(client, ledger, account, thing);
  return isOf(WAIT.payout) ? (client) => readPayout(client, ledger, account, thing) : undefined;
};

/** Makes the activities that wait for the service. */
export const makeWaitActivities = ({
  account,
  ledger,
  runtime,
  waits,
}: WaitOptions): WaitActivities => {
  const waitHere = async (kind: Wait["kind"], thing: string): Promise<NewWait> => {
    const { activityId, workflowExecution } = Context.current().info;
    const { runId = "", workflowId = "" } = workflowExecution ?? {};
    // The last reading has a separate id.
    const wait = activityId.replace(/:look$/, "");
    return { account: await account(), workflowId, runId, activityId: wait, kind, thing };
  };

  /** Records an end that this activity has seen itself: the next write of the run looks for it. */
  const recordEnd = async (kind: Wait["kind"], thing: string, outcome: string): Promise<void> => {
    if (kind !== "balance")
      await ledger.endWait({ ...(await waitHere(kind, thing)), outcome: { outcome } });
  };

  /** Leaves the end of the activity to the tracker. */
  const leaveToTracker = async (kind: Wait["kind"], thing: string, why: string): Promise<never> => {
    if (waits === "polled") throw pollAgain(why);
    await ledger.openWait(await waitHere(kind, thing));
    // Temporal completes it by its id in back-off, too. Left as started, it would be stuck if its worker is killed
    // before the wait is recorded.
    throw notYet(why, LONGEST_OWN_REST_MS);
  };

  const lookOnce = async <A extends { readonly outcome: string }>(
    kind: Wait["kind"],
    thing: string,
    read: ClientCall<Seen<A>>,
    mode: "look" | undefined,
  ): Promise<A> => {
    const result = await runCall(runtime, read, Context.current().cancellationSignal);
    if (Result.isSuccess(result)) {
      const { seen, why } = result.success;
      if (seen.outcome === "open") return mode === "look" ? seen : leaveToTracker(kind, thing, why);
      // The end of a wait for a payout is recorded with the payout.
      if (kind !== "payout") await recordEnd(kind, thing, seen.outcome);
      return seen;
    }
    const { failure } = result;
    // Any other failure of a read proves nothing about the object. A balance that the service refuses, the step creates.
    const { _tag: tag } = failure;
    if (tag === "InvalidRequest" || (tag === "RequestRefused" && kind === "balance")) {
      await recordEnd(kind, thing, failureTypes.invalidRequest);
      throw readFailure(failure, Context.current().info.attempt);
    }
    if (mode === "look") throw pollAgain(failure.message);
    return leaveToTracker(kind, thing, failure.message);
  };

  /** If the ledger does not respond, a later attempt may succeed. */
  const wait: typeof lookOnce = (...of) =>
    lookOnce(...of).catch((error: unknown) => {
      throw error instanceof LedgerUnavailable
        ? notYet(error.message, LONGEST_TRACKER_REST_MS)
        : error;
    });

  return {
    awaitPayout: async ({ mode, payout_id }) => {
      const hash = await account();
      // Its last look comes after a tracker has looked that knows the age.
      const age = mode === "look" ? undefined : { knownForMs: waitedMs() };
      const here = await waitHere("payout", payout_id);
      const read = (client: Service) => readPayout(client, ledger, hash, payout_id, age, here);
      return wait("payout", payout_id, read, mode);
    },
    awaitVerification: async ({ card_holder_id, mode }) => {
      const hash = await account();
      return wait(
        "cardholder",
        card_holder_id,
        (client) => readCardholder(client, ledger, hash, card_holder_id),
        mode,
      );
    },
    awaitFunds: (input) =>
      wait(
        "balance",
        `${input.currency} ${input.amount}`,
        (client) => readFunds(client, input),
        input.mode,
      ),
  };
};
