/*
 * Waits for a payout, an identity check or funds, each by one activity.
 *
 * A wait may take weeks, and a poll for each run would cost a request each time. So an activity looks once, records its
 * wait, and is completed later by the tracker, which reads the service for all waits together. The result is recorded in
 * the ledger before anybody believes it: a worker that dies in between has not lost it.
 */
import {
  LedgerUnavailable,
  type NewWait,
  readIntervalMs,
  type Wait,
} from "@durable-payments/ledger";
import {
  failureTypes,
  type CardholderWait,
  type FundsWait,
  type PayoutWait,
} from "@durable-payments/protocol/calls";
import { Context } from "@temporalio/activity";
import type { ApplicationFailure } from "@temporalio/common";
import { Result } from "effect";
import { readFailure } from "./reads.ts";
import { type AccountOptions, notYet, runCall, type Service } from "./run-operation.ts";
import {
  readCardholder,
  readFunds,
  type Reading,
  readPayout,
  readReturn,
} from "./wait-readings.ts";

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
export interface WaitOptions extends AccountOptions {
  readonly waits: WaitsBy;
}

/** Makes the activities that wait for the service. */
export const makeWaitActivities = ({ account, ledger, runtime, waits }: WaitOptions) => {
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
    mode: "look" | undefined,
    read: Reading<A>,
  ): Promise<A> => {
    const hash = await account();
    const call = (client: Service) => read(client, ledger, hash, thing);
    const result = await runCall(runtime, call, Context.current().cancellationSignal);
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
    awaitPayout: async ({ mode, payout_id }: PayoutWait) => {
      // Its last look comes after a tracker has looked that knows the age.
      const age = mode === "look" ? undefined : waitedMs();
      const here = await waitHere("payout", payout_id);
      return wait("payout", payout_id, mode, (...of) => readPayout(...of, age, here));
    },
    awaitReturn: ({ mode, payout_id }: PayoutWait) => wait("return", payout_id, mode, readReturn),
    awaitVerification: ({ card_holder_id, mode }: CardholderWait) =>
      wait("cardholder", card_holder_id, mode, readCardholder),
    awaitFunds: ({ amount, currency, mode }: FundsWait) =>
      wait("balance", `${currency} ${amount}`, mode, readFunds),
  };
};
