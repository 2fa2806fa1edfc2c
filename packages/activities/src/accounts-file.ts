import { isRecord, messageOf } from "@durable-payments/api-core/values";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const wrong = (file: string, why: string): RangeError =>
  new RangeError(`The file of accounts ${file} (PAYMENTS_ACCOUNTS_FILE) ${why}.`);

const readText = (file: string, ofAccounts: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw wrong(ofAccounts, `cannot be read: ${messageOf(error)}`);
  }
};

/**
 * Read the settings of accounts by their names from a JSON file. An API key may stand in a file of its own, as secrets are
 * mounted: `apiKeyFile`, relative to the file of accounts; a line break at its end is not part of it.
 *
 * @param file `{"eu": {"clientId": "…", "apiKeyFile": "eu.key", …}, "us": {…}}`.
 * @returns the settings as they stand there, each with its `apiKey`.
 * @throws RangeError that says what is wrong, without what the file holds.
 */
export const readAccountsFile = (
  file: string,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> => {
  let accounts: unknown;
  try {
    accounts = JSON.parse(readText(file, file));
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
      const { apiKeyFile, ...settings } = account;
      if (apiKeyFile === undefined) return [name, settings];
      if (typeof apiKeyFile !== "string" || "apiKey" in settings) {
        throw wrong(file, `must give ${name} either apiKey or apiKeyFile, a path`);
      }
      const apiKey = readText(resolve(dirname(file), apiKeyFile), file).replace(/\r?\n$/, "");
      return [name, { ...settings, apiKey }];
    }),
  );
};
