import { readAccountsFile } from "@durable-payments/activities/accounts-file";
import { messageOf } from "@durable-payments/api-core/values";
import { ACCOUNT_NAME_RULE, isAccountName } from "@durable-payments/protocol";
import { CannotStart } from "../cannot-start.ts";
import { refuseUnknownAccountSettings, settingsOfAnAccount } from "./known-settings.ts";
import type { AccountSettings, PaymentsSettings } from "./payments-settings.ts";
import type { Environment } from "./worker-process.ts";

/** Settings by the name of the account; by undefined those of the account without a name. */
export type Accounts = ReadonlyMap<string | undefined, AccountSettings>;

/**
 * Do what concerns one account; an error of it begins with the name of the account.
 *
 * @throws CannotStart
 */
export const inAccount = async <A>(
  name: string | undefined,
  work: () => A | Promise<A>,
): Promise<A> => {
  try {
    return await work();
  } catch (error) {
    if (name === undefined || !(error instanceof CannotStart)) throw error;
    throw new CannotStart(`The account ${name}: ${error.message}`);
  }
};

const fromFile = (
  environment: Environment,
): Readonly<Record<string, AccountSettings>> | undefined => {
  const file = environment["PAYMENTS_ACCOUNTS_FILE"]?.trim() ?? "";
  if (file === "") return undefined;
  try {
    return readAccountsFile(file);
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

const checked = (name: string, own: AccountSettings, common: AccountSettings): AccountSettings => {
  if (!isAccountName(name)) {
    throw new CannotStart(
      `The account ${JSON.stringify(name)} must have a name of ${ACCOUNT_NAME_RULE}.`,
    );
  }
  refuseUnknownAccountSettings(name, own);
  // Those of the account without a name are another account's.
  for (const [needed, isGiven] of [
    ["clientId", isText(own.clientId)],
    ["apiKey or apiKeyFile", isText(own.apiKey) || isText(own.apiKeyFile)],
  ] as const) {
    if (!isGiven) throw new CannotStart(`The account ${name} needs its own ${needed}, a text.`);
  }
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...common, ...Object.fromEntries(given) };
};

/**
 * Read which accounts a worker has, each with its settings. What a named one leaves out is as in those of the account
 * without a name, except the credentials.
 *
 * @throws CannotStart where a name or a credential is missing or wrong, or a setting is none.
 */
export const readAccounts = (settings: PaymentsSettings, environment: Environment): Accounts => {
  const own = settingsOfAnAccount(settings);
  const { apiKey: _key, apiKeyFile: _file, clientId, ...common } = own;
  const named = Object.entries(settings.accounts ?? fromFile(environment) ?? {}).map(
    ([name, account]) => [name, checked(name, account, common)] as const,
  );
  const isUnnamed = (clientId ?? environment["PAYMENTS_CLIENT_ID"]?.trim() ?? "") !== "";
  return new Map<string | undefined, AccountSettings>([
    ...(isUnnamed || named.length === 0 ? ([[undefined, own]] as const) : []),
    ...named,
  ]);
};
