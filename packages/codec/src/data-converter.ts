import { messageOf } from "@durable-payments/client/values";
import type { DataConverter } from "@temporalio/common";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EncryptionSettings, makeEncryptionCodec } from "./encryption-codec.ts";
import { InvalidDataConverter, KeysUnavailable } from "./key-provider.ts";
import { openKeyring } from "./keyring.ts";

/** Path of the module that encodes the messages and stacks of failures, for `bundleWorkflowCode`. */
export const failureConverterPath = fileURLToPath(
  import.meta.resolve("@durable-payments/codec/failure-converter"),
);

/**
 * Makes the data converter of workers and clients: payloads are encrypted, and with them the messages and stacks of
 * failures, and summaries. Search attributes, memo keys, ids, type names and task queues are not: Temporal stores them in
 * plain text.
 *
 * @param settings namespace and keys.
 * @returns the converter for `Worker.create`, `new Client` and `bundleWorkflowCode`.
 * @example
 * ```ts
 * const dataConverter = encryptedDataConverter({ namespace, keys: openKeyring("/etc/payments/keys") });
 * const client = new Client({ connection, namespace, dataConverter });
 * ```
 */
export const encryptedDataConverter = (settings: EncryptionSettings): DataConverter => ({
  payloadCodecs: [makeEncryptionCodec(settings)],
  failureConverterPath,
});

/** The encoding of payloads, as in the settings of an installation. */
export interface EncodingSettings {
  /** Folder of keys: {@link openKeyring}. */
  readonly keyring?: string;
  /** Module that exports `dataConverter`, or a function of `{ namespace }` that returns one. The keyring is then of the ledger alone. */
  readonly dataConverter?: string;
}

const invalid = (module: string, problem: string, cause?: unknown): InvalidDataConverter =>
  new InvalidDataConverter(`The setting dataConverter (${module}) names a module ${problem}`, {
    cause,
  });

const readModule = (module: string, namespace: string): DataConverter => {
  let exported: unknown;
  try {
    // As a module of the working directory would write it: a path, or the name of a package.
    const { dataConverter } = createRequire(join(process.cwd(), "module.js"))(module) as Readonly<
      Record<"dataConverter", unknown>
    >;
    exported =
      typeof dataConverter === "function"
        ? Reflect.apply(dataConverter, undefined, [{ namespace }])
        : dataConverter;
  } catch (error) {
    throw invalid(module, `that does not load: ${messageOf(error)}`, error);
  }
  if (typeof exported !== "object" || exported === null || exported instanceof Promise) {
    throw invalid(
      module,
      "without `dataConverter`: export one, or a function of { namespace } that returns one (not a promise)",
    );
  }
  // Each of its fields is optional.
  const dataConverter: DataConverter = exported;
  if (dataConverter.payloadConverterPath !== undefined) {
    throw invalid(
      module,
      "with a payloadConverterPath: payments are stored as JSON, so encrypt or compress them with payloadCodecs",
    );
  }
  return dataConverter;
};

/**
 * Reads the encoding of payloads from settings, for workers and clients. The codecs of a module leave payloads of
 * another encoding as they are. No key is read yet: {@link checkDataConverter}.
 *
 * @param settings a keyring, or a module.
 * @param namespace Temporal namespace of worker and client.
 * @returns the converter; undefined if the settings name none.
 * @throws InvalidDataConverter if a module cannot be used.
 * @example
 * ```ts
 * const dataConverter = readDataConverter({ keyring: "/etc/payments/keys" }, namespace);
 * const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
 * ```
 */
export const readDataConverter = (
  { dataConverter: module, keyring }: EncodingSettings,
  namespace: string,
): DataConverter | undefined => {
  if (module !== undefined) return readModule(module, namespace);
  return keyring === undefined
    ? undefined
    : encryptedDataConverter({ namespace, keys: openKeyring(keyring) });
};

const SAMPLE = Buffer.from("durable-payments");

/**
 * Encodes and decodes once, so that keys that cannot be read are reported before anything needs them.
 *
 * @param dataConverter of a worker or a client.
 * @throws KeysUnavailable, or the rejection of a codec of your own.
 */
export const checkDataConverter = async ({ payloadCodecs = [] }: DataConverter): Promise<void> => {
  for (const codec of payloadCodecs) {
    const encoded = await codec.encode([{ metadata: {}, data: SAMPLE }]);
    const [decoded] = await codec.decode(encoded);
    if (!SAMPLE.equals(decoded?.data ?? Buffer.of())) {
      throw new KeysUnavailable("A payload codec cannot decode what it has encoded");
    }
  }
};
