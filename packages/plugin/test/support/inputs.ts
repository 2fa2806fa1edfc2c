import { payout } from "@durable-payments/tools/test-data/inputs";

/** A payment to a beneficiary that the simulator has. */
export const payment = payout;
