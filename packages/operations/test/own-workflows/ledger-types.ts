import type { Input } from "@durable-payments/api-core";

/** An entry of the ledger; `amount` is a decimal string. */
export interface Entry {
  readonly ledger: string;
  readonly amount: string;
  readonly currency: string;
}

export interface BookedEntry extends Entry {
  readonly id: string;
}

export interface Receipt {
  readonly to: string;
  readonly subject: string;
}

export interface SentReceipt extends Receipt {
  readonly id: string;
}

export interface PayAndBook {
  readonly payment: Omit<Input<"createPayout">, "unique_request_id">;
  readonly entry: Entry;
  readonly receipt: Receipt;
}
