import { makePaymentsClient } from "@durable-payments/api-core";
import { isAtLeast } from "@durable-payments/api-core/decimal";
import { messageOf } from "@durable-payments/api-core/values";
import * as Result from "effect/Result";
import type { ServiceSettings } from "../connection/settings.ts";

/** What a currency's balance holds, against what a file pays. */
export interface Funds {
  readonly currency: string;
  readonly total: string;
  /** null where it could not be read. */
  readonly available: string | null;
  readonly isEnough: boolean | null;
  readonly problem?: string;
}

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Compares totals with the balances of their currencies, where the service can be asked.
 *
 * @param totals decimal strings by currency.
 * @param settings address and credentials of the service, or why they are not known here.
 */
export const compareFunds = async (
  totals: Readonly<Record<string, string>>,
  settings: ServiceSettings,
): Promise<ReadonlyArray<Funds>> => {
  const entries = Object.entries(totals).map(([currency, total]) => ({ currency, total }));
  const unknown = (problem: string) => ({ available: null, isEnough: null, problem });
  if (Result.isFailure(settings)) {
    const problem = unknown("not compared: PAYMENTS_* is not set here");
    return entries.map((entry) => ({ ...entry, ...problem }));
  }
  const { requestTimeoutMs } = settings.success;
  const client = makePaymentsClient({
    ...settings.success,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(REQUEST_TIMEOUT_MS, requestTimeoutMs),
  });
  const compared = async (entry: (typeof entries)[number]): Promise<Funds> => {
    try {
      const { available_balance: available } = await client.retrieveBalance({
        currency: entry.currency,
      });
      return { ...entry, available, isEnough: isAtLeast(available, entry.total) };
    } catch (error) {
      return { ...entry, ...unknown(messageOf(error)) };
    }
  };
  try {
    return await Promise.all(entries.map(compared));
  } finally {
    await client.close();
  }
};
