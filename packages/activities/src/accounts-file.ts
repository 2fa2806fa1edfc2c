import { isRecord } from "@durable-payments/api-core/values";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const wrong = (file: string, why: string): RangeError =>
  new RangeError(`The file of accounts ${file} (PAYMENTS_ACCOUNTS_FILE) ${why}.`);

/** What names it is not repeated: somebody may have given the content itself, which holds keys. */
const readText = (file: string, whose: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new RangeError(`${whose} must be the path of a file: it is missing or cannot be read.`);
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
    accounts = JSON.parse(readText(file, "PAYMENTS_ACCOUNTS_FILE"));
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
      const whose = `The apiKeyFile of ${name} in the file of accounts ${file} (PAYMENTS_ACCOUNTS_FILE)`;
      const apiKey = readText(resolve(dirname(file), apiKeyFile), whose).replace(/\r?\n$/, "");
      return [name, { ...settings, apiKey }];
    }),
  );
};
