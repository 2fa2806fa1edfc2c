import { messageOf } from "@durable-payments/api-core/values";
import {
  type Ledger,
  LedgerUnavailable,
  openLedger,
  readLedgerPlace,
  type Seal,
} from "@durable-payments/ledger";
import { clientHash } from "@durable-payments/protocol/account";
import { existsSync } from "node:fs";
import { ConnectionFailed } from "../errors.ts";

/** Where the ledger is. It takes no secret of the service to find it. */
export interface LedgerSettings {
  /** `PAYMENTS_LEDGER`; a file named by the client where it is not set. */
  readonly ledger: string | undefined;
  /** `PAYMENTS_CLIENT_ID` of the account that the workers start with. */
  readonly clientId: string | undefined;
  /** As the workers have it, where there is a keyring. */
  readonly seal?: Seal;
}

const SQLITE = "sqlite:";

/** Words an error of the ledger for a person; any other error is returned as it is. */
export const asLedgerError = (error: unknown): unknown =>
  error instanceof LedgerUnavailable
    ? new ConnectionFailed({
        reason: "ledgerUnavailable",
        message: `The ledger cannot be used: ${messageOf(error)}.`,
        next: { operation: "doctor" },
      })
    : error;

/** Opens the ledger of the workers; the caller closes it. Throws ConnectionFailed where there is none. */
export const openWorkersLedger = async ({
  clientId = "",
  ledger = "",
  seal,
}: LedgerSettings): Promise<Ledger> => {
  try {
    if (ledger === "" && clientId === "") {
      throw new LedgerUnavailable(
        "neither PAYMENTS_LEDGER nor PAYMENTS_CLIENT_ID is set here, so it is not known where it is",
      );
    }
    const place = readLedgerPlace(ledger, clientHash({ clientId }));
    // Only a worker makes one: an empty ledger of this host would read as if nothing had been sent.
    if (place.startsWith(SQLITE) && !existsSync(place.slice(SQLITE.length))) {
      throw new LedgerUnavailable(
        `there is no file ${place.slice(SQLITE.length)}: no worker of this client has run on this host as this user, or it has another PAYMENTS_LEDGER`,
      );
    }
    return await openLedger(place, seal && { seal });
  } catch (error) {
    throw asLedgerError(error);
  }
};
