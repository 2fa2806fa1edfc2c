import {
  awaitApproval,
  beginRun,
  createPayout,
  defineOperation,
} from "@durable-payments/workflows";
import type { BookedEntry, Entry, PayAndBook } from "./ledger-types.ts";

const bookEntry = defineOperation<Entry, BookedEntry>({
  name: "bookEntry",
  repeat: "keyed",
  note: "booking the entry",
  shown: ({ amount }) => ({ amount }),
});

/** What a second person approves: the payment, the booking, or the two of them named one by one. */
export interface PaysApproved extends Pick<PayAndBook, "entry" | "payment"> {
  readonly what: "booking" | "payment" | "requests";
}

/** Pays or books once a second person has approved it. */
export function paysApproved(input: PaysApproved): Promise<string> {
  const run = beginRun({ input });
  return run.execute(async () => {
    const { entry, payment, what } = await run.input();
    const { amount, currency } = what === "booking" ? entry : payment;
    await awaitApproval(
      run,
      { above: "50.00" },
      {
        amount,
        currency,
        payload: { entry, payment },
        shown: { amount, currency },
        ...(what === "requests" && {
          requests: [{ operation: "createPayout", input: payment }],
        }),
      },
    );
    // The input is read anew before each step: a retry may have amended it.
    const now = await run.input();
    if (what === "booking") return (await bookEntry(run, now.entry)).id;
    return (await createPayout(run, now.payment)).payout_id;
  });
}
