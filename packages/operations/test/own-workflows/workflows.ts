export { payAndBook } from "./pay-and-book.ts";
export { readsOnce } from "./reads-once.ts";
export { paysApproved } from "./pays-approved.ts";
// A worker without PaymentsPlugin takes it from here.
export { payout } from "@durable-payments/workflows";
