/**
 * Reads the accounts that a file pays, before anybody is asked to approve it.
 *
 * A row that names a `beneficiary_id` says nothing of the account behind it, and its approver may have no key of the
 * service. The worker has one: it keeps what the service shows in the file's rows. The account is read again at the send,
 * so an account that was changed meanwhile asks again.
 */
import type { BatchRow, Ledger } from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { describeAccount } from "@durable-payments/protocol/account";
import { notYet, type PaymentsRuntime, readKnown } from "./run-operation.ts";
import { isPaymentsError, waitAfterMs, withReason } from "./write/outcomes.ts";

/** Dependencies of the reading; `attempt` is that of the activity. */
export interface Reading {
  readonly ledger: Ledger;
  readonly runtime: PaymentsRuntime;
  readonly signal: AbortSignal;
  readonly attempt: number;
}

/**
 * Reads and keeps the payees of rows that have none yet.
 *
 * @throws `NotYet` if the service cannot be read.
 */
export const readPayees = async (
  { attempt, ledger, runtime, signal }: Reading,
  batch: string,
  rows: ReadonlyArray<BatchRow>,
): Promise<void> => {
  const unread = Map.groupBy(
    rows.filter(({ shown, state }) => shown === null && state === "waiting"),
    ({ payee }) => payee ?? "",
  );
  await atOnce([...unread], async ([beneficiary_id, of]) => {
    const numbers = of.map(({ number }) => number);
    const keep = (payee: Parameters<Ledger["keepPayees"]>[2]) =>
      ledger.keepPayees(batch, numbers, payee);
    try {
      const shown = await readKnown(
        runtime,
        (client) => client.retrieveBeneficiary({ beneficiary_id }),
        signal,
      );
      await keep(describeAccount(shown, ledger.keyed));
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const message = `The payees cannot be read: ${withReason(error)}`;
      await keep({ mark: null, shown: null, message });
      throw notYet(message, waitAfterMs(error, attempt));
    }
  });
};
