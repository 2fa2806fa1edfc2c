import { readFiles } from "@durable-payments/api-core/credentials";
import { isRecord, messageOf } from "@durable-payments/api-core/values";
import { dirname, resolve } from "node:path";

const wrong = (file: string, why: string): RangeError =>
  new RangeError(`The file of accounts ${file} (PAYMENTS_ACCOUNTS_FILE) ${why}.`);

/** The value is not repeated: somebody may have given the content itself, which holds keys. */
const orRangeError = <A>(read: () => A): A => {
  try {
    return read();
  } catch (error) {
    throw new RangeError(messageOf(error), { cause: error });
  }
};

/** The settings that name files, relative to the file of accounts. */
const FILES = ["apiKeyFile", "caFile", "clientCertFile", "clientKeyFile"];

/**
 * Reads the settings of accounts by their names from a JSON file. An API key may have a file of its own, as secrets are
 * mounted: `apiKeyFile`, relative to the file of accounts.
 *
 * @param file `{"eu": {"clientId": "…", "apiKeyFile": "eu.key", …}, "us": {…}}`.
 * @returns the settings of the file, with whole paths
 * @throws RangeError that says what is wrong, and repeats nothing of the file
 */
export const readAccountsFile = (
  file: string,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> => {
  let accounts: unknown;
  try {
    const { PAYMENTS_ACCOUNTS_FILE: text } = orRangeError(() =>
      readFiles({ PAYMENTS_ACCOUNTS_FILE: file }),
    );
    accounts = JSON.parse(text);
  } catch (error) {
    // A SyntaxError repeats a part of the file, which may be a secret.
    if (error instanceof SyntaxError) throw wrong(file, "holds no JSON");
    throw error;
  }
  if (!isRecord(accounts) || Object.keys(accounts).length === 0) {
    throw wrong(file, "must hold a JSON object with an object of settings for each account");
  }
  return Object.fromEntries(
    Object.entries(accounts).map(([name, account]) => {
      if (!isRecord(account)) throw wrong(file, `must hold an object of settings for ${name}`);
      const settings = Object.entries(account).map(([setting, value]) => [
        setting,
        FILES.includes(setting) && typeof value === "string" && value !== ""
          ? resolve(dirname(file), value)
          : value,
      ]);
      return [name, Object.fromEntries(settings)];
    }),
  );
};
