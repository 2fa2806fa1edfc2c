/** The journal cannot be read or written. Nothing was sent. */
export class JournalUnavailable extends Error {
  override readonly name = "JournalUnavailable";
}

/** Make the error of a journal that a later version of this software wrote, which alone can read it. */
export const newerVersion = (journal: string, version: number, known: number): JournalUnavailable =>
  new JournalUnavailable(
    `${journal} is of version ${version}, and this version of durable-payments knows ${known} at most: run the later version that wrote it`,
  );

/** Read the message of an error of any kind, as api-core does: the journal depends on no other package. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
