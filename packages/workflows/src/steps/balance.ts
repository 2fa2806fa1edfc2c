import type { Balance } from "@durable-payments/api-core";
import { type Duration, type PollInterval, STEP, textAt } from "@durable-payments/protocol";
import { activities } from "../run/activities.ts";
import { failureOfActivity, runFailure } from "../run/failures.ts";
import { expectReadable, expectTimes, object, text, waiting } from "../run/input-faults.ts";
import { SOLE_POLLING, endOf, endsBy, orLastReading, pollSchedule } from "../run/polling.ts";
import type { Run } from "../run/run.ts";

const isRefusal = (error: unknown): boolean => failureOfActivity(error)?.type === "Refused";

/**
 * Make sure that the account has a balance in a currency: take the one there is, or create it. Creating
 * one that exists changes nothing.
 *
 * @param currency ISO 4217 code, such as `USD`.
 * @throws Refused where the service has no balance in that currency and creates none.
 * @example
 * ```ts
 * const { balance_id } = await ensureBalance(run, "USD");
 * ```
 */
export const ensureBalance = (run: Run, currency: string): Promise<Balance> =>
  run.step(
    STEP.ensureBalance,
    `finding the ${typeof currency === "string" ? currency : "?"} balance`,
    async (step) => {
      expectReadable(currency, `${step}: the currency`, text);
      const balance = await activities
        .retrieveBalance({ currency })
        .catch(async (error: unknown) => {
          if (!isRefusal(error)) throw error;
          // It may be there all the same: who refused the reading may have been busy.
          const refused = await activities.createBalance
            .executeWithOptions({ summary: `Create the ${currency} balance` }, [
              { currency, name: currency },
            ])
            .then(
              () => undefined,
              (refusal: unknown) => {
                if (!isRefusal(refusal)) throw refusal;
                return refusal;
              },
            );
          return activities.retrieveBalance({ currency }).catch((again: unknown) => {
            throw refused ?? again;
          });
        });
      run.known({ balance_id: balance.balance_id });
      return balance;
    },
  );

const readable = object({ amount: text, currency: text });

/** How long {@link awaitFunds} waits, and how often it polls. */
export interface AwaitFundsOptions {
  /** Longest time to wait, default 30 days. */
  readonly within?: Duration;
  /** Time between two polls, default a second to 15 minutes. */
  readonly pollInterval?: PollInterval;
}

/**
 * Wait until a balance holds an amount; meanwhile the run's progress shows the bank details by
 * which it can be funded. Nothing is reserved: a send that follows may still be refused.
 *
 * @param needed the amount as a decimal string, and the currency as an ISO 4217 code.
 * @returns the balance as it was read last.
 * @throws FundsOverdue after `within`; InvalidRequest where the amount or the currency is no string, or
 *   `within` or `pollInterval` no length of time.
 * @example
 * ```ts
 * await awaitFunds(run, { amount: "250.00", currency: "USD" }, { within: "7 days" });
 * ```
 */
export const awaitFunds = (
  run: Run,
  needed: { readonly amount: string; readonly currency: string },
  { pollInterval, within = "30 days" }: AwaitFundsOptions = {},
): Promise<Balance> =>
  run.step(
    STEP.awaitFunds,
    `waiting until the ${textAt(needed, "currency") ?? "?"} balance holds ${textAt(needed, "amount") ?? "?"}`,
    async (step) => {
      expectReadable(needed, step, readable);
      expectTimes({ within, pollInterval }, step, waiting, "Nothing was awaited.");
      const { amount, currency } = needed;
      const until = endOf(within);
      const { balance, isEnough } = await activities.checkFunds({ amount, currency });
      if (isEnough) return balance;
      run.waiting(
        step,
        `the ${currency} balance holds ${balance.available_balance}, ${amount} is needed`,
        until,
      );
      run.show({ [`fund ${currency}`]: await bankDetails(currency) });
      try {
        const seen = await orLastReading(
          until,
          activities.awaitFunds.executeWithOptions(
            { summary: `Await ${amount} ${currency} on the balance`, ...endsBy(until) },
            [{ amount, currency, ...pollSchedule(pollInterval, SOLE_POLLING, until) }],
          ),
          () => activities.checkFunds({ amount, currency }),
        );
        if (seen.isEnough) return seen.balance;
      } finally {
        run.show({ [`fund ${currency}`]: undefined });
      }
      throw runFailure(
        "FundsOverdue",
        `The ${currency} balance did not hold ${amount} within ${String(within)}.`,
        { amount, currency },
      );
    },
  );

/** What is shown to who can fund a balance; that there are none must not end the wait for funds. */
const bankDetails = async (currency: string): Promise<unknown> => {
  try {
    return await activities.retrieveBalanceBankDetails({ currency });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return `The service shows no bank details for ${currency}.`;
  }
};
