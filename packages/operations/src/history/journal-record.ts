/** What the journal of sends has of a send that its run left in doubt. */
export type JournalRecord =
  /** The service answered that it was carried out, or it was found since: what it made, by id. */
  | { readonly outcome: "carriedOut"; readonly ids: Readonly<Record<string, string>> }
  /**
   * `notCarriedOut`: certainly. `undone`: carried out, and removed since. `noAnswer`: the journal does not know
   * either. `notRecorded`: this journal has no such send.
   */
  | { readonly outcome: "notCarriedOut" | "undone" | "noAnswer" | "notRecorded" }
  /** The journal was not read here, and why. */
  | { readonly outcome: "notRead"; readonly why: string };
