import type { FeedEvent } from "@durable-payments/ledger";
import { shownText } from "@durable-payments/client/values";
import { money } from "./text.ts";

/** Returns an event on one line: when, what, of what, how much, why, and its id. */
export const eventText = (event: FeedEvent): string => {
  const { amount = null, at, currency = null, id, reason, step, type, workflowId } = event;
  const paid = amount === null ? undefined : money({ amount, currency });
  const facts = [new Date(at).toISOString(), type, workflowId, step, paid, reason, id];
  return facts.flatMap((fact) => (fact === undefined ? [] : [shownText(fact)])).join("  ");
};
