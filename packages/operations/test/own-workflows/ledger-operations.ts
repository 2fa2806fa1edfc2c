import type { OwnInputs, OwnOperation } from "@durable-payments/activities";
import { z } from "zod";
import type { BookedEntry, Entry, Receipt, SentReceipt } from "./ledger-types.ts";

const entrySchema = z.object({
  ledger: z.string().min(1),
  amount: z.string().regex(/^\d+\.\d{2}$/, "must have two decimals"),
  currency: z.string().length(3),
});

/** What the worker knows of the workflow's input, and which step uses each field last. */
export const inputs: OwnInputs = {
  payAndBook: {
    schema: z.object({
      payment: z.looseObject({ amount: z.string() }),
      entry: entrySchema,
      receipt: z.object({ to: z.email(), subject: z.string().min(1) }),
    }),
    amendable: {
      "payment.": "createPayout",
      "entry.": "bookEntry",
      "receipt.": "sendReceipt",
    },
  },
};

/** Books in a ledger that answers 409 to what it refuses, and knows an Idempotency-Key again. */
export const bookEntry = (url: string): OwnOperation<Entry, BookedEntry> => ({
  schema: entrySchema,
  timeoutMs: 2_000,
  send: async (entry, { key, notCarriedOut, refused, signal }) => {
    const response = await fetch(`${url}/entries`, {
      method: "POST",
      headers: { "idempotency-key": key },
      body: JSON.stringify(entry),
      signal,
    });
    if (response.status === 503) throw notCarriedOut("the ledger is closed");
    if (response.status === 409) throw refused(await response.text());
    return (await response.json()) as BookedEntry;
  },
  read: async (id, { signal }) => {
    const response = await fetch(`${url}/entries/${id}`, { signal });
    return response.ok ? ((await response.json()) as BookedEntry) : undefined;
  },
  undo: async (id, { signal }) => {
    const response = await fetch(`${url}/entries/${id}`, { method: "DELETE", signal });
    if (!response.ok) throw new Error(`the ledger answered ${response.status}`);
  },
});

/** Sends by a mailer that knows no key, and lists what it has sent. */
export const sendReceipt = (url: string): OwnOperation<Receipt, SentReceipt> => ({
  timeoutMs: 1_000,
  listLagMs: 500,
  send: async (receipt, { refused, signal }) => {
    const body = JSON.stringify(receipt);
    const response = await fetch(`${url}/receipts`, { method: "POST", body, signal });
    if (response.status === 409) throw refused(await response.text());
    return (await response.json()) as SentReceipt;
  },
  read: async (id, { signal }) => {
    const response = await fetch(`${url}/receipts/${id}`, { signal });
    return response.ok ? ((await response.json()) as SentReceipt) : undefined;
  },
  list: async (since, { signal }) => {
    const response = await fetch(`${url}/receipts?since=${since.toISOString()}`, { signal });
    return (await response.json()) as ReadonlyArray<SentReceipt>;
  },
  match: (receipt, listed) => {
    if (listed.to !== receipt.to) return "other";
    return listed.subject === receipt.subject ? "same" : "near";
  },
});
