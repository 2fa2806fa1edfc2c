export { payAndBook } from "./pay-and-book.ts";
export { readsOnce } from "./reads-once.ts";
export { paysApproved } from "./pays-approved.ts";
