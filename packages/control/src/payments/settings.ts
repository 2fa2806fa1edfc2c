/**
 * The settings of a program that acts on payments: those of the worker. A value that the program gives overrides the
 * environment, and the environment overrides the settings file. So an installation has one place for each setting.
 */
import { InvalidSettings } from "@durable-payments/client/effect";
import { makeAssumptions } from "@durable-payments/client/settings";
import { isRecord, messageOf } from "@durable-payments/client/values";
import type { Ledger } from "@durable-payments/ledger";
import {
  accountsOf,
  checkSettings,
  clientOptionsOf,
  lateAfterMsOf,
  layOver,
  readSettings,
} from "@durable-payments/protocol/settings";
import { accountHash } from "@durable-payments/protocol/account";
import type { ConnectionOptions } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import * as Result from "effect/Result";
import { InvalidInput, invalidInput } from "../errors.ts";
import type { ConnectionSettings } from "../facts/connection/connections.ts";
import { temporalSettings } from "../facts/connection/temporal.ts";
import { type Check, check, isAny, isText } from "../rules/filter.ts";

/** Access of one account to the service. */
export interface ServiceAccess {
  /** Address of the service. */
  readonly baseUrl?: string;
  readonly clientId?: string;
  /** Only `doctor` needs it. */
  readonly apiKey?: string;
  /** File with the key; it is read again whenever it changes. */
  readonly apiKeyFile?: string;
}

/** Access to Temporal. An omitted field is that of Temporal's own configuration: `TEMPORAL_*`, or its file. */
export interface TemporalAccess {
  /** `HOST:PORT`. */
  readonly address?: string;
  readonly namespace?: string;
  readonly apiKey?: string;
  /** `true` for TLS with the system's authorities. */
  readonly tls?: ConnectionOptions["tls"];
  /** Converter of payloads, if `keyring` does not encrypt them. */
  readonly dataConverter?: DataConverter;
}

/** Settings of `openPayments`. An omitted one is that of the environment or the settings file, as for a worker. */
export interface OpenPaymentsSettings extends ServiceAccess {
  /** `sqlite:FILE` or `postgres://USER:PASSWORD@HOST/DATABASE`: that of the workers. */
  readonly ledger?: string;
  /** Folder of the workers' keys. */
  readonly keyring?: string;
  /** Further accounts by name. */
  readonly accounts?: Readonly<Record<string, ServiceAccess>>;
  /** Task queue of the workers. Default: `payments`. */
  readonly taskQueue?: string;
  readonly temporal?: TemporalAccess;
}

/** The settings of a tool, read and checked. */
export type Installation = ReturnType<typeof readInstallation>;

const UNNAMED = "default";

const TEMPORAL: Readonly<Record<keyof TemporalAccess, Check>> = {
  address: isText,
  namespace: isText,
  apiKey: isText,
  tls: isAny,
  dataConverter: isAny,
};

/** The reason names the setting as its source does: a variable, if it is of the environment. */
const checked = <A>(read: () => A): A => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    throw new InvalidInput({ message: `${messageOf(error)} Nothing was done.` });
  }
};

/** Reads the settings of an installation. @throws InvalidInput if they are invalid. */
export const readInstallation = (
  given: OpenPaymentsSettings,
  environment: Readonly<Record<string, string | undefined>>,
  kept?: Ledger,
) => {
  // The settings of the environment alone may be those of another installation.
  const settingsGiven: unknown = given;
  if (!isRecord(settingsGiven))
    throw invalidInput("The settings must be an object. Nothing was done.");
  const { temporal = {}, ...own } = given;
  // With a misspelt address, it would be the Temporal of another installation.
  check("setting temporal", TEMPORAL, temporal, "Nothing was done.");
  const settings = checked(() =>
    layOver(
      readSettings(environment),
      checkSettings(own, (field) => `The setting ${field}`),
    ),
  );
  const all = checked(() => accountsOf(settings));
  const unnamed = all.has(UNNAMED) ? undefined : UNNAMED;
  const known = Array.from(all).flatMap(([name, { baseUrl, clientId }]) =>
    baseUrl === undefined || clientId === undefined
      ? []
      : [{ name, hash: accountHash({ baseUrl, clientId }) }],
  );
  const accounts = known.map(({ hash, name = unnamed }) => ({ name, hash }));
  const { apiKey, baseUrl, clientId, keepDays, keyring, ledger } = settings;
  const isNone = all.size === 1 && apiKey === undefined && baseUrl === undefined;
  const assumptionsOf = (account?: string) => {
    const name = accounts.find(({ hash }) => hash === account)?.name;
    return Result.getOrThrowWith(
      makeAssumptions(all.get(name)?.assumptions ?? settings.assumptions ?? {}),
      ({ message }) => new InvalidInput({ message: `${message} Nothing was done.` }),
    );
  };
  const connections: ConnectionSettings = {
    temporal: () => {
      const found = temporalSettings(environment, settings);
      const { address, apiKey: key, dataConverter, namespace, tls } = temporal;
      return {
        ...found,
        ...(address !== undefined && { address }),
        ...(namespace !== undefined && { namespace }),
        ...(dataConverter !== undefined && { dataConverter }),
        ...(key !== undefined && { apiKey: () => key }),
        ...(tls !== undefined && { connectionOptions: { ...found.connectionOptions, tls } }),
      };
    },
    ledger: { ledger, clientId, keyring },
    accounts: known,
    assumptionsOf,
    kept,
  };
  return {
    /** Each has a name: the unnamed one is called `default`, unless another one is. */
    accounts,
    keepDays,
    /** The access of each account to the service; none for people who only decide. */
    services: isNone
      ? []
      : Array.from(all, ([name, account]) => ({ name, access: clientOptionsOf(account) })),
    lateAfterMs: lateAfterMsOf(settings.notify),
    connections,
  };
};
