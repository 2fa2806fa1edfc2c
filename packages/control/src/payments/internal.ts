import type { Ledger } from "@durable-payments/ledger";
import type { Assumptions } from "@durable-payments/client/effect";
import { Payments } from "./payments.ts";
import { type OpenPaymentsSettings, readInstallation } from "./settings.ts";

/** Settings of a test, which reads no environment. */
export interface GivenPayments extends Omit<OpenPaymentsSettings, "keyring" | "ledger"> {
  readonly assumptions?: Partial<Assumptions>;
}

/**
 * Opens the payments of a test, on a ledger in memory that its worker has open. For the packages of this project alone.
 *
 * @throws InvalidInput if the settings are invalid.
 */
export const openPaymentsOn = (ledger: Ledger, settings: GivenPayments): Payments =>
  new Payments(readInstallation(settings, {}, ledger));
