import { Payments } from "./payments.ts";
import { type OpenPaymentsSettings, readInstallation } from "./settings.ts";

/**
 * Opens the payments of an installation: everything that the command line does, for a program. Nothing is connected before
 * the first call. A connection that fails is replaced, so a server opens it once, and disposes of it at its end.
 *
 * @param settings by default those of the environment and the settings file, as a worker reads them.
 * @throws InvalidInput if the settings are invalid. It names a variable of the environment only if the fault is there.
 * @example
 * ```ts
 * await using payments = await openPayments();
 * const run = await payments.pay(input, { key: "invoice-17", by: "ada" });
 * ```
 */
export const openPayments = async (settings: OpenPaymentsSettings = {}): Promise<Payments> =>
  new Payments(readInstallation(settings, process.env));
