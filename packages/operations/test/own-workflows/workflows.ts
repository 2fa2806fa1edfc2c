export { payAndBook } from "./pay-and-book.ts";
export { readsOnce } from "./reads-once.ts";
