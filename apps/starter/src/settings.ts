import {
  type ClientOptions,
  clientOptionsWithEnvironment,
  clientSettingNames,
} from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import {
  type AccountSettings,
  type Operations,
  type OperationsSettings,
  readTextSeal,
  type ServiceSettings,
  type Sources,
  temporalSettings,
  withOperations,
  withSources,
} from "@durable-payments/operations/connection";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { badUsage } from "./exit-codes.ts";

// Reads the parameters of operations from the environment. It imports all operations, so a command loads it only when
// needed.

/** An account of these settings; the unnamed account is that of PAYMENTS_CLIENT_ID. */
type Account = AccountSettings<ClientOptions>;

const readService = (client: Readonly<Record<string, unknown>>): Promise<ServiceSettings> =>
  Effect.runPromise(Effect.result(clientOptionsWithEnvironment(client)));

const namedAccounts = async (): Promise<ReadonlyArray<Account>> => {
  const file = process.env["PAYMENTS_ACCOUNTS_FILE"] ?? "";
  if (file === "") return [];
  // The activities are not needed if no account has a name.
  const { readAccountsFile } = await import("@durable-payments/activities/accounts-file");
  let accounts: ReturnType<typeof readAccountsFile>;
  try {
    accounts = readAccountsFile(file);
  } catch (error) {
    throw badUsage(`${messageOf(error)} Nothing was done.`);
  }
  return Promise.all(
    Object.entries(accounts).map(async ([name, given]) => {
      const known = Object.entries(given).filter(([field]) => clientSettingNames.includes(field));
      // Otherwise the credentials of another account would apply.
      const service = await readService({
        clientId: "",
        ...("apiKeyFile" in given ? {} : { apiKey: "" }),
        ...Object.fromEntries(known),
      });
      return { name, service };
    }),
  );
};

/**
 * Reads all accounts of these settings: the named ones, and that of PAYMENTS_CLIENT_ID, unless only named ones are set.
 *
 * @throws BadUsage if the file of accounts is invalid.
 */
export const readAccounts = async (): Promise<readonly [Account, ...ReadonlyArray<Account>]> => {
  const [first, ...others] = await namedAccounts();
  const unnamed: Account = { name: undefined, service: await readService({}) };
  if (first === undefined) return [unnamed];
  return (process.env["PAYMENTS_CLIENT_ID"] ?? "") === ""
    ? [first, ...others]
    : [unnamed, first, ...others];
};

/** Reads the addresses of Temporal and the ledger, without credentials of the service. */
export const operationsSettings = async (): Promise<OperationsSettings<ClientOptions>> => {
  const accounts = await readAccounts();
  const clientId = process.env["PAYMENTS_CLIENT_ID"];
  const seal = readTextSeal(process.env);
  const [{ service: first }] = accounts;
  return {
    temporal: () => temporalSettings(process.env),
    ledger: { ledger: process.env["PAYMENTS_LEDGER"], clientId, ...(seal && { seal }) },
    accounts,
    ...(Result.isSuccess(first) && { listLagMs: first.success.assumptions.listLagSeconds * 1_000 }),
  };
};

/**
 * Calls a function with Temporal and the ledger.
 *
 * @throws ConnectionFailed within about five seconds if either cannot be used.
 */
export const operating = async <A>(use: (operations: Operations) => Promise<A>): Promise<A> =>
  withOperations(await operationsSettings(), use);

/**
 * Reads from Temporal and the ledger, as far as they can be reached.
 *
 * @throws ConnectionFailed if neither can.
 */
export const reading = async <A>(use: (sources: Sources) => Promise<A>): Promise<A> =>
  withSources(await operationsSettings(), use);
