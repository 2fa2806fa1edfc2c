/** Time from the creation of a payout to its settlement. */
export const SETTLE_AFTER_MS = 4_000;

/** Time from the creation of a cardholder to the end of the identity check. */
export const VERIFY_AFTER_MS = 3_000;

/** The reference of a payout that the simulator lets fail begins with this. */
export const FAILING_REFERENCE = "FAIL";
