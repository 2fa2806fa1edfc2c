import { JournalUnavailable } from "./journal.ts";

/** Says that a journal was written by a later version of this software, which alone can read it. */
export const newerVersion = (journal: string, version: number, known: number): JournalUnavailable =>
  new JournalUnavailable(
    `${journal} is of version ${version}, and this version of durable-payments knows ${known} at most: run the later version that wrote it`,
  );
