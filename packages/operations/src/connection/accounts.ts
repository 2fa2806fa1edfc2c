import { readAccountsFile } from "@durable-payments/activities/accounts-file";
import { type ClientSettings, clientSettingNames } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { textAt } from "@durable-payments/protocol";
import { invalidInput } from "../errors.ts";
import type { JournalSettings } from "./journal.ts";

/** An account with a name, as the workers have it. */
export interface NamedAccount {
  readonly name: string;
  readonly journal: JournalSettings;
  /** The settings of its client. */
  readonly client: Partial<ClientSettings>;
}

/**
 * Read the accounts with a name from the file that the workers have, too.
 *
 * @param environment variables by name: `PAYMENTS_ACCOUNTS_FILE`, `PAYMENTS_JOURNAL`.
 * @returns none where no file is named.
 * @throws InvalidInput where it cannot be read, or holds something else.
 */
export const readNamedAccounts = (
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyArray<NamedAccount> => {
  const file = environment["PAYMENTS_ACCOUNTS_FILE"]?.trim() ?? "";
  if (file === "") return [];
  let accounts: ReturnType<typeof readAccountsFile>;
  try {
    // What is read here is used at once.
    accounts = readAccountsFile(file, () => undefined);
  } catch (error) {
    throw invalidInput(`${messageOf(error)} Nothing was done.`);
  }
  return Object.entries(accounts).map(([name, settings]) => ({
    name,
    journal: {
      account: name,
      clientId: textAt(settings, "clientId"),
      journal: textAt(settings, "journal") ?? environment["PAYMENTS_JOURNAL"],
    },
    client: Object.fromEntries(
      Object.entries(settings).filter(([setting]) => clientSettingNames.includes(setting)),
    ),
  }));
};
