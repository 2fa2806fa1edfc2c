import { beginRun, defineOperation } from "@durable-payments/workflows";
import type { BookedEntry, Entry } from "./ledger-types.ts";

const bookEntry = defineOperation<Entry, BookedEntry>({
  name: "bookEntry",
  repeat: "keyed",
  note: "booking the entry",
  shown: ({ amount }) => ({ amount }),
});

/** Books two entries, and reads its input but once: what is amended would not be booked. */
export function readsOnce(input: { readonly entry: Entry }): Promise<string> {
  const run = beginRun({ input });
  return run.execute(async () => {
    const { entry } = await run.input();
    await bookEntry(run, entry, { step: "first" });
    const { id } = await bookEntry(run, entry, { step: "second" });
    return id;
  });
}
