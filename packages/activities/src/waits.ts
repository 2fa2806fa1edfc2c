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
  readIntervalMs,
  type RecordedWrite,
  type SeenOfPayout,
  type Wait,
} from "@durable-payments/ledger";
import { isAtLeast } from "@durable-payments/client/decimal";
import {
  type FundsWait,
  type SeenCardholder,
  type SeenFunds,
  type SeenPayout,
  type SeenReturn,
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

/** Returns a payout as the ledger has it. */
export const knownPayout = async (
  ledger: Ledger,
  account: string,
  payout_id: string,
): Promise<KnownPayout> => {
  const [row, { now }] = await Promise.all([ledger.payout(account, payout_id), ledger.state()]);
  return { payout_id, row, knownForMs: row && now - row.changedAt };
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
    const [known, words] = yield* Effect.promise(() =>
      Promise.all([knownPayout(ledger, account, payout_id), ledger.words(account)]),
    );
    const payout = yield* retrievePayout(client, payout_id);
    const { row, knownForMs } = known;
    const of = { ...known, knownForMs: age ?? knownForMs };
    const seen = seenPayout(of, payout, client.options.assumptions, words);
    const { outcome } = seen.seen;
    const ended = wait && outcome !== "open" ? { ...wait, outcome: { outcome } } : undefined;
    yield* Effect.promise(() => ledger.sawPayout(account, payout_id, seen.status, row, ended));
    return seen;
  });

/**
 * Returns whether the money of a payout came back. Only a new return is read at the service: another part may have seen it
 * since the wait began. Without a write of the ledger, nothing but the service's word says it.
 */
export const readReturn = (
  client: Service,
  ledger: Ledger,
  account: string,
  payout_id: string,
): Effect.Effect<Seen<SeenReturn>, PaymentsError> =>
  Effect.gen(function* () {
    const known = Effect.promise(async () => {
      const [row, { now }] = await Promise.all([ledger.payout(account, payout_id), ledger.state()]);
      return { row, now };
    });
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

/** Time until a ledger that does not respond is tried again. */
const LEDGER_REST_MS = 60_000;

/** The time from the first attempt of a wait to this one, in milliseconds by Temporal's clock. */
const waitedMs = (): number => {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return currentAttemptScheduledTimestampMs - scheduledTimestampMs;
};

/** Returns the failure of a polling attempt until its next read is due. */
const pollAgain = (why: string): ApplicationFailure =>
  notYet(why, readIntervalMs(waitedMs(), LONGEST_OWN_REST_MS));

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
  if (isOf(WAIT.return)) return (client) => readReturn(client, ledger, account, thing);
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
      throw error instanceof LedgerUnavailable ? notYet(error.message, LEDGER_REST_MS) : error;
    });

  return {
    awaitPayout: async ({ mode, payout_id }) => {
      const hash = await account();
      // Its last look comes after a tracker has looked that knows the age.
      const age = mode === "look" ? undefined : waitedMs();
      const here = await waitHere("payout", payout_id);
      const read = (client: Service) => readPayout(client, ledger, hash, payout_id, age, here);
      return wait("payout", payout_id, read, mode);
    },
    awaitReturn: async ({ mode, payout_id }) => {
      const hash = await account();
      const read = (client: Service) => readReturn(client, ledger, hash, payout_id);
      return wait("return", payout_id, read, mode);
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
