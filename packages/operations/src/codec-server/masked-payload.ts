import { readPayload } from "@durable-payments/activities/readable-payloads";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";

const MASK = "[redacted]";

/** Fields whose values say nothing of a person: ids of the service and of runs, amounts, codes, times and states. */
const IS_SHOWN =
  /^(?:(?:balance|beneficiary|card|card_?holder|payer|payout|reference|request|run|short_reference|transaction|unique_request|workflow)_?id|(?:\w+_)?(?:amount|currency|country|status|time)|kind|operation|stage|state|step|type|\w+At)$/i;
/** What such values look like; an account number that stands in the place of one is longer than an amount. */
const LOOKS_SHOWN = /^[\w.:+-]{1,64}$/;

const maskField = (name: string, value: unknown): unknown => {
  if (typeof value !== "string" && typeof value !== "number") return value;
  return IS_SHOWN.test(name) && LOOKS_SHOWN.test(String(value)) ? value : MASK;
};

/** What a payload holds, for those who may not see personal values: only what is known to be none is shown. */
export const maskedPayload = (payload: Payload): Payload => {
  let value: unknown;
  try {
    value = readPayload(payload);
  } catch {
    return defaultPayloadConverter.toPayload(MASK);
  }
  return value === undefined
    ? payload
    : defaultPayloadConverter.toPayload(JSON.parse(JSON.stringify(value), maskField));
};
