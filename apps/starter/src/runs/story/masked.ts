import { redact } from "@durable-payments/api-core";

/** A value without what must not be shown: account numbers, tokens and the like. */
export const masked = <A>(value: A): A =>
  // Masking changes texts only, and leaves JSON what it is.
  value === undefined ? value : (JSON.parse(redact(JSON.stringify(value))) as A);
