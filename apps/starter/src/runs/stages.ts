import { PAYMENT_STAGE } from "@durable-payments/protocol";
import { type Event, searchAttributeOf } from "./history-steps.ts";

/** The stage that an event writes, if it writes one. */
export const stageOf = (event: Event): string | undefined => {
  const stage = searchAttributeOf(event, PAYMENT_STAGE.name);
  return typeof stage === "string" ? stage : undefined;
};
