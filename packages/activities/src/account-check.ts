import { type OperationName, operationNames } from "@durable-payments/api-core";
import { operation } from "@durable-payments/api-core/contract";
import { isOwnSend } from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import type { NotifierActivities } from "./notifications/notifier-activities.ts";

/** The last argument of an activity that a run calls: the account that the run belongs to. */
export interface OfAccount {
  /** The account that the run is pinned to, as `accountHash` makes it; absent where it is not known yet. */
  readonly paymentAccount?: string;
  /** Name of the account, as the run was given it; absent for the one without a name. */
  readonly paymentAccountName?: string;
}

/** Type of the failure of an activity that a worker of another account refuses: nothing was sent. */
export const OTHER_ACCOUNT = "OtherAccount";

/** Type of the failure of an activity whose worker has no account of the name that its run was given: nothing was sent. */
export const UNKNOWN_ACCOUNT = "UnknownAccount";

/** How long an activity waits before it tries again whether a worker of its account takes it. */
const OTHER_ACCOUNT_WAIT_MS = 5_000;

/** A name that is none counts as one, which no worker has: the account without a name must not pay for it. */
const isOfAccount = (argument: unknown): argument is OfAccount =>
  typeof argument === "object" &&
  argument !== null &&
  (("paymentAccount" in argument && typeof argument.paymentAccount === "string") ||
    "paymentAccountName" in argument);

/** What the input of an activity says of the account of its run; nothing where the run says nothing. */
export const accountIn = (input: ReadonlyArray<unknown>): OfAccount => {
  const given = input.at(-1);
  return isOfAccount(given) ? given : {};
};

/** Make the failure of a worker that was given the work of another account. */
export const otherAccount = (
  wanted: string,
  own: string,
  { nonRetryable }: { readonly nonRetryable: boolean },
): ApplicationFailure =>
  ApplicationFailure.create({
    type: OTHER_ACCOUNT,
    message: `This belongs to the account ${wanted}, and the worker that took it works for the account ${own} (hashes of client id and address): let workers of different accounts poll different task queues (PAYMENTS_TASK_QUEUE). Where nobody has that account, since the run was begun by a worker with wrong settings, terminate it, and start it under another id. It was not sent.`,
    nonRetryable,
    nextRetryDelay: OTHER_ACCOUNT_WAIT_MS,
  });

/** Sends are decided by the workflow, which remembers what happened to those before. */
const isSend = (activityType: string): boolean =>
  isOwnSend(activityType) ||
  operationNames.some(
    (name: OperationName) =>
      name === activityType && ["none", "keyed"].includes(operation(name).idempotency),
  );

/** Activities that concern a task queue, with all of its accounts. */
const OF_ANY_ACCOUNT: ReadonlySet<string> = new Set<keyof NotifierActivities>([
  "notify",
  "sendTestNotification",
]);

/** Check whether an activity is the same whatever account it is called for. */
export const isOfAnyAccount = (activityType: string): boolean => OF_ANY_ACCOUNT.has(activityType);

/**
 * Make the failure of a worker that has no account of the name that a run was given. A run that has not learned its
 * account has sent nothing, and fails; another one waits for a worker that has it.
 */
export const unknownAccount = (
  activityType: string,
  { paymentAccount, paymentAccountName: wanted }: OfAccount,
  known: ReadonlyArray<string | undefined>,
): ApplicationFailure => {
  const named = known.filter((name) => name !== undefined).join(", ");
  const own = named === "" ? "none with a name" : named;
  return ApplicationFailure.create({
    type: UNKNOWN_ACCOUNT,
    message:
      wanted === undefined
        ? `This run names no account, and the worker that took it has none without a name: it has ${own}. Give one of them as account in the input. Nothing was sent.`
        : `The worker has no account ${wanted}: it has ${own}. Give the account to every worker of the task queue, and retry this run; or start another one with an account that there is. Nothing was sent.`,
    nonRetryable: paymentAccount === undefined || isSend(activityType),
    nextRetryDelay: OTHER_ACCOUNT_WAIT_MS,
  });
};

/**
 * Make activities refuse what belongs to another account than the worker's: it would read the
 * wrong lists, and pay from the wrong balance. A call that names no account is let pass by those of the account
 * without a name.
 */
export const checkAccount = <
  Activities extends Readonly<Record<string, (...input: Array<never>) => Promise<unknown>>>,
>(
  own: { readonly name: string | undefined; readonly hash: () => Promise<string> },
  activities: Activities,
): Activities =>
  Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      async (...input: ReadonlyArray<unknown>): Promise<unknown> => {
        const given = input.at(-1);
        const isGiven = isOfAccount(given);
        const { paymentAccount, paymentAccountName } = isGiven ? given : {};
        if (paymentAccountName !== own.name && !isOfAnyAccount(name)) {
          throw unknownAccount(name, accountIn(input), [own.name]);
        }
        if (paymentAccount !== undefined) {
          const hash = await own.hash();
          if (paymentAccount !== hash) {
            throw otherAccount(paymentAccount, hash, { nonRetryable: isSend(name) });
          }
        }
        return activity(...((isGiven ? input.slice(0, -1) : input) as Array<never>));
      },
    ]),
    // The same activities by the same names.
  ) as unknown as Activities;
