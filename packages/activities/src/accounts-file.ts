import { apiKeyIn, readFiles, rereadFiles } from "@durable-payments/api-core/credentials";
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

/** The API key that a file holds, read again when it is used. */
const keyOf = (path: string, whose: string, warn: (message: string) => void): (() => string) => {
  const paths = { [whose]: path };
  return orRangeError(() =>
    rereadFiles({
      paths,
      contents: readFiles(paths),
      parse: (contents) => apiKeyIn(whose, contents[whose] ?? ""),
      warn,
    }),
  );
};
/**
 * Reads the settings of accounts by their names from a JSON file. An API key may be in a file of its own, as secrets are
 * mounted: `apiKeyFile`, relative to the file of accounts; a line break at its end is not part of it. Then the setting
 * `apiKey` is a function that returns the key as it is now.
 *
 * @param file `{"eu": {"clientId": "…", "apiKeyFile": "eu.key", …}, "us": {…}}`.
 * @param warn is called once if the file of a key can no longer be read: the last key stays in use.
 * @returns the settings of the file, each with its `apiKey`.
 * @throws RangeError that names the fault, without the content of the file.
 */
export const readAccountsFile = (
  file: string,
  warn: (message: string) => void,
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
      const { apiKeyFile, ...settings } = account;
      if (apiKeyFile === undefined) return [name, settings];
      if (typeof apiKeyFile !== "string" || "apiKey" in settings) {
        throw wrong(file, `must give ${name} either apiKey or apiKeyFile, a path`);
      }
      const whose = `The apiKeyFile of ${name} in the file of accounts ${file} (PAYMENTS_ACCOUNTS_FILE)`;
      const apiKey = keyOf(resolve(dirname(file), apiKeyFile), whose, warn);
      return [name, { ...settings, apiKey }];
    }),
  );
};
