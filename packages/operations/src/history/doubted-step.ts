import { isRecord } from "@durable-payments/api-core/values";
import {
  accountNumbersOf,
  maskFreeTexts,
  STEP,
  textAt,
  withoutAccounts,
} from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import type { Candidate } from "./candidates.ts";
import type { ExecutionHistory } from "./execution-history.ts";
import { masked } from "./masked.ts";
import type { JournalRecord } from "./journal-record.ts";
import type { PastSend } from "./sends.ts";

/** A send in doubt, with what is known of it: for who looks it up with the service. */
export interface DoubtedStep extends StepInDoubt {
  readonly beneficiary_id?: string;
  /** Nickname of the beneficiary that the run was to create, or has created. */
  readonly payee?: string;
  readonly payout_reference?: string;
  /** What the last reading of the service's list showed that may be it; left out where that is nothing. */
  readonly candidates?: ReadonlyArray<Candidate>;
  /** What the journal has of it; left out where nobody asked it, as `withJournalRecords` does. */
  readonly journal?: JournalRecord;
}

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
