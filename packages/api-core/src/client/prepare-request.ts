import { toWire, wireMethod } from "../contract/wire-names.ts";
import type { EncodedRequest } from "./check-request.ts";
import type { ClientOptions } from "./config.ts";
import type { Operation } from "./operations.ts";
import { hiddenValues, idsOf, type RequestValues } from "./redact.ts";
import type { WireRequest } from "./wire.ts";

/** The query, with its question mark; empty without fields. */
const search = (fields: Readonly<Record<string, unknown>>): string => {
  const entries = Object.entries(fields).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries).toString()}`;
};

const path = (template: string, params: Readonly<Record<string, string>>): string =>
  template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

/** A checked request, ready to be sent any number of times, but for the token. */
export interface Prepared {
  readonly request: Omit<WireRequest, "headers" | "attempt">;
  /** Its fields of path and body, by the contract's names. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** Values of the request that must not be repeated in a message. */
  readonly hidden: RequestValues;
  /** Ids of the request, which must stay readable in a message. */
  readonly ids: ReadonlyArray<string>;
  readonly isKeyed: boolean;
}

/** Write a checked request down as it goes on the wire: every send of a call is the same. */
export const prepareRequest = (
  operation: Operation,
  { params, payload: fields = {}, query }: EncodedRequest,
  { assumptions }: ClientOptions,
): Prepared => {
  const { method, name, path: template, payload, idempotency } = operation;
  const sent = { ...params, ...fields };
  const body = payload === undefined ? undefined : toWire(name, fields, assumptions);
  return {
    request: {
      operation,
      method: wireMethod(name, method, assumptions),
      path: path(template, params) + search(toWire(name, query, assumptions)),
      body: body && JSON.stringify(body),
      dedicatedConnection: idempotency === "none",
    },
    sent,
    hidden: hiddenValues(fields),
    ids: idsOf(sent),
    isKeyed: body?.["unique_request_id"] !== undefined,
  };
};
