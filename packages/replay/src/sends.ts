import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { decode } from "@temporalio/common/lib/encoding.js";

/** By what a payment service, and the journal, know what an activity sends. */
export interface Sends {
  /** Step of `@durable-payments/workflows` that sends. */
  readonly step?: string;
  /** Its idempotency key, `unique_request_id`. */
  readonly key?: string;
}

/** What another converter, or a codec, has written is not looked into. */
const PLAIN = "json/plain";

const isPlain = ({ metadata }: Payload): boolean => {
  const encoding = metadata?.["encoding"];
  return encoding !== undefined && encoding !== null && decode(encoding) === PLAIN;
};

const textIn = (payload: Payload | undefined, field: string): string | undefined => {
  if (payload === undefined || !isPlain(payload)) return undefined;
  const value: unknown = defaultPayloadConverter.fromPayload(payload);
  if (typeof value !== "object" || value === null) return undefined;
  const text: unknown = Reflect.get(value, field);
  return typeof text === "string" ? text : undefined;
};

/**
 * Read as what an activity sends: its first argument is the request, its second says of which step it is.
 *
 * @returns undefined where it says neither: most activities send nothing.
 */
export const sendsOf = (input: ReadonlyArray<Payload> | null | undefined): Sends | undefined => {
  const [request, intent] = input ?? [];
  const key = textIn(request, "unique_request_id");
  const step = textIn(intent, "step");
  if (step === undefined && key === undefined) return undefined;
  return { ...(step !== undefined && { step }), ...(key !== undefined && { key }) };
};
