import { accountIn, isOfAnyAccount, unknownAccount } from "./account-check.ts";
import type { PaymentsActivities } from "./payments-activities.ts";

/**
 * Join the activities of several accounts for one worker: each call goes to those of the account that its run was
 * given, and a run that was given another one is refused.
 *
 * @param accounts the activities of each account by its name, as `makePaymentsActivities` makes them with that name;
 *   by undefined those of the account without a name, for runs that were given none.
 * @returns every activity by its type, for `Worker.create`.
 * @throws RangeError where there is no account.
 * @example
 * ```ts
 * const activities = forAccounts(
 *   new Map([
 *     ["eu", makePaymentsActivities(euRuntime, { account: "eu", journal: euJournal })],
 *     ["us", makePaymentsActivities(usRuntime, { account: "us", journal: usJournal })],
 *   ]),
 * );
 * ```
 */
export const forAccounts = (
  accounts: ReadonlyMap<string | undefined, PaymentsActivities>,
): PaymentsActivities => {
  const known = [...accounts.keys()];
  const [any] = accounts.values();
  if (any === undefined) throw new RangeError("A worker needs at least one account.");
  const dispatched =
    (name: keyof PaymentsActivities) =>
    async (...input: ReadonlyArray<unknown>): Promise<unknown> => {
      const given = accountIn(input);
      const own =
        accounts.get(given.paymentAccountName) ?? (isOfAnyAccount(name) ? any : undefined);
      if (own === undefined) throw unknownAccount(name, given, known);
      // The activities of an account take what a run gives them.
      return (own[name] as (...given: ReadonlyArray<unknown>) => Promise<unknown>)(...input);
    };
  return Object.fromEntries(
    Object.keys(any).map((name) => [name, dispatched(name as keyof PaymentsActivities)]),
    // The same activities by the same names.
  ) as unknown as PaymentsActivities;
};
