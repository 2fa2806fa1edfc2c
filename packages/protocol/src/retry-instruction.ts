/** What a step had made, and a person has another made in its place. */
export interface Replacement {
  readonly step: string;
  /** Its id at the service. */
  readonly id: string;
  /** What becomes of it: it is removed before the other is made, or stands beside it. */
  readonly what: "remove" | "keep";
}

/** What became of what a step sent in the runs before this one. */
export type SentBefore = {
  /**
   * Ids of what it made and what does not count any more: it was undone, or is replaced. Left out where there
   * are none, and by instructions of before.
   */
  readonly gone?: ReadonlyArray<string>;
} &
  /** It was carried out, and stands; `key` is the `unique_request_id` that it was sent with last. */
  (
    | {
        readonly outcome: "known";
        readonly ids: Readonly<Record<string, string>>;
        readonly key?: string;
        /** Who gave the ids, where neither an answer nor a list of the service has shown them. */
        readonly givenBy?: string;
      }
    /**
     * Nothing of it stands: it was never sent, was refused, or was undone. `isUndone` where it was
     * carried out and undone since, so that a second one is wanted.
     */
    | { readonly outcome: "nothing"; readonly amendments: number; readonly isUndone?: true }
    /** Nobody knows; `amendments` as of the last send, so that the key is the same. */
    | { readonly outcome: "unknown"; readonly amendments: number }
  );

/** A person's decision that ended a run of a workflow id, and who overruled it, if anybody did. */
export interface EndingDecision {
  /** What was decided. */
  readonly what: "abandoned" | "rejected";
  /** Who decided. */
  readonly by: string;
  /** The reason that was given. */
  readonly why: string;
  /** When: ISO 8601. */
  readonly at: string;
  /** The run that it ended. */
  readonly runId: string;
  readonly overruled?: { readonly by: string; readonly why: string; readonly at: string };
}

/** What a run that was reset is to know before it goes on. */
export interface RetryInstruction {
  /** Who has it retried. */
  readonly by: string;
  readonly reason: string;
  /** The step from which it goes on. */
  readonly from: string;
  /** The whole input with all amendments so far; absent where there were none. */
  readonly input?: unknown;
  /** The fields that this retry amends, such as `card.card_limit`. */
  readonly fields: ReadonlyArray<string>;
  /**
   * By step, why no field that it uses can be amended any more: it is done, say. Only where the input was amended of a
   * workflow whose fields whoever has it retried does not know: its worker does, and refuses what comes too late.
   */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Who has amended the input, in this retry or an earlier one. */
  readonly amendedBy: ReadonlyArray<string>;
  /** By step; a step that is not named has never sent. */
  readonly sent: Readonly<Record<string, SentBefore>>;
  /** What is replaced by what the run makes now; left out where nothing is. */
  readonly replaced?: ReadonlyArray<Replacement>;
  /** The account that the runs before were pinned to; absent where they had not learned it. */
  readonly account?: string;
  /** Decisions of people that ended runs of this id, each overruled by now; oldest first. */
  readonly decisions?: ReadonlyArray<EndingDecision>;
}

/** Workflow type of an instruction: nobody runs it, so that it takes no worker to leave one. */
export const RETRY_INSTRUCTION_TYPE = "retryInstruction";

/** Name the task queue of instructions: no worker polls it. */
export const retryInstructionQueue = (taskQueue: string): string =>
  `${taskQueue}/retry-instructions`;

const INSTRUCTION = / \[(retry\/[^[\]]+)\]$/;

/** Word the reason of a reset, by which the run that it makes finds its instruction. */
export const resetReason = (reason: string, instructionId: string): string =>
  `${reason} [${instructionId}]`;

/** Read the reason of a reset as it was given, without the instruction that it names. */
export const givenReason = (reason: string): string => reason.replace(INSTRUCTION, "");

/** Read the workflow id of the instruction that the reason of a reset names, if it names one. */
export const instructionIdOf = (reason: string): string | undefined =>
  INSTRUCTION.exec(reason)?.[1];

/** Give the workflow id of a new instruction; `nonce` distinguishes those for one run. */
export const instructionIdFor = (runId: string, nonce: string): string => `retry/${runId}/${nonce}`;
