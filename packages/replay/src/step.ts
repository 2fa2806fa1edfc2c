import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { decode } from "@temporalio/common/lib/encoding.js";

/** What another converter, or a codec, has written is not looked into. */
const PLAIN = "json/plain";

const isPlain = ({ metadata }: Payload): boolean => {
  const encoding = metadata?.["encoding"];
  return encoding !== undefined && encoding !== null && decode(encoding) === PLAIN;
};

/**
 * Returns the step that an activity sends, by which the ledger knows the payment: its input names it.
 *
 * @returns undefined for an activity that is no write: most are not.
 */
export const stepOf = (input: ReadonlyArray<Payload> | null | undefined): string | undefined => {
  const [call] = input ?? [];
  if (call === undefined || !isPlain(call)) return undefined;
  const value: unknown = defaultPayloadConverter.fromPayload(call);
  if (typeof value !== "object" || value === null) return undefined;
  const step: unknown = Reflect.get(value, "step");
  return typeof step === "string" ? step : undefined;
};
