/** How the simulator settles a payout, after {@link SETTLE_AFTER_MS}: by its reference. */
export type Settling = "completes" | "fails";

/** When the simulator settles a payout. */
export const SETTLE_AFTER_MS = 4_000;

/** When the simulator ends an identity check. */
export const VERIFY_AFTER_MS = 3_000;

/** What the reference of a payout begins with that the simulator lets fail. */
export const FAILING = "FAIL";
