import { isRecord } from "@durable-payments/api-core/values";
import { sendingReconciledBy, textAt } from "@durable-payments/protocol";
import type { PastStep } from "./run-history.ts";

/** Something that the service lists, and that may be what was sent: by the service's field names. */
export type Candidate = Readonly<Record<string, string>>;

/** What of a listed item says whether it is what was sent: nothing of a person, and no account. */
const CANDIDATE_FIELDS = [
  "payout_id",
  "payout_status",
  "card_holder_id",
  "card_holder_status",
  "beneficiary_id",
  "amount",
  "currency",
  "payout_reference",
  "create_time",
  "unique_request_id",
] as const;

/** What the last reading of the list, in any run, showed that may be what a step sent. */
export const candidatesOf = (
  steps: ReadonlyArray<Pick<PastStep, "activities">>,
  operation: string,
): ReadonlyArray<Candidate> => {
  const last = steps
    .flatMap(({ activities }) => activities)
    .findLast(({ isDone, type }) => isDone && sendingReconciledBy(type)?.operation === operation);
  const { items, matches } = isRecord(last?.result) ? last.result : {};
  if (!Array.isArray(items) || !Array.isArray(matches)) return [];
  return items.flatMap((item: unknown, index) => {
    const match: unknown = matches[index];
    // What another run is known to have made is not it.
    if (!isRecord(match) || match["owner"] !== undefined) return [];
    const fields = CANDIDATE_FIELDS.map((name) => [name, textAt(item, name)] as const);
    return [
      Object.fromEntries(
        fields.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
      ),
    ];
  });
};
