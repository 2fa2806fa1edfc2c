import {
  advance,
  type Effect,
  type Ledger,
  type Look,
  type WriteEvent,
  type WriteName,
  type WritePolicy,
} from "@durable-payments/ledger";

/** What the result and the log say where a person named an id that nothing could read, or compare. */
export const NOT_CONFIRMED = { not_confirmed: true } as const;

/**
 * Changes a row by what has happened, in one transaction.
 *
 * @param workflowType of the run that a row is named by, recorded with it.
 * @returns the row as it is now, and what comes next.
 * @throws LedgerUnavailable; MadeByAnother
 */
export const advanceRow = async (
  ledger: Ledger,
  name: WriteName,
  event: WriteEvent,
  policy: WritePolicy,
  workflowType?: string,
): Promise<{ readonly look: Look; readonly effect: Effect }> => {
  let effect: Effect | undefined;
  const isUnread = event.is === "checked" && "not_confirmed" in event.result;
  const look = await ledger.transact(name, (seen) => {
    const { effect: next, entries, row } = advance(seen, event, policy);
    effect = next;
    return {
      ...(row !== undefined && { row }),
      entries: isUnread
        ? entries.map((one) => ({ ...one, details: { ...one.details, ...NOT_CONFIRMED } }))
        : entries,
      workflowType,
    };
  });
  if (effect === undefined) throw new Error("The ledger decided nothing.");
  return { look, effect };
};
