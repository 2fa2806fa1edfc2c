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

// What the operations take as parameters, the command line takes from the environment. This module brings them all: a
// command loads it when it needs it.

/** An account of these settings; without a name that of PAYMENTS_CLIENT_ID. */
type Account = AccountSettings<ClientOptions>;

const readService = (client: Readonly<Record<string, unknown>>): Promise<ServiceSettings> =>
  Effect.runPromise(Effect.result(clientOptionsWithEnvironment(client)));

const namedAccounts = async (): Promise<ReadonlyArray<Account>> => {
  const file = process.env["PAYMENTS_ACCOUNTS_FILE"] ?? "";
  if (file === "") return [];
  // The activities are not needed where no account has a name.
  const { readAccountsFile } = await import("@durable-payments/activities/accounts-file");
  let accounts: ReturnType<typeof readAccountsFile>;
  try {
    // What is read here is used at once.
    accounts = readAccountsFile(file, () => undefined);
  } catch (error) {
    throw badUsage(`${messageOf(error)} Nothing was done.`);
  }
  return Promise.all(
    Object.entries(accounts).map(async ([name, given]) => {
      const known = Object.entries(given).filter(([field]) => clientSettingNames.includes(field));
      // Without its own, those of another account would count.
      const service = await readService({
        clientId: "",
        apiKey: "",
        ...Object.fromEntries(known),
      });
      return { name, service };
    }),
  );
};

/**
 * Reads all accounts of these settings: that of PAYMENTS_CLIENT_ID where it is set, or nothing else is, and those with
 * a name.
 *
 * @throws BadUsage where the file of accounts is wrong.
 */
export const readAccounts = async (): Promise<readonly [Account, ...ReadonlyArray<Account>]> => {
  const [first, ...others] = await namedAccounts();
  const unnamed: Account = { name: undefined, service: await readService({}) };
  if (first === undefined) return [unnamed];
  return (process.env["PAYMENTS_CLIENT_ID"] ?? "") === ""
    ? [first, ...others]
    : [unnamed, first, ...others];
};

/** Reads where Temporal and the ledger are. Credentials of the service are not needed for it. */
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
 * Does something with Temporal and the ledger.
 *
 * @throws ConnectionFailed within about five seconds where one cannot be used.
 */
export const operating = async <A>(use: (operations: Operations) => Promise<A>): Promise<A> =>
  withOperations(await operationsSettings(), use);

/**
 * Reads from Temporal and the ledger, as far as they can be reached.
 *
 * @throws ConnectionFailed where neither can.
 */
export const reading = async <A>(use: (sources: Sources) => Promise<A>): Promise<A> =>
  withSources(await operationsSettings(), use);
