import type { PayoutInput } from "@durable-payments/protocol";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of the payout that the README shows. */
export const examplePayout = fileURLToPath(
  new URL("../../../../examples/payout.json", import.meta.url),
);

/** The payout that the README shows. */
export const payoutInput = JSON.parse(readFileSync(examplePayout, "utf8")) as PayoutInput;
