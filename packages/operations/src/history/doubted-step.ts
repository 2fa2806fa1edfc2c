import { isRecord } from "@durable-payments/api-core/values";
import {
  accountNumbersOf,
  maskFreeTexts,
  sendingReconciledBy,
  STEP,
  textAt,
  withoutAccounts,
} from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import type { ExecutionHistory } from "./execution-history.ts";
import { masked } from "./masked.ts";
import type { PastStep } from "./run-history.ts";
import type { PastSend } from "./sends.ts";

/** Something that the service lists, and that may be what was sent: by the service's field names. */
export type Candidate = Readonly<Record<string, string>>;

/** A send in doubt, with what is known of it: for who looks it up with the service. */
export interface DoubtedStep extends StepInDoubt {
  readonly beneficiary_id?: string;
  /** Nickname of the beneficiary that the run was to create, or has created. */
  readonly payee?: string;
  readonly payout_reference?: string;
  /** What the last reading of the service's list showed that may be it; left out where that is nothing. */
  readonly candidates?: ReadonlyArray<Candidate>;
}

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

/**
 * Describe a send in doubt by what was sent, and by what reconciling found.
 *
 * @param executed the runs of its id: a beneficiary that was created is named by its own step.
 */
export const doubtedStep = (
  step: string,
  { candidates = [], ids = {}, kind, lastInput, sent }: PastSend,
  { input, sends }: Pick<ExecutionHistory, "input" | "sends">,
): DoubtedStep => {
  const key = textAt(lastInput, "unique_request_id");
  const card_limit = textAt(lastInput, "card_limit");
  const amount = card_limit ?? textAt(lastInput, "amount");
  const currency = card_limit === undefined ? textAt(lastInput, "currency") : "USD";
  const made = sent.outcome === "known" ? { [kind.idField]: sent.id } : ids;
  const beneficiary_id = textAt(lastInput, "beneficiary_id");
  const created = sends.get(STEP.createBeneficiary);
  const isToCreated = created?.sent.outcome === "known" && created.sent.id === beneficiary_id;
  const payee =
    textAt(lastInput, "nickname") ??
    (isToCreated ? textAt(created.lastInput, "nickname") : undefined);
  const payout_reference = textAt(lastInput, "payout_reference");
  const numbers = accountNumbersOf(isRecord(input) ? input["beneficiary"] : undefined);
  const about = {
    ...(beneficiary_id !== undefined && { beneficiary_id }),
    ...(payee !== undefined && { payee: withoutAccounts(payee, numbers) }),
    ...(payout_reference !== undefined && { payout_reference }),
    ...(candidates.length > 0 && { candidates }),
  };
  return {
    step,
    operation: kind.operation,
    ...(key !== undefined && { key }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(Object.keys(made).length > 0 && { ids: made }),
    ...masked(maskFreeTexts(about, numbers)),
  };
};
