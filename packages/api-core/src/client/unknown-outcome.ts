import { lookUp } from "../values.ts";

const KEYED =
  "It may have taken effect: if it is sent again, then with the same unique_request_id.";

/** The next step after an unknown outcome, by the operation. The promise client has no contract yet. */
const nextSteps: Readonly<Record<string, string>> = {
  createPayout:
    "The payout may have been made: before it is sent again, look for it with listPayouts.",
  createCardholder:
    "The cardholder may have been created: before it is sent again, look for it with listCardholders.",
  createBeneficiary:
    "The beneficiary may have been created. The service has no list of them; a second one moves no money.",
  createCard: KEYED,
  withdrawFromCard: KEYED,
};

/** The message of an error of a write whose outcome is unknown: what happened, and then the next step. */
export const unknownOutcome = (operation: string, what: string): string =>
  `${what} ${lookUp(nextSteps, operation) ?? "It may have taken effect, and may be sent again."}`;
