import { isRecord } from "@durable-payments/api-core/values";
import { likenessText, sendingReconciledBy, textAt } from "@durable-payments/protocol";
import type { PastActivity, PastStep } from "./run-history.ts";
import { findingOf, isAmong } from "./sends.ts";

/** What a run took of the service's list that has no key of ours. */
export interface TakenByLikeness {
  /** The reading that showed it. */
  readonly activity: PastActivity;
  readonly id: string;
  /** How it was found, for a person. */
  readonly text: string;
}

/**
 * Read what a step took of the service's list by its fields alone: neither its key nor the journal nor a person said
 * that it is what the step sent.
 *
 * @param owned what the run owns at last.
 * @returns undefined where it took nothing so.
 */
export const takenByLikeness = (
  { activities, decisions }: PastStep,
  owned: ReadonlySet<string>,
): TakenByLikeness | undefined => {
  const activity = activities.findLast(({ type }) => sendingReconciledBy(type) !== undefined);
  const kind = activity && sendingReconciledBy(activity.type);
  if (kind === undefined || activity === undefined || findingOf(activity) !== "unclear") {
    return undefined;
  }
  const { input, result } = activity;
  const found = isRecord(result) && Array.isArray(result["matches"]) ? result["matches"] : [];
  const ids = found.flatMap((match) => textAt(match, "id") ?? []);
  const id = ids.find((listed) => isAmong(owned, kind, listed));
  if (id === undefined || decisions.some((said) => textAt(said["found"], kind.idField) === id)) {
    return undefined;
  }
  const items = isRecord(result) && Array.isArray(result["items"]) ? result["items"] : [];
  const item: unknown = items.find((listed) => textAt(listed, kind.idField) === id);
  const text = likenessText(kind.operation, {
    createdAt: textAt(item, "create_time"),
    sentFrom: isRecord(input) ? Number(input["since"]) : NaN,
  });
  return { activity, id, text };
};
