/** Names one write: the step of a workflow id that makes it, the same in all runs of that id. */
export interface WriteName {
  readonly workflowId: string;
  readonly step: string;
}

/** What is known of a send. */
export type SendOutcome =
  /** Written before the send; nothing is known of what became of it. */
  | "begun"
  /** The service answered that it was carried out. */
  | "carriedOut"
  /** Certainly not carried out: refused, or nothing left this process. */
  | "notCarriedOut"
  /** Sent, and no valid answer came. */
  | "unknown"
  /** It was carried out, and what it made was removed since: nothing of it stands. */
  | "undone";

/** Something that a send of a workflow id made. */
export interface MadeBySend extends Pick<WriteName, "workflowId"> {
  /** The operation that made it. */
  readonly operation: string;
  readonly id: string;
}

/** What a send made whose answer was lost, as a list showed it or a person found it. */
export interface FoundSend extends WriteName {
  readonly operation: string;
  /** payout_id, card_id, … */
  readonly ids: Readonly<Record<string, string>>;
}

/** A send that is about to be made. It holds no secret and no account number. */
export interface Send extends WriteName {
  /** 1 for the first send of the write, one more for each further one, in all runs of the workflow id. */
  readonly number: number;
  /**
   * Highest number of the sends that the run knows to have been made, and to have made
   * nothing; default: all before this one. It is not kept.
   */
  readonly knownTo?: number;
  /** Name of the operation, as in the contract. */
  readonly operation: string;
  readonly runId: string;
  /** The `unique_request_id` that it carries, where it carries one. */
  readonly key?: string;
  /** Hash of the whole request. */
  readonly payloadHash: string;
  /** Decimal string, where it moves money. */
  readonly amount?: string;
  readonly currency?: string;
  /** Whom it pays: a `beneficiary_id`; of a beneficiary that is created, a mark of its account. */
  readonly payee?: string;
  /** Whether what earlier sends of this write made has been undone since, so that it may be made anew. */
  readonly isUndone?: boolean;
}

/** A send as the journal has it. Times are milliseconds since 1970. */
export interface RecordedSend extends Send {
  readonly begunAt: number;
  readonly outcome: SendOutcome;
  readonly outcomeAt?: number;
  /** Ids that the answer gave: payout_id, card_id, … */
  readonly ids: Readonly<Record<string, string>>;
}

/** A send that may be made, as long as no later send of the same write has begun. */
export interface BegunSend {
  /**
   * Whether no later send of the write has begun since, and none before it turned out to have been
   * carried out. Ask before each dispatch.
   */
  readonly isLatest: () => Promise<boolean>;
  /**
   * Writes what became of it; not that it made what another write made, as the journal has it: such an answer
   * proves nothing. Only of a beneficiary with the same account a service may give two writes the same one.
   *
   * @returns the other write; undefined where there is none.
   */
  readonly recordOutcome: (
    outcome: Exclude<SendOutcome, "begun" | "undone">,
    ids?: Readonly<Record<string, string>>,
  ) => Promise<WriteName | undefined>;
}

/** Result of {@link Journal.begin}. */
export type Begun =
  | { readonly _tag: "Begun"; readonly send: BegunSend }
  /**
   * Nothing may be sent: this send, or a later one, was written before by another attempt, or an
   * earlier one was carried out and not undone. `latest` is the latest send that was carried out,
   * or else the latest of all.
   */
  | { readonly _tag: "AlreadySent"; readonly latest: RecordedSend };

/** How often answers of an operation showed our key, another one in its place, or none. */
export interface KeyEcho {
  readonly same: number;
  readonly other: number;
  readonly none: number;
}

/** Something that was made, known by the service's own answer. */
export interface Made {
  readonly id: string;
  /** Milliseconds since 1970, by our clock. */
  readonly answeredAt: number;
}

/** The lists whose lag is measured. */
export type ListName = "listPayouts" | "listCardholders";

/**
 * What one account has sent, kept outside Temporal. Every method rejects with
 * {@link JournalUnavailable} where the journal cannot be reached; then nothing is to be sent.
 */
export interface Journal {
  /** Writes durably that a send begins, unless it was written before. */
  readonly begin: (send: Send) => Promise<Begun>;
  /**
   * Writes that the latest send of unknown outcome was carried out, and what it made; nothing where
   * another write made that, as the journal has it. Of two that find the same one is first.
   *
   * @returns the other write; undefined where there is none.
   */
  readonly noteFound: (found: FoundSend) => Promise<WriteName | undefined>;
  /** Writes that what a send made was removed since. */
  readonly noteUndone: (made: MadeBySend) => Promise<void>;
  /** The sends of a write, or of all writes of a workflow id, oldest first. */
  readonly find: (
    name: Pick<WriteName, "workflowId"> & Partial<WriteName>,
  ) => Promise<ReadonlyArray<RecordedSend>>;
  /** All sends that began since, oldest first. `since`: milliseconds since 1970. */
  readonly since: (since: number) => AsyncIterable<RecordedSend>;
  /** What an operation made since, by the service's own answers, or as it was found. */
  readonly madeSince: (operation: string, since: number) => Promise<ReadonlyArray<Made>>;
  /** The sends to a payee that began since, oldest first. `since`: milliseconds since 1970. */
  readonly sendsTo: (payee: string, since: number) => Promise<ReadonlyArray<RecordedSend>>;
  /**
   * Which of these payees, as {@link Send.payee} names them, a payout was created for: to a beneficiary, or to
   * any beneficiary that was created with an account of that mark.
   */
  readonly paidAmong: (payees: ReadonlyArray<string>) => Promise<ReadonlySet<string>>;
  /** Whether it is lost with the process: then it knows nothing of what was sent before. */
  readonly isOfProcess: boolean;
  readonly noteKeyEcho: (operation: string, echo: keyof KeyEcho) => Promise<void>;
  readonly keyEcho: (operation: string) => Promise<KeyEcho>;
  /** Keeps the longest lag of a list that was ever seen, in milliseconds. */
  readonly noteListLag: (list: ListName, lagMs: number) => Promise<void>;
  /** The longest lag of a list that was ever seen, in milliseconds; 0 where none was. */
  readonly listLag: (list: ListName) => Promise<number>;
  readonly close: () => Promise<void>;
}
