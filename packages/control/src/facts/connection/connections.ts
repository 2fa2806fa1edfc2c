import { createClient, type PromiseClient } from "@durable-payments/client";
import type { ClientOptions, InvalidSettings } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import { openTextSeal } from "@durable-payments/codec";
import {
  type Ledger,
  LedgerUnavailable,
  openLedger,
  readLedgerPlace,
} from "@durable-payments/ledger";
import { type Account, accountHash, clientHash } from "@durable-payments/protocol/account";
import type { Client } from "@temporalio/client";
import * as Result from "effect/Result";
import { ConnectionFailed, connectionFailed, invalidInput } from "../../errors.ts";
import { asTemporalError } from "./temporal-errors.ts";
import { connectTemporal, type Temporal, type TemporalSettings } from "./temporal.ts";

/** Address of the ledger. Finding it needs no secret of the service. */
export interface LedgerSettings {
  /** `PAYMENTS_LEDGER`; a file named by the client if it is not set. */
  readonly ledger: string | undefined;
  /** `PAYMENTS_CLIENT_ID` of the account that the workers start with. */
  readonly clientId: string | undefined;
  /** `PAYMENTS_KEYRING`: the folder of the workers' keys, if they have one. */
  readonly keyring?: string | undefined;
}

/** Turns an error of the ledger into a message for a person; returns any other error unchanged. */
const asLedgerError = (error: unknown): unknown =>
  error instanceof LedgerUnavailable
    ? connectionFailed("ledgerUnavailable", `The ledger cannot be used: ${messageOf(error)}.`, {
        action: "doctor",
      })
    : error;

/**
 * Opens the ledger of the workers; the caller closes it. Only a worker, and the migration, create or migrate its tables:
 * an empty ledger would look as if nothing had been sent.
 *
 * @throws ConnectionFailed if there is none, or it cannot be used.
 */
export const openWorkersLedger = async (
  { clientId = "", keyring, ledger = "" }: LedgerSettings,
  onMigration?: (version: number) => void,
): Promise<Ledger> => {
  try {
    if (ledger === "" && clientId === "") {
      throw new LedgerUnavailable(
        "neither PAYMENTS_LEDGER nor PAYMENTS_CLIENT_ID is set here, so its address is unknown",
      );
    }
    return await openLedger(readLedgerPlace(ledger, clientHash({ clientId })), {
      ...(keyring !== undefined && { seal: openTextSeal(keyring) }),
      ...(onMigration && { onMigration }),
      isMigrated: onMigration !== undefined,
    });
  } catch (error) {
    throw asLedgerError(error);
  }
};

/** An account with the service, as tools know it. */
export interface KnownAccount {
  /** Undefined for the unnamed account. */
  readonly name: string | undefined;
  /** Hash by `accountHash`, the key of rows of the ledger. */
  readonly hash: string;
}

/** Dependencies of every operation. */
export interface Connected extends Temporal {
  readonly ledger: Ledger;
  readonly namespace: string;
  /** Base queue of the workers. */
  readonly taskQueue: string;
  /** Hash of the account that pays if none is named. */
  readonly account: string;
  /** All accounts of these settings, that one first. */
  readonly accounts: ReadonlyArray<KnownAccount>;
}

/** Returns the hash of a named account, or of the default one; rejects an unknown name. */
export const accountNamed = (
  { account, accounts }: Pick<Connected, "account" | "accounts">,
  name: string | undefined,
): string => {
  const known = name === undefined ? account : accounts.find((one) => one.name === name)?.hash;
  if (known !== undefined) return known;
  throw invalidInput(`The account "${name}" is unknown here. Nothing was started.`);
};

/**
 * Dependencies of a decision: the ledger alone. Without `client`, Temporal was not reached: the tracker notifies the runs.
 */
export type Deciding = Pick<Connected, "ledger"> & { readonly client: Client | undefined };

/** The sources of a screen: each is present, or `whyNot` has the reason. */
export interface Sources {
  readonly temporal: Temporal | undefined;
  readonly ledger: Ledger | undefined;
  /** For a person; empty if both are present. */
  readonly whyNot: ReadonlyArray<string>;
  /** `notify.lateAfterHours`, in milliseconds; default: that of `lateAfterMsOf`. */
  readonly lateAfterMs?: number | undefined;
}

/** Returns the ledger of sources. @throws ConnectionFailed with the reason if it cannot be read. */
export const ledgerOf = ({ ledger, whyNot }: Pick<Sources, "ledger" | "whyNot">): Ledger => {
  if (ledger !== undefined) return ledger;
  throw connectionFailed("ledgerUnavailable", whyNot.join(" "));
};

/** An account of the settings, with its access to the service, or the reason why that is unknown here. */
export interface AccountSettings<Service extends Account = Account> {
  /** Undefined for the unnamed account. */
  readonly name: string | undefined;
  readonly service: Result.Result<Service, InvalidSettings>;
}

/** Addresses of everything. */
export interface ConnectionSettings<Service extends Account = Account> {
  /** @throws ConnectionFailed if its configuration is wrong. */
  readonly temporal: () => TemporalSettings;
  readonly ledger: LedgerSettings;
  /** The first is the unnamed account, if there is one. */
  readonly accounts: ReadonlyArray<AccountSettings<Service>>;
  readonly lateAfterMs?: Sources["lateAfterMs"];
}

/** Returns the accounts whose access is known here. */
export const knownAccounts = ({
  accounts,
}: Pick<ConnectionSettings, "accounts">): ReadonlyArray<KnownAccount> =>
  accounts.flatMap(({ name, service }) =>
    Result.isSuccess(service) ? [{ name, hash: accountHash(service.success) }] : [],
  );

/** Address of the service and credentials of the account, or the reason why they are unknown here. */
export type ServiceSettings = Result.Result<ClientOptions, InvalidSettings>;

/** Calls the service once, without retries, for a quick answer. */
export const askOnce = async <A>(
  options: ClientOptions,
  requestTimeoutMs: number,
  ask: (client: PromiseClient) => Promise<A>,
): Promise<A> => {
  const client = createClient({ ...options, maxAttempts: 1, requestTimeoutMs });
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
};

const valueOf = <A>(settled: PromiseSettledResult<A>): A | undefined =>
  settled.status === "fulfilled" ? settled.value : undefined;

/** Opens the sources that can be opened, calls a function with them, and closes them. */
const withOpened = async <A>(
  settings: Pick<ConnectionSettings, "ledger" | "temporal">,
  use: (
    opened: Omit<Sources, "whyNot"> & { readonly failures: ReadonlyArray<ConnectionFailed> },
  ) => Promise<A>,
): Promise<A> => {
  const settled = await Promise.allSettled([
    (async () => connectTemporal(settings.temporal()))(),
    openWorkersLedger(settings.ledger),
  ]);
  const [temporal, ledger] = [valueOf(settled[0]), valueOf(settled[1])];
  try {
    const failures = settled.flatMap((one) => {
      if (one.status === "fulfilled") return [];
      if (one.reason instanceof ConnectionFailed) return [one.reason];
      throw one.reason;
    });
    return await use({ temporal, ledger, failures });
  } catch (error) {
    const worded = asLedgerError(error);
    throw temporal === undefined ? worded : asTemporalError(worded, temporal.settings);
  } finally {
    await Promise.all([temporal?.close(), ledger?.close()]);
  }
};

const checkNamespace = async (
  ledger: Ledger,
  { settings: { namespace } }: Temporal,
): Promise<void> => {
  const { namespace: pinned } = await ledger.state();
  if (pinned !== null && pinned !== namespace)
    throw connectionFailed(
      "cannotConnect",
      `The ledger ${ledger.place} belongs to the Temporal namespace ${pinned}, but this namespace is ${namespace}. Correct TEMPORAL_NAMESPACE or PAYMENTS_LEDGER.`,
    );
};

/**
 * Connects to Temporal, opens the ledger, calls `use`, and closes both.
 *
 * @throws the errors of `use`; ConnectionFailed if Temporal or the ledger cannot be used.
 * @example
 * ```ts
 * const runs = await withOperations(settings, (connected) => listRuns(connected, {}, { limit: 50 }));
 * ```
 */
export const withOperations = async <A>(
  settings: ConnectionSettings,
  use: (connected: Connected) => Promise<A>,
): Promise<A> => {
  const accounts = knownAccounts(settings);
  const [first] = accounts;
  if (first === undefined) {
    throw connectionFailed(
      "cannotConnect",
      "No account is set here: set PAYMENTS_CLIENT_ID to the workers' value.",
    );
  }
  return withOpened(settings, async ({ failures, ledger, temporal }) => {
    // Without a failure, both are present.
    if (temporal === undefined || ledger === undefined) throw failures[0] as ConnectionFailed;
    const { namespace, taskQueue } = temporal.settings;
    await checkNamespace(ledger, temporal);
    const known = { account: first.hash, accounts };
    return use({ ...temporal, ledger, namespace, taskQueue, ...known });
  });
};

/**
 * Opens the ledger, connects to Temporal if it answers, calls `use`, and closes both: for people who decide, who need no
 * access to the service, and do not wait for Temporal.
 *
 * @throws ConnectionFailed if the ledger cannot be used; the errors of `use`.
 * @example
 * ```ts
 * await withDeciding(settings, (deciding) =>
 *   approve(deciding, "invoice-17", { by: "grace", how: "single sign-on", hash }),
 * );
 * ```
 */
export const withDeciding = async <A>(
  settings: Pick<ConnectionSettings, "ledger" | "temporal">,
  use: (deciding: Deciding) => Promise<A>,
): Promise<A> =>
  withOpened(settings, async ({ failures, ledger, temporal }) => {
    // The last one is the ledger's.
    if (ledger === undefined) throw failures.at(-1) as ConnectionFailed;
    if (temporal !== undefined) await checkNamespace(ledger, temporal);
    return use({ ledger, client: temporal?.client });
  });

/**
 * Opens the ledger alone, calls `use`, and closes it: what only the ledger decides waits for no Temporal.
 *
 * @param onMigration is called before each migration of its tables with its version; without it, none takes place.
 * @throws ConnectionFailed if the ledger cannot be used; the errors of `use`.
 */
export const withLedger = async <A>(
  { ledger: settings }: Pick<ConnectionSettings, "ledger">,
  use: (opened: Pick<Connected, "ledger">) => Promise<A>,
  onMigration?: (version: number) => void,
): Promise<A> => {
  const ledger = await openWorkersLedger(settings, onMigration);
  try {
    return await use({ ledger });
  } catch (error) {
    throw asLedgerError(error);
  } finally {
    await ledger.close();
  }
};

/**
 * Connects to Temporal and the ledger, or to the one that can be reached, calls `use`, and closes them.
 *
 * @throws ConnectionFailed if neither can be reached; the errors of `use`.
 */
export const withSources = async <A>(
  settings: Omit<ConnectionSettings, "accounts">,
  use: (sources: Sources) => Promise<A>,
): Promise<A> =>
  withOpened(settings, async ({ failures, ...opened }) => {
    const whyNot = failures.map(({ message }) => message);
    const { lateAfterMs } = settings;
    if (whyNot.length < 2) return use({ ...opened, whyNot, lateAfterMs });
    throw connectionFailed("cannotConnect", whyNot.join(" "));
  });
