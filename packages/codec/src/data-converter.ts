import { fileURLToPath } from "node:url";
import type { DataConverter } from "@temporalio/common";
import { type EncryptionSettings, makeEncryptionCodec } from "./encryption-codec.ts";

/** Path of the module by which the messages and stacks of failures are encoded, for `bundleWorkflowCode`. */
export const failureConverterPath = fileURLToPath(
  import.meta.resolve("@durable-payments/codec/failure-converter"),
);

/**
 * Make the data converter of workers and clients: payloads are encrypted, and with them the messages and stacks of
 * failures. Search attributes, memo keys, ids and summaries are not: Temporal stores them in plain text.
 *
 * @param settings namespace, keys, and how long data keys are kept.
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
