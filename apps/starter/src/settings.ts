import type { Assumptions, ClientOptions } from "@durable-payments/client/effect";
import { makeAssumptions } from "@durable-payments/client/settings";
import { messageOf } from "@durable-payments/client/values";
import { diagnose, type Diagnosis } from "@durable-payments/control/doctor";
import {
  Connections,
  type Deciding,
  type KnownAccount,
  openWorkersLedger,
  type Connected,
  type ConnectionSettings,
  type Sources,
  temporalSettings,
} from "@durable-payments/control/connection";
import { accountHash } from "@durable-payments/protocol/account";
import {
  accountsOf,
  clientOptionsOf,
  lateAfterMsOf,
  readSettings,
  type Settings,
} from "@durable-payments/protocol/settings";
import * as Result from "effect/Result";
import { badUsage } from "./exit-codes.ts";

// The command line reads the parameters of the connected from its settings. A command loads this module only if it
// needs them.

/** Something of the settings. @throws BadUsage if they are invalid. */
const ofSettings = <A>(use: (settings: Settings) => A): A => {
  try {
    return use(readSettings(process.env));
  } catch (error) {
    throw badUsage(`${messageOf(error)} Nothing was done.`);
  }
};

/** The account of the top level of the settings, which has no name there. */
const UNNAMED = "default";

/**
 * Returns the accounts of these settings, as the ledger names them: the key is not needed for that. Each has a name by which
 * it can be chosen; the unnamed one is called `default`, unless another one is.
 */
export const accountsHere = (): ReadonlyArray<KnownAccount> => {
  const all = ofSettings(accountsOf);
  const unnamed = all.has(UNNAMED) ? undefined : UNNAMED;
  return Array.from(all).flatMap(([name = unnamed, { baseUrl, clientId }]) =>
    baseUrl === undefined || clientId === undefined
      ? []
      : [{ name, hash: accountHash({ baseUrl, clientId }) }],
  );
};

/** Returns the name of an account of these settings; its hash if it has none. */
export const accountNameHere = (hash: string): string =>
  accountsHere().find((one) => one.hash === hash)?.name ?? hash;

/** Finds the account that is meant: the named one, or the one that pays if none is named. */
export const accountMeant = (name: string | undefined): string => {
  const here = accountsHere();
  const found =
    name === undefined ? here[0] : here.find((one) => [one.name, one.hash].includes(name));
  if (found !== undefined) return found.hash;
  const names = here.flatMap((one) => one.name ?? []).join(", ");
  throw badUsage(
    `Which account? Pass --account with the name of one of these settings (${names || "they have none: set PAYMENTS_CLIENT_ID and PAYMENTS_BASE_URL"}). Nothing was done.`,
  );
};

/** Returns the hash of a named account of these settings; undefined without a name. @throws BadUsage if there is none. */
export const accountHere = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : accountMeant(name);

/**
 * Returns the assumptions about the service, as a worker with the same settings reads them.
 *
 * @param account hash of the account; default: those of the unnamed one.
 */
export const assumptionsHere = (account?: string): Assumptions =>
  Result.getOrThrowWith(
    makeAssumptions(
      ofSettings((settings) => {
        const name = accountsHere().find(({ hash }) => hash === account)?.name;
        return accountsOf(settings).get(name)?.assumptions ?? settings.assumptions ?? {};
      }),
    ),
    ({ message }) => badUsage(`${message} Nothing was done.`),
  );

/** Returns how long after the end of its payment date a payout is late, in milliseconds. */
export const lateAfterMsHere = (): number => lateAfterMsOf(ofSettings(({ notify }) => notify));

/** Returns the age in days before which nothing is pruned, if it is set. */
export const keepDaysHere = (): number | undefined => ofSettings(({ keepDays }) => keepDays);

/** Reads where Temporal and the ledger are. Credentials of the service are not needed for it. */
export const connectionSettings = (): ConnectionSettings<ClientOptions> => {
  const accounts = Array.from(ofSettings(accountsOf), ([name, account]) => ({
    name,
    service: clientOptionsOf(account),
  }));
  const settings = ofSettings((all) => all);
  const { apiKey, baseUrl, clientId, keyring, ledger } = settings;
  // Those who only decide have no access to the service.
  const isNone = accounts.length === 1 && apiKey === undefined && baseUrl === undefined;
  return {
    temporal: () => temporalSettings(process.env, settings),
    ledger: { ledger, clientId, keyring },
    accounts: isNone ? [] : accounts,
    lateAfterMs: lateAfterMsOf(settings.notify),
  };
};

/** Calls a function with the connections of these settings, and closes them. */
const connected = async <A>(
  use: (connections: Connections<ConnectionSettings<ClientOptions>>) => Promise<A>,
): Promise<A> => {
  await using connections = new Connections(connectionSettings());
  return await use(connections);
};

/** Calls a function with Temporal and the ledger. */
export const operating = <A>(use: (connected: Connected) => Promise<A>): Promise<A> =>
  connected((connections) => connections.both(use));

/** Calls a function with the ledger, and with Temporal if it answers: a stop order needs no more. */
export const deciding = <A>(use: (deciding: Deciding) => Promise<A>): Promise<A> =>
  connected((connections) => connections.deciding(use));

/** Calls a function with the ledger alone. */
export const onLedger = <A>(use: (opened: Pick<Connected, "ledger">) => Promise<A>): Promise<A> =>
  connected((connections) => connections.ledger(use));

/** Reads from Temporal and the ledger, or from the one that can be reached. */
export const reading = <A>(use: (sources: Sources) => Promise<A>): Promise<A> =>
  connected((connections) => connections.sources(use));

/** Checks the installation. */
export const diagnosed = (onPart?: Parameters<typeof diagnose>[1]): Promise<Diagnosis> =>
  connected((connections) => diagnose(connections, onPart));

/** Creates or migrates the tables of the ledger. @returns its address. */
export const migrated = async (onMigration: (version: number) => void): Promise<string> => {
  const ledger = await openWorkersLedger(connectionSettings().ledger, onMigration);
  await ledger.close();
  return ledger.place;
};
