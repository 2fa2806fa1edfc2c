import { type OperationName, operationNames } from "@durable-payments/api-core";
import { operation } from "@durable-payments/api-core/contract";
import { isOwnSend } from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";

/** The last argument of an activity that a run calls: the account that the run is pinned to. */
export interface OfAccount {
  /** As `accountHash` makes it. */
  readonly paymentAccount: string;
}

/** Type of the failure of an activity that a worker of another account refuses: nothing was sent. */
export const OTHER_ACCOUNT = "OtherAccount";

/** How long an activity waits before it tries again whether a worker of its account takes it. */
const OTHER_ACCOUNT_WAIT_MS = 5_000;

const isOfAccount = (argument: unknown): argument is OfAccount =>
  typeof argument === "object" &&
  argument !== null &&
  "paymentAccount" in argument &&
  typeof argument.paymentAccount === "string";

/** Make the failure of a worker that was given the work of another account. */
export const otherAccount = (
  wanted: string,
  own: string,
  { nonRetryable }: { readonly nonRetryable: boolean },
): ApplicationFailure =>
  ApplicationFailure.create({
    type: OTHER_ACCOUNT,
    message: `This belongs to the account ${wanted}, and the worker that took it works for the account ${own} (hashes of client id and address): let workers of different accounts poll different task queues (PAYMENTS_TASK_QUEUE). It was not sent.`,
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

/**
 * Make activities refuse what belongs to another account than the worker's: it would read the
 * wrong lists, and pay from the wrong balance. A call that names no account is let pass.
 */
export const checkAccount = <
  Activities extends Readonly<Record<string, (...input: Array<never>) => Promise<unknown>>>,
>(
  account: () => Promise<string>,
  activities: Activities,
): Activities =>
  Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      async (...input: ReadonlyArray<unknown>): Promise<unknown> => {
        const given = input.at(-1);
        if (!isOfAccount(given)) return activity(...(input as Array<never>));
        const own = await account();
        if (given.paymentAccount !== own) {
          throw otherAccount(given.paymentAccount, own, { nonRetryable: isSend(name) });
        }
        return activity(...(input.slice(0, -1) as Array<never>));
      },
    ]),
    // The same activities by the same names.
  ) as unknown as Activities;
