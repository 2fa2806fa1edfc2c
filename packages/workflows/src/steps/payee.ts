import type { DescribedPayee, Payee } from "@durable-payments/protocol";
import { isCancellation } from "@temporalio/workflow";
import { localReadings } from "../run/activities.ts";

/** What is shown of a payee where nothing could be read. */
const UNKNOWN = {
  account_holder: "unknown",
  bank_country: "unknown",
  iban: "unknown",
  paid_before: "unknown",
};

/** Read whom a payment pays, for whoever has to approve it: a service that does not answer holds nothing up. */
export const describePayee = async (payee: Payee): Promise<DescribedPayee> => {
  try {
    return await localReadings.describePayee(payee);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // Approved so, it is asked about anew by a send that can read whom it pays.
    return "beneficiary_id" in payee ? { ...UNKNOWN, mark: "unread" } : UNKNOWN;
  }
};
