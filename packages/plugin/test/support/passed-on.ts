export { payout } from "@durable-payments/workflows";

/** It has a name of its own. */
export const other = async (): Promise<string> => "passed on";
