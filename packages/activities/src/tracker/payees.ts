import { describeAccount, UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { type ClientCall, LAST } from "../run-operation.ts";
import { isRefusedRead } from "../write/outcomes.ts";
import type { JanitorOptions } from "./janitor.ts";

/** Most payees that one sweep reads: five requests. */
const MOST_READ = 5;

/** Payouts before the first sweep of a tracker whose payees it describes. */
const FIRST_LOOK_MS = 24 * 3_600_000;

/** A transaction may commit this long after its time. */
const OVERLAP_MS = 60_000;

/** Dependencies of the directory of payees. */
interface PayeesOptions extends Pick<JanitorOptions, "account" | "ledger"> {
  /** Reads at the service; undefined if the service does not know it. */
  readonly read: <A>(call: ClientCall<A>) => Promise<A | undefined>;
}

/**
 * Makes the part of the tracker that describes payees: most have been described by a start, a file or an approval. A
 * payout to a `beneficiary_id` that was not read is left: a person cannot read an id.
 */
export const describePayees = ({ account, ledger, read }: PayeesOptions) => {
  /** The service does not show them. */
  const unknown = new Set<string>();
  /** Those whose reading has failed: the others are read first. */
  const failed = new Set<string>();
  let since: number | undefined;
  return async (): Promise<void> => {
    const { now } = await ledger.state();
    since ??= now - FIRST_LOOK_MS;
    const limit = MOST_READ + unknown.size + failed.size;
    const found = await ledger.undescribedPayees(account, since, limit);
    const left = found
      .filter((one) => !unknown.has(one))
      .toSorted((one, other) => Number(failed.has(one)) - Number(failed.has(other)));
    let fault: Error | undefined;
    for (const payee of left.slice(0, MOST_READ)) {
      failed.delete(payee);
      try {
        const shown = await read((client) =>
          client.retrieveBeneficiary({ beneficiary_id: payee }, LAST),
        );
        const described = describeAccount(shown, ledger.keyed);
        if (described === UNKNOWN_PAYEE) unknown.add(payee);
        else await ledger.rememberPayees(account, [{ payee, ...described }]);
      } catch (error) {
        // Any other failure is of the service, and not of this payee.
        if (!isRefusedRead(error, 599)) throw error;
        failed.add(payee);
        fault = error;
      }
    }
    if (fault !== undefined) throw fault;
    if (found.length < limit && failed.size === 0) since = now - OVERLAP_MS;
  };
};
