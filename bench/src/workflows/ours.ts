// Of our workflows those that bare.ts has by hand: a bundle of the same steps.
export { onboardCardholder, payout } from "@durable-payments/workflows/definitions";
