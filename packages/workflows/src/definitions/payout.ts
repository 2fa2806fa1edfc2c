import type { PayoutInput, PayoutResult } from "@durable-payments/protocol";
import { setCurrentDetails } from "@temporalio/workflow";
import { refuseFaults } from "../run.ts";
import { checkRequests, createBeneficiary, createPayout } from "../steps/operations.ts";
import { awaitPayout } from "../steps/waits.ts";

/**
 * Creates or reuses the beneficiary, creates the payout, and waits until it has completed.
 *
 * @param input the payout, with a beneficiary or the id of one; amounts are decimal strings. A run without its fields fails.
 * @returns the id and the status of the payout; amount and currency as the service shows them.
 * @throws InvalidRequest, Refused, PayoutFailed, PayoutStillOpen, and the other failures of `createPayout`.
 */
export async function payout(input: PayoutInput): Promise<PayoutResult> {
  refuseFaults("payout", input);
  const { account, key, options = {} } = input;
  const { approval, completeWithin, onLostBeneficiary } = options;

  let beneficiary_id: string;
  if ("beneficiary" in input) {
    setCurrentDetails("Creating the beneficiary.");
    checkRequests({ createPayout: [input.payout] });
    const whenLost = onLostBeneficiary === "ask" ? "ask" : "resend";
    ({ beneficiary_id } = await createBeneficiary(input.beneficiary, { account, key, whenLost }));
  } else {
    ({ beneficiary_id } = input);
  }

  setCurrentDetails("Creating the payout.");
  const ordered = { ...input.payout, beneficiary_id };
  const created = await createPayout(ordered, { account, key, approval });

  const { payout_id } = created;
  setCurrentDetails(`Waiting until the payout ${payout_id} has completed.`);
  const seen = await awaitPayout(created, { account, within: completeWithin });
  setCurrentDetails(`The payout ${payout_id} has completed.`);
  return {
    payout_id,
    short_reference: created.short_reference ?? null,
    payout_status: seen.payout_status,
    amount: seen.amount ?? null,
    currency: seen.currency ?? null,
  };
}
