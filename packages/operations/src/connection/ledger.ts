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

const unavailable = (message: string): ConnectionFailed =>
  new ConnectionFailed({
    reason: "ledgerUnavailable",
    message: `The ledger cannot be used: ${message}.`,
    next: { operation: "doctor" },
  });

/** Words an error of the ledger for a person; any other error is returned as it is. */
export const asLedgerError = (error: unknown): unknown =>
  error instanceof LedgerUnavailable ? unavailable(messageOf(error)) : error;

const open = async ({ clientId = "", ledger = "", seal }: LedgerSettings): Promise<Ledger> => {
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
  return openLedger(place, seal && { seal });
};

/**
 * Opens the ledger of the workers. It makes no new file.
 *
 * @returns the ledger: close it.
 * @throws ConnectionFailed where it cannot be used, or there is none.
 */
export const openWorkersLedger = async (settings: LedgerSettings): Promise<Ledger> => {
  try {
    return await open(settings);
  } catch (error) {
    throw asLedgerError(error);
  }
};
