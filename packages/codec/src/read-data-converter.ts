import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { DataConverter } from "@temporalio/common";
import { encryptedDataConverter } from "./data-converter.ts";
import { InvalidDataConverter } from "./errors.ts";
import { openKeyring } from "./keyring.ts";

const KEYRING = "PAYMENTS_KEYRING";
const MODULE = "PAYMENTS_DATA_CONVERTER";

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const isDataConverter = (value: unknown): value is DataConverter =>
  typeof value === "object" && value !== null;

/** A path is that of a file, seen from the working directory; a word that of an installed package. */
const specifierOf = (module: string): string =>
  /^[./]/.test(module) ? pathToFileURL(resolve(module)).href : module;

const readModule = async (module: string, namespace: string): Promise<DataConverter> => {
  let exported: unknown;
  try {
    const loaded: object = await import(specifierOf(module));
    const dataConverter: unknown = Reflect.get(loaded, "dataConverter");
    exported =
      typeof dataConverter === "function"
        ? await Reflect.apply(dataConverter, undefined, [{ namespace }])
        : dataConverter;
  } catch (error) {
    throw new InvalidDataConverter(
      `${MODULE} names a module that does not load: ${messageOf(error)}`,
      { cause: error },
    );
  }
  if (isDataConverter(exported)) return exported;
  throw new InvalidDataConverter(
    `${MODULE} names a module without \`dataConverter\`: export one, or a function of { namespace } that returns one`,
  );
};

/**
 * Read how payloads are encoded from the environment, for workers and clients alike: `PAYMENTS_KEYRING` names a folder
 * of keys ({@link openKeyring}), `PAYMENTS_DATA_CONVERTER` a module of your own. The module exports `dataConverter`,
 * which is one or a function of `{ namespace }` that returns one; its codecs leave payloads of another encoding as
 * they are.
 *
 * @param environment variables by name.
 * @param namespace Temporal namespace of worker and client.
 * @returns the converter; undefined where neither is set.
 * @throws InvalidDataConverter where both are set, or a module is not to be used; KeysUnavailable where the keyring
 *   cannot be read now.
 * @example
 * ```ts
 * const dataConverter = await readDataConverter(process.env, namespace);
 * const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
 * ```
 */
export const readDataConverter = async (
  environment: Readonly<Record<string, string | undefined>>,
  namespace: string,
): Promise<DataConverter | undefined> => {
  const folder = environment[KEYRING]?.trim() ?? "";
  const module = environment[MODULE]?.trim() ?? "";
  if (folder !== "" && module !== "") {
    throw new InvalidDataConverter(`Set ${KEYRING} or ${MODULE}, not both`);
  }
  if (module !== "") return readModule(module, namespace);
  if (folder === "") return undefined;
  const keys = openKeyring(folder);
  await keys.currentKeyId();
  return encryptedDataConverter({ namespace, keys });
};
