import { createRequire } from "node:module";
import { join } from "node:path";
import type { DataConverter } from "@temporalio/common";
import { encryptedDataConverter } from "./data-converter.ts";
import { InvalidDataConverter, KeysUnavailable } from "./errors.ts";
import { openKeyring } from "./keyring.ts";

const KEYRING = "PAYMENTS_KEYRING";
const MODULE = "PAYMENTS_DATA_CONVERTER";

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isDataConverter = (value: unknown): value is DataConverter => isObject(value);

const readModule = (module: string, namespace: string): DataConverter => {
  let exported: unknown;
  try {
    // As a module of the working directory would write it: a path, or the name of a package.
    const loaded: unknown = createRequire(join(process.cwd(), "module.js"))(module);
    const dataConverter: unknown = isObject(loaded)
      ? Reflect.get(loaded, "dataConverter")
      : undefined;
    exported =
      typeof dataConverter === "function"
        ? Reflect.apply(dataConverter, undefined, [{ namespace }])
        : dataConverter;
  } catch (error) {
    throw new InvalidDataConverter(
      `${MODULE} names a module that does not load: ${messageOf(error)}`,
      { cause: error },
    );
  }
  if (!isDataConverter(exported) || exported instanceof Promise) {
    throw new InvalidDataConverter(
      `${MODULE} names a module without \`dataConverter\`: export one, or a function of { namespace } that returns one, and no promise`,
    );
  }
  if (exported.payloadConverterPath !== undefined) {
    throw new InvalidDataConverter(
      `${MODULE} names a module with a payloadConverterPath: what payments store is JSON; encrypt or compress it by payloadCodecs`,
    );
  }
  return exported;
};

/**
 * Read how payloads are encoded from the environment, for workers and clients alike: `PAYMENTS_KEYRING` names a folder
 * of keys ({@link openKeyring}), `PAYMENTS_DATA_CONVERTER` a module of your own. The module exports `dataConverter`,
 * which is one or a function of `{ namespace }` that returns one; its codecs leave payloads of another encoding as
 * they are. No key is read yet: {@link checkDataConverter}.
 *
 * @param environment variables by name.
 * @param namespace Temporal namespace of worker and client.
 * @returns the converter; undefined where neither is set.
 * @throws InvalidDataConverter where both are set, or a module is not to be used.
 * @example
 * ```ts
 * const dataConverter = readDataConverter(process.env, namespace);
 * const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
 * ```
 */
export const readDataConverter = (
  environment: Readonly<Record<string, string | undefined>>,
  namespace: string,
): DataConverter | undefined => {
  const folder = environment[KEYRING]?.trim() ?? "";
  const module = environment[MODULE]?.trim() ?? "";
  if (folder !== "" && module !== "") {
    throw new InvalidDataConverter(`Set ${KEYRING} or ${MODULE}, not both`);
  }
  if (module !== "") return readModule(module, namespace);
  return folder === ""
    ? undefined
    : encryptedDataConverter({ namespace, keys: openKeyring(folder) });
};

const SAMPLE = Buffer.from("durable-payments");

/**
 * Encode and decode once, so that keys that cannot be read are told before anything needs them.
 *
 * @param dataConverter of a worker or a client.
 * @throws KeysUnavailable, or what a codec of your own rejects with.
 */
export const checkDataConverter = async ({ payloadCodecs = [] }: DataConverter): Promise<void> => {
  for (const codec of payloadCodecs) {
    const encoded = await codec.encode([{ metadata: {}, data: SAMPLE }]);
    const [decoded] = await codec.decode(encoded);
    if (!SAMPLE.equals(decoded?.data ?? Buffer.of())) {
      throw new KeysUnavailable("A payload codec does not decode what it has encoded");
    }
  }
};
