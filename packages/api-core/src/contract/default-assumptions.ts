import type { Assumptions } from "./assumptions.ts";
import { parameters } from "./list-parameters.ts";

/** The assumptions that are in use unless a setting overrides them. */
export const defaultAssumptions: Assumptions = {
  updateBeneficiaryMethod: "POST",
  ...parameters,
  deliveryAddressField: "delivery_address",
  rangeBoundUnit: "milliseconds",
  // A window that the service does not honour is noticed before it is believed: it costs some requests, and no money.
  listWindow: "createTime",
  timeZone: "unknown",
  rejectedTokenCodes: [401],
  rejectedTokenWords: ["token", "unauthorized", "unauthenticated", "log in", "session"],
  tokenLifetimeSeconds: 600,
  tokenIdleSeconds: 600,
  notCarriedOutStatuses: [400, 422, 429],
  listLagSeconds: 180,
  reconciliationMaxPages: 1_000,
  clockSkewSeconds: 900,
  payoutKeyEcho: "unknown",
  payoutKeyInBody: true,
  payoutFieldsAsSent: ["payout_id", "amount", "currency", "beneficiary_id"],
  payoutCompletedStatuses: ["completed"],
  payoutFailedStatuses: ["failed", "rejected", "cancelled", "canceled"],
  payoutReturnedStatuses: ["returned", "reversed"],
  // All that the documentation shows, except awaiting_funds.
  completeTimeStatuses: ["processing", "trade_settled", "funds_arrived", "closed"],
  cardholderVerifiedStatuses: ["SUCCESS", "1"],
  cardholderRefusedStatuses: ["FAILED", "-1"],
  cardholderIncompleteStatuses: ["INCOMPLETE", "2"],
  alreadySoRefusals: {
    createBalance: ["balance already exists"],
    removeCardholder: ["already removed"],
    cancelCard: ["already cancelled"],
    freezeCard: ["already frozen"],
  },
  amountFractionDigits: "iso4217",
};
