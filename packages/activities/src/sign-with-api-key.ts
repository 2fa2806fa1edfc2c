import { currentApiKey } from "@durable-payments/api-core";
import { createHmac } from "node:crypto";
import { Redacted } from "effect";
import { optionsOf, type PaymentsRuntime } from "./run-operation.ts";

/**
 * Sign values with the API key. Every worker that has the key makes the same signature. Without it nobody can
 * make one, nor guess what was signed: from a plain hash, an account number with few unknown digits could be.
 *
 * @param values plain data; the first says what is signed, so that no signature is taken for one of another kind.
 * @returns HMAC-SHA256 in base64url.
 */
export const signWithApiKey = async (
  runtime: PaymentsRuntime,
  values: readonly [kind: string, ...rest: ReadonlyArray<unknown>],
): Promise<string> => {
  const key = currentApiKey(await optionsOf(runtime));
  return createHmac("sha256", Redacted.value(key))
    .update(JSON.stringify(values))
    .digest("base64url");
};
