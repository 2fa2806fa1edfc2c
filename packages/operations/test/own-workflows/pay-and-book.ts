import {
  awaitPayout,
  beginRun,
  checkInput,
  createPayout,
  defineOperation,
} from "@durable-payments/workflows";
import type { BookedEntry, Entry, PayAndBook, Receipt, SentReceipt } from "./ledger-types.ts";

/** The ledger knows a key again: an entry whose answer is lost is sent again under its key. */
const bookEntry = defineOperation<Entry, BookedEntry>({
  name: "bookEntry",
  repeat: "keyed",
  note: "booking the entry",
  shown: ({ amount, currency, ledger }) => ({ amount, currency, ledger }),
});

/** The mailer sends whatever it gets: a receipt whose answer is lost is looked up, and not sent again on a guess. */
const sendReceipt = defineOperation<Receipt, SentReceipt>({
  name: "sendReceipt",
  repeat: "once",
  note: "sending the receipt",
  shown: ({ subject }) => ({ subject }),
  alike: ({ subject, to }) => [to, subject],
});

/** Pays, books what was paid, and sends the payee a receipt: each exactly once. */
export async function payAndBook(input: PayAndBook): Promise<{ entry: string; receipt: string }> {
  const run = beginRun({ input });
  return run.execute(async () => {
    await checkInput(run);
    // The input is read anew before each step: a retry may have amended it.
    const { payment } = await run.input();
    const paid = await createPayout(run, payment);
    await awaitPayout(run, paid, { within: "5 days" });

    const { entry } = await run.input();
    const booked = await bookEntry(run, entry, { undo: "reverse the entry" });

    const { receipt } = await run.input();
    const sent = await sendReceipt(run, receipt);
    return { entry: booked.id, receipt: sent.id };
  });
}
