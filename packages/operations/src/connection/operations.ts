import type { Ledger } from "@durable-payments/ledger";
import { accountHash } from "@durable-payments/protocol/account";
import type { Client, Connection } from "@temporalio/client";
import { ConnectionFailed } from "../errors.ts";
import { asLedgerError, type LedgerSettings, openWorkersLedger } from "./ledger.ts";
import type { TemporalSettings } from "./settings.ts";
import { connectTemporal, type Temporal } from "./temporal.ts";
import { asTemporalError } from "./temporal-errors.ts";

/** An account with the service, as tools know it. */
export interface KnownAccount {
  /** Undefined for the one without a name. */
  readonly name: string | undefined;
  /** As `accountHash` makes it: rows of the ledger are kept by it. */
  readonly hash: string;
}

/** What every operation works on. */
export interface Operations {
  readonly client: Client;
  readonly connection: Connection;
  /** How Temporal is reached; `webUiLink` takes them. */
  readonly settings: TemporalSettings;
  readonly ledger: Ledger;
  readonly namespace: string;
  /** Base queue of the workers. */
  readonly taskQueue: string;
  /** Hash of the account that pays where none is named. */
  readonly account: string;
  /** All accounts of these settings, that one first. */
  readonly accounts: ReadonlyArray<KnownAccount>;
}

/** What a screen reads from, as far as it can be reached: each is there, or `whyNot` says why it is not. */
export interface Sources {
  readonly temporal: Temporal | undefined;
  readonly ledger: Ledger | undefined;
  /** For a person; empty where both are there. */
  readonly whyNot: ReadonlyArray<string>;
}

/** Where everything is. */
export interface OperationsSettings {
  /** @throws ConnectionFailed where its configuration is wrong. */
  readonly temporal: () => TemporalSettings;
  readonly ledger: LedgerSettings;
  /** Client id and address of each account; the first is the one without a name. */
  readonly accounts: ReadonlyArray<{
    readonly name: string | undefined;
    readonly clientId: string;
    readonly baseUrl: string;
  }>;
}

/** Words an error of Temporal or of the ledger for a person; any other error is returned as it is. */
const asWorded = (error: unknown, settings: TemporalSettings | undefined): unknown => {
  const worded = asLedgerError(error);
  return settings === undefined ? worded : asTemporalError(worded, settings);
};

/**
 * Connects to Temporal, opens the ledger, does something, and closes both.
 *
 * @param settings where they are.
 * @param use what is done with them.
 * @returns what `use` returns.
 * @throws what `use` throws; ConnectionFailed where Temporal or the ledger cannot be used.
 * @example
 * ```ts
 * const runs = await withOperations(settings, (operations) => listRuns(operations, { limit: 50 }));
 * ```
 */
export const withOperations = async <A>(
  settings: OperationsSettings,
  use: (operations: Operations) => Promise<A>,
): Promise<A> => {
  const accounts = settings.accounts.map(({ name, ...account }) => ({
    name,
    hash: accountHash(account),
  }));
  const [first] = accounts;
  if (first === undefined) {
    throw new ConnectionFailed({
      reason: "cannotConnect",
      message: "No account is set here: set PAYMENTS_CLIENT_ID to that of the workers.",
    });
  }
  const temporal = await connectTemporal(settings.temporal());
  try {
    const ledger = await openWorkersLedger(settings.ledger);
    try {
      const { namespace, taskQueue } = temporal.settings;
      return await use({
        ...temporal,
        ledger,
        namespace,
        taskQueue,
        account: first.hash,
        accounts,
      });
    } finally {
      await ledger.close();
    }
  } catch (error) {
    throw asWorded(error, temporal.settings);
  } finally {
    await temporal.connection.close();
  }
};

/** Opens something, or says why it cannot be. */
const orWhyNot = async <A>(
  open: () => Promise<A>,
  whyNot: Array<string>,
): Promise<A | undefined> => {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    whyNot.push(error.message);
    return undefined;
  }
};

/**
 * Connects to what can be reached of Temporal and the ledger, reads something, and closes them.
 *
 * @param settings where they are.
 * @param use what is read; it gets what could be reached.
 * @returns what `use` returns.
 * @throws ConnectionFailed where neither can be reached; what `use` throws.
 */
export const withSources = async <A>(
  settings: Pick<OperationsSettings, "ledger" | "temporal">,
  use: (sources: Sources) => Promise<A>,
): Promise<A> => {
  const whyNot: Array<string> = [];
  const [temporal, ledger] = await Promise.all([
    orWhyNot(async () => connectTemporal(settings.temporal()), whyNot),
    orWhyNot(() => openWorkersLedger(settings.ledger), whyNot),
  ]);
  try {
    if (temporal === undefined && ledger === undefined) {
      throw new ConnectionFailed({ reason: "cannotConnect", message: whyNot.join(" ") });
    }
    return await use({ temporal, ledger, whyNot });
  } catch (error) {
    throw asWorded(error, temporal?.settings);
  } finally {
    await Promise.all([temporal?.connection.close(), ledger?.close()]);
  }
};
