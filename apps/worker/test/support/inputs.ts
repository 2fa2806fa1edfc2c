import type { PayoutInput } from "@durable-payments/protocol";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of an example that the README shows. */
export const exampleFile = (name: "onboard" | "payout"): string =>
  fileURLToPath(new URL(`../../../../examples/${name}.json`, import.meta.url));

/** The payout that the README shows. */
export const payoutInput = JSON.parse(readFileSync(exampleFile("payout"), "utf8")) as PayoutInput;
