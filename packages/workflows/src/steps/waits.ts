import { isRecord } from "@durable-payments/client/values";
import type { Duration } from "@durable-payments/protocol";
import {
  type PayoutWait,
  type SeenCardholder,
  type SeenFunds,
  type SeenPayout,
  type SeenReturn,
  WAIT,
  WAIT_ATTEMPT,
  waitActivityId,
} from "@durable-payments/protocol/calls";
import { isDuration } from "@durable-payments/protocol/inputs";
import { msToNumber } from "@temporalio/common/lib/time.js";
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  isCancellation,
  sleep,
  TimeoutFailure,
} from "@temporalio/workflow";
import {
  NotFunded,
  NotVerified,
  PayoutDiffers,
  PayoutFailed,
  PayoutStillOpen,
  Refused,
} from "../failures.ts";
import { asPaymentFailure, failTask, runState } from "../run.ts";
import { activity, isMissing, sendWrite } from "./write.ts";

/** Length and account of a wait. */
export interface WaitOptions {
  /** Longest time to wait. Default: 30 days; 7 days for an identity check. */
  readonly within?: Duration | undefined;
  /** Name of the account. Default: the account of the step whose result is awaited. */
  readonly account?: string | undefined;
}

const OPTIONS: ReadonlySet<string> = new Set<keyof WaitOptions>(["account", "within"]);

/** Returns the options of a wait. The compiler does not see every call: a misspelt time would be ignored. */
const checked = (wait: string, options: WaitOptions): WaitOptions => {
  const unknown = Object.keys(options).find((option) => !OPTIONS.has(option));
  if (unknown !== undefined) return failTask(`${wait} has no option ${JSON.stringify(unknown)}.`);
  const { within } = options;
  return within === undefined || isDuration(within)
    ? options
    : failTask(
        `The option within of ${wait} must be a duration, such as "5 days", not ${typeof within === "string" ? JSON.stringify(within) : String(within)}.`,
      );
};

/** Returns what a wait is about. A missing argument would fail the task with words that name no step. */
const given = <Thing extends object>(
  wait: string,
  thing: Thing,
  ...fields: ReadonlyArray<keyof Thing & string>
): Thing =>
  isRecord(thing) && !fields.some((field) => isMissing(thing[field]))
    ? thing
    : failTask(`${wait} needs an object with ${fields.join(", ")}.`);

type Mode = Pick<PayoutWait, "mode">;

interface Awaited<Seen extends { readonly outcome: string }, Of> {
  readonly name: (typeof WAIT)[keyof typeof WAIT];
  /** The object of the wait, as its activity takes it and as each result names it; a part of the activity's id. */
  readonly of: Of;
  /** Returns the activity of that name. */
  readonly attempt: (
    account: string | undefined,
    how: ActivityOptions,
  ) => (input: Of & Mode) => Promise<Seen>;
  readonly account: string | undefined;
  readonly within: Duration;
  /** Returns the result, or throws the failure of the wait. */
  readonly judge: (seen: Seen) => Seen;
  /** Creates the missing object if the service refuses the wait. */
  readonly make?: () => Promise<unknown>;
}

/** The time is over: by a timeout, or by a retry that would come too late. */
const isOver = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  (error.retryState === "TIMEOUT" || error.cause instanceof TimeoutFailure);

/** Waits by one activity. Equal waits share it: Temporal refuses a second activity with the same id. */
const waitFor = <Seen extends { readonly outcome: string }, Of extends object>({
  make,
  ...awaited
}: Awaited<Seen, Of>): Promise<Seen> => {
  const { attempt, judge, name, of, within } = awaited;
  const state = runState();
  const { waits } = state;
  const thing = Object.values(of).join(" ");
  const { account = state.accounts.get(thing) } = awaited;
  const id = waitActivityId(name, thing);
  const underWay = waits.get(id);
  // The id contains the kind of the wait, so the type of its result is known: this permits the cast.
  if (underWay !== undefined) return underWay as Promise<Seen>;
  const call = (mode: Mode, how: ActivityOptions): Promise<Seen> =>
    attempt(account, {
      startToCloseTimeout: WAIT_ATTEMPT,
      retry: { initialInterval: "1 second", backoffCoefficient: 1 },
      ...how,
    })({ ...of, ...mode });
  /** With repeated ids, the result of an earlier run could be delivered. */
  const isIt = (seen: object): boolean =>
    Object.entries(of).every(([field, value]) => Reflect.get(seen, field) === value);
  /** Results that the next write reports. Not those of funds, which may change, and not "open", which proves nothing. */
  const believe = (outcome: string): void => {
    waits.delete(id);
    if (name === WAIT.balance || outcome === "open") return;
    state.believed = [...state.believed, { wait: id, outcome, ...(account && { account }) }];
  };
  /** An activity can be completed by hand, with anything. */
  const endedOr = (again: () => Promise<Seen>) => (seen: Seen) => {
    if (!isRecord(seen) || !isIt(seen)) return again();
    believe(seen.outcome);
    return judge(seen);
  };
  const failed = (error: unknown): Promise<Seen> => {
    const failure = asPaymentFailure(error);
    const { type } = failure instanceof ApplicationFailure ? failure : {};
    believe(isCancellation(failure) ? "open" : (type ?? "error"));
    if (make === undefined || !(failure instanceof Refused)) throw failure;
    return make().then(() => waitFor(awaited));
  };
  const lastLook = (): Promise<Seen> =>
    call(
      { mode: "look" },
      {
        activityId: `${id}:look`,
        startToCloseTimeout: "1 minute",
        summary: `${thing}: final check`,
      },
    ).then(endedOr(lastLook), failed);
  const until = Date.now() + msToNumber(within);
  /** An activity is over as soon as its next attempt would come too late: the object is read at the end, not before. */
  const atTheEnd = (): Promise<Seen> => {
    const left = until - Date.now();
    return left > 0 ? sleep(left).then(lastLook, failed) : lastLook();
  };
  const wait = (): Promise<Seen> => {
    const left = until - Date.now();
    if (left <= 0) return lastLook();
    return call({}, { activityId: id, scheduleToCloseTimeout: left, summary: thing }).then(
      endedOr(wait),
      (error: unknown) => (isOver(error) ? atTheEnd() : failed(error)),
    );
  };
  const waiting = wait();
  waits.set(id, waiting);
  return waiting;
};

const factsOfWait = (step: string, reason: string) => [{ operation: step, step, reason }];

/**
 * Waits until a payout has completed. It costs one activity, however long it waits.
 *
 * @param payout as `createPayout` returned it.
 * @param options how long it waits. Default: 30 days.
 * @returns the payout as the service shows it.
 * @throws PayoutFailed if it was not paid; PayoutStillOpen at the end of `within`: the payout may still complete;
 *   PayoutDiffers if the service shows another amount, currency or payee.
 * @example
 * ```ts
 * await awaitPayout(await createPayout(request), { within: "5 days" });
 * ```
 */
export const awaitPayout = (
  payout: { readonly payout_id: string },
  options: WaitOptions = {},
): Promise<SeenPayout> => {
  const { payout_id } = given(WAIT.payout, payout, "payout_id");
  const { account, within = "30 days" } = checked(WAIT.payout, options);
  return waitFor({
    name: WAIT.payout,
    of: { payout_id },
    attempt: (...how) => activity(WAIT.payout, ...how),
    account,
    within,
    judge: (seen) => {
      const { contradiction, outcome, payout_status } = seen;
      const facts = factsOfWait(WAIT.payout, payout_status);
      if (contradiction !== undefined) {
        throw new PayoutDiffers(
          `The payout ${payout_id} does not match the request: ${contradiction}`,
          facts,
        );
      }
      if (outcome === "failed") {
        throw new PayoutFailed(`The payout ${payout_id} was not paid: ${payout_status}.`, facts);
      }
      if (outcome === "completed") return seen;
      throw new PayoutStillOpen(
        `The payout ${payout_id} was still open after ${within}: ${payout_status}. It may still be paid.`,
        facts,
      );
    },
  });
};

/** Money of a payout that came back. */
export interface PayoutReturn extends Omit<SeenReturn, "outcome"> {
  readonly outcome: Exclude<SeenReturn["outcome"], "open">;
}

/**
 * Waits whether the money of a payout comes back: whether it fails, or is returned or reversed, after it completed. It
 * costs one activity, however long it waits. A worker notices a return while it watches completed payouts (the setting
 * `watchCompletedFor`), then within six hours, and once more at the end of `within`.
 *
 * @param payout as `createPayout` returned it.
 * @param options how long it waits. Default: 30 days.
 * @returns the return: its outcome, the service's word, and when it was seen; undefined if the money has not come back at
 *   the end of `within`. A return throws nothing: the workflow decides what it means.
 * @example
 * ```ts
 * await awaitPayout(payout, { within: "5 days" });
 * const returned = await awaitReturn(payout, { within: "30 days" });
 * if (returned !== undefined) await openAgain(returned.payout_id, returned.payout_status);
 * ```
 */
export const awaitReturn = async (
  payout: { readonly payout_id: string },
  options: WaitOptions = {},
): Promise<PayoutReturn | undefined> => {
  const { payout_id } = given(WAIT.return, payout, "payout_id");
  const { account, within = "30 days" } = checked(WAIT.return, options);
  const { outcome, ...seen } = await waitFor({
    name: WAIT.return,
    of: { payout_id },
    attempt: (...how) => activity(WAIT.return, ...how),
    account,
    within,
    judge: (one) => one,
  });
  return outcome === "open" ? undefined : { ...seen, outcome };
};

/**
 * Waits until the identity of a cardholder is verified. It costs one activity, however long it waits.
 *
 * @param cardholder as `createCardholder` returned it.
 * @param options how long it waits. Default: 7 days.
 * @returns the id of the cardholder, with the outcome `verified`.
 * @throws NotVerified if the check has failed, or is open at the end of `within`.
 */
export const awaitVerification = (
  cardholder: { readonly card_holder_id: string },
  options: WaitOptions = {},
): Promise<SeenCardholder> => {
  const { card_holder_id } = given(WAIT.cardholder, cardholder, "card_holder_id");
  const { account, within = "7 days" } = checked(WAIT.cardholder, options);
  return waitFor({
    name: WAIT.cardholder,
    of: { card_holder_id },
    attempt: (...how) => activity(WAIT.cardholder, ...how),
    account,
    within,
    judge: (seen) => {
      if (seen.outcome === "verified") return seen;
      const check = `The identity check of the cardholder ${card_holder_id}`;
      throw new NotVerified(
        seen.outcome === "open"
          ? `${check} was still open after ${within}.`
          : seen.outcome === "incomplete"
            ? `${check} is incomplete: a retry is useful once it has passed.`
            : `The identity of the cardholder ${card_holder_id} was not verified: ${seen.outcome}.`,
        factsOfWait(WAIT.cardholder, seen.outcome),
      );
    },
  });
};

interface Balance {
  readonly balance_id: string;
  readonly available_balance?: string;
}

/**
 * Ensures that the account has a balance in a currency: reads the existing one, or creates it.
 *
 * @param currency ISO 4217 code, such as `USD`.
 * @returns the id of the balance, and the available amount as a decimal string.
 * @throws Refused if the service has no balance in that currency and creates none.
 */
export const ensureBalance = (
  currency: string,
  options: Pick<WaitOptions, "account"> = {},
): Promise<Balance> => {
  const { account } = checked("ensureBalance", options);
  const retrieveBalance = activity("retrieveBalance", account, {
    startToCloseTimeout: "1 minute",
    retry: { maximumInterval: "1 minute" },
    summary: `the ${currency} balance`,
  });
  const read = () =>
    retrieveBalance({ currency }).catch((error: unknown) => {
      throw asPaymentFailure(error);
    });
  return read().catch(async (error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    await createBalance(currency, account);
    return await read();
  });
};

/** There is one balance for each currency, so its step is named after the currency. */
const createBalance = (currency: string, account: string | undefined) =>
  sendWrite(
    { operation: "createBalance", request: { currency, name: currency } },
    { step: `createBalance ${currency}`, account },
  );

/**
 * Waits until a balance holds an amount; creates a missing balance. Nothing is reserved: a later send may still be
 * refused.
 *
 * @param needed the amount as a decimal string, and the currency: for example, the request of a payout.
 * @param options how long it waits. Default: 30 days.
 * @returns the balance as the last reading showed it.
 * @throws NotFunded at the end of `within`; Refused if the service has no balance in that currency.
 */
export const awaitFunds = (
  needed: { readonly amount: string; readonly currency: string },
  options: WaitOptions = {},
): Promise<SeenFunds> => {
  const { amount, currency } = given(WAIT.balance, needed, "amount", "currency");
  const { account, within = "30 days" } = checked(WAIT.balance, options);
  return waitFor({
    name: WAIT.balance,
    of: { currency, amount },
    attempt: (...how) => activity(WAIT.balance, ...how),
    account,
    within,
    judge: (seen) => {
      if (seen.outcome === "enough") return seen;
      throw new NotFunded(
        `The ${currency} balance held ${seen.available_balance} after ${within}, but ${amount} is needed.`,
        factsOfWait(WAIT.balance, seen.available_balance),
      );
    },
    make: () => createBalance(currency, account),
  });
};
