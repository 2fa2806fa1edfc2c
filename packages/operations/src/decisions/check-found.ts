import { bearsKey, paysTheSame } from "@durable-payments/activities/match-rows";
import { makePaymentsClient, type Payout, Refused } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { textAt } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import * as Result from "effect/Result";
import type { ServiceSettings } from "../connection/settings.ts";
import { refused } from "../errors.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import type { PastSend } from "../history/sends.ts";
import { findByKeys } from "../recovery/ask-service.ts";

/** Whether the service has confirmed what a person says that a step made, and why not. */
type Confirmation =
  | { readonly isConfirmed: true }
  | { readonly isConfirmed: false; readonly why: string };

const REQUEST_TIMEOUT_MS = 10_000;

const notChecked = (why: string): Confirmation => ({ isConfirmed: false, why });

/** What a step has sent, as far as it is known, that the payout may be. */
const sentOf = ({ isLastInDoubt, lastInput, others = [] }: PastSend) => [
  ...(isLastInDoubt === false
    ? []
    : [
        {
          key: textAt(lastInput, "unique_request_id"),
          amount: textAt(lastInput, "amount"),
          currency: textAt(lastInput, "currency"),
          beneficiary_id: textAt(lastInput, "beneficiary_id"),
        },
      ]),
  ...others.map(({ amount, currency, key }) => ({
    key,
    amount,
    currency,
    beneficiary_id: textAt(lastInput, "beneficiary_id"),
  })),
];

/** Whether a payout may be what was sent: what is not known of that contradicts nothing. */
const mayBe = (sent: ReturnType<typeof sentOf>[number], payout: Payout): boolean => {
  const { amount = payout.amount, currency = payout.currency, key } = sent;
  const { beneficiary_id = payout.beneficiary_id } = sent;
  if (bearsKey(payout.unique_request_id, key)) return true;
  return paysTheSame(
    { amount: amount ?? "", currency: currency ?? "", beneficiary_id: beneficiary_id ?? "" },
    payout,
  );
};

type Client = ReturnType<typeof makePaymentsClient>;

/** A client of the account of a run, or why the service cannot be asked of it here. */
const clientOf = (
  services: ReadonlyArray<ServiceSettings>,
  account: string | undefined,
):
  | { readonly client: Client; readonly why?: never }
  | { readonly client?: never; readonly why: string } => {
  const known = services.flatMap((service) => (Result.isSuccess(service) ? [service.success] : []));
  if (known.length === 0) return { why: "PAYMENTS_* is not set here" };
  const own = known.find((options) => account === undefined || account === accountHash(options));
  if (own === undefined) return { why: "PAYMENTS_* is of another account here" };
  // Whichever of several accounts was asked, its answer would say nothing of the others.
  if (account === undefined && known.length > 1)
    return { why: "the account of the run is not known" };
  return {
    client: makePaymentsClient({
      ...own,
      maxAttempts: 1,
      requestTimeoutMs: Math.min(REQUEST_TIMEOUT_MS, own.requestTimeoutMs),
    }),
  };
};

/**
 * Check that the service shows no payout under keys of which a person says that nothing was carried out. That it shows
 * none confirms nothing: a list may lag, end before it, or leave its key out.
 *
 * @param services address and credentials of each account that is known here, or why they are not.
 * @returns why it is not confirmed.
 * @throws Refused where it shows one.
 */
export const checkNotMade = async (
  services: ReadonlyArray<ServiceSettings>,
  keys: ReadonlySet<string>,
  { account }: Pick<ExecutionHistory, "account">,
): Promise<string> => {
  const { client, why } = clientOf(services, account);
  if (client === undefined) return why;
  try {
    const { fault, payouts } = await findByKeys(client, keys);
    for (const [key, { payout_id }] of payouts) {
      throw refused(
        `The service shows the payout ${payout_id} under the key ${key}: it was carried out. Nothing was done.`,
      );
    }
    return (
      fault ??
      "its list shows no payout under the key that was sent, which is no proof: a list may lag, or leave keys out"
    );
  } finally {
    await client.close();
  }
};

/**
 * Check a payout that a person says a step has made, where the service can be asked here: it has to exist,
 * and to pay what was sent.
 *
 * @param services address and credentials of each account that is known here, or why they are not.
 * @returns whether the service has confirmed it, or why it was not checked.
 * @throws Refused where the service knows no such payout, or it pays something else, or somebody else.
 */
export const checkFoundPayout = async (
  services: ReadonlyArray<ServiceSettings>,
  payout_id: string,
  { account }: Pick<ExecutionHistory, "account">,
  send: PastSend | undefined,
): Promise<Confirmation> => {
  const { client, why } = clientOf(services, account);
  if (client === undefined) return notChecked(why);
  let payout: Payout;
  try {
    payout = await client.retrievePayout({ payout_id });
  } catch (error) {
    if (!(error instanceof Refused)) return notChecked(messageOf(error));
    throw refused(`The service does not show ${payout_id}: ${error.message} Nothing was done.`);
  } finally {
    await client.close();
  }
  if (send !== undefined && !sentOf(send).some((sent) => mayBe(sent, payout))) {
    const { amount = "?", beneficiary_id = "?", currency = "?" } = payout;
    throw refused(
      `${payout_id} pays ${amount} ${currency} to ${beneficiary_id}, which is not what was sent. Nothing was done.`,
    );
  }
  return { isConfirmed: true };
};
