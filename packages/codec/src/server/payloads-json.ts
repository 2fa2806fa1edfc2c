import { isRecord } from "@durable-payments/api-core/values";
import type { Payload } from "@temporalio/common";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const bytesOf = (value: unknown): Uint8Array | undefined =>
  typeof value === "string" && BASE64.test(value) ? Buffer.from(value, "base64") : undefined;

const payloadOf = (json: unknown): Payload | undefined => {
  if (!isRecord(json)) return undefined;
  const { data = "", metadata = {} } = json;
  const content = bytesOf(data);
  if (content === undefined || !isRecord(metadata)) return undefined;
  const entries = Object.entries(metadata).map(([name, value]) => [name, bytesOf(value)] as const);
  return entries.every((entry): entry is readonly [string, Uint8Array] => entry[1] !== undefined)
    ? { metadata: Object.fromEntries(entries), data: content }
    : undefined;
};

/**
 * Read payloads as protobuf writes them in JSON: `{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"NTE="}]}`.
 *
 * @returns undefined for anything else.
 */
export const readPayloads = (json: unknown): ReadonlyArray<Payload> | undefined => {
  const given = isRecord(json) ? json["payloads"] : undefined;
  if (!Array.isArray(given)) return undefined;
  const payloads = given.map(payloadOf);
  return payloads.every((payload) => payload !== undefined) ? payloads : undefined;
};

const base64Of = (bytes: Uint8Array | null | undefined): string =>
  Buffer.from(bytes ?? []).toString("base64");

/** Write payloads as {@link readPayloads} reads them. */
export const writePayloads = (payloads: ReadonlyArray<Payload>): string =>
  JSON.stringify({
    payloads: payloads.map(({ data, metadata }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64Of(bytes)]),
      ),
      data: base64Of(data),
    })),
  });
