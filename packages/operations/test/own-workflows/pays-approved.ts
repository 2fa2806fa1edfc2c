import {
  awaitApproval,
  beginRun,
  createPayout,
  defineOperation,
  payout,
  type PayoutInput,
  runChild,
} from "@durable-payments/workflows";
import type { BookedEntry, Entry, PayAndBook } from "./ledger-types.ts";

const bookEntry = defineOperation<Entry, BookedEntry>({
  name: "bookEntry",
  repeat: "keyed",
  note: "booking the entry",
  shown: ({ amount }) => ({ amount }),
});

/** What a second person approves, and what sends it: the run by itself, request by request, two of one, or a child. */
export interface PaysApproved extends Pick<PayAndBook, "entry" | "payment"> {
  readonly what: "booking" | "child" | "payment" | "requests" | "twoBookings";
}

/** Pays or books once a second person has approved it. */
export function paysApproved(input: PaysApproved): Promise<string> {
  const run = beginRun({ input });
  return run.execute(async () => {
    const { entry, payment, what } = await run.input();
    const isBooked = what === "booking" || what === "twoBookings";
    const { amount, currency } = isBooked ? entry : payment;
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
        ...(what === "twoBookings" && {
          requests: [{ operation: "send/bookEntry", input: entry }],
        }),
      },
    );
    // The input is read anew before each step: a retry may have amended it.
    const now = await run.input();
    if (isBooked) {
      const { id } = await bookEntry(run, now.entry);
      if (what === "booking") return id;
      return (await bookEntry(run, now.entry, { step: "bookAgain" })).id;
    }
    if (what === "child") {
      const { beneficiary_id, ...rest } = now.payment;
      const args: [PayoutInput] = [{ beneficiary_id, payout: rest }];
      return (await runChild(run, payout, { step: "part", args })).payout_id;
    }
    return (await createPayout(run, now.payment)).payout_id;
  });
}
