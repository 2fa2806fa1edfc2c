import type { Fault } from "@durable-payments/client/effect";
import type { Choice } from "./rules/consequences.ts";

type Looking = "doctor" | "events" | "inbox" | "list" | "show" | "testWebhook";
type Deciding =
  | "word"
  | "answer"
  | "approve"
  | "cancel"
  | "reject"
  | "resume"
  | "retry"
  | "retryAll";
/** `pay` and `onboard`: in spite of a likely duplicate. */
type Starting = "onboard" | "pay" | "recover" | "startServer" | "startWorker";

/** The next action after an error or a result, as data: a tool turns it into its own command. */
export interface NextAction {
  readonly action: Looking | Deciding | Starting;
  /** The run, the batch, or the limits. */
  readonly workflowId?: string;
  /** Approves what was shown: its hash says what that was. */
  readonly hash?: string;
  /** Answers the question that was shown, and no other. */
  readonly question?: string;
  readonly choice?: Choice;
  /** Retries only the run that was shown. */
  readonly ifRun?: string;
  /** Retries the failed rows of a batch only. */
  readonly batch?: string | undefined;
  /** Retries the failed runs of a repair only. */
  readonly repair?: string | undefined;
  /** Retries this group of failed runs only. */
  readonly group?: string;
  readonly status?: string;
  /** Hash of the account whose service says a word. */
  readonly account?: string | undefined;
  /** Reads the events after this one. */
  readonly after?: string | undefined;
  /** Starts it under the same id again. */
  readonly id?: string;
  /** An option that it needs as well: the reason why a likely duplicate is another payment. */
  readonly needs?: "notDuplicate";
  /** Pays again what was not paid: the key of a payout that was made never pays twice. */
  readonly isNewKey?: boolean;
  /** The same of rows of a file: each row of another file has a new key. */
  readonly isNewFile?: boolean;
  readonly isLate?: boolean;
  readonly isLog?: boolean;
  readonly isFollowed?: boolean;
  readonly isDryRun?: boolean;
  /** A person ended it: the retry must override that, by name and with a reason. */
  readonly isOverruling?: boolean;
  /** Continues from this step, not the failed one. */
  readonly from?: string | undefined;
  /** Retries it with another input. */
  readonly isAmended?: boolean;
  /** Retries it from the beginning, instead of a reset. */
  readonly isRestarted?: boolean;
}

interface Reported {
  /** The event, its effect on the money and the next action: for a person. */
  readonly message: string;
  readonly next?: NextAction | undefined;
}

/** A request that was rejected on purpose; any other error is a fault of the code. */
export class ControlError extends Error {
  /** The action that helps, as data. */
  readonly next: NextAction | undefined;

  constructor({ message, next }: Reported) {
    super(message);
    this.next = next;
  }
}

/** The input is invalid; nothing was done. */
export class InvalidInput extends ControlError {
  override readonly name = "InvalidInput";
  /** Each fault, if there are several. */
  readonly faults: ReadonlyArray<Fault> | undefined;

  constructor({
    faults,
    ...reported
  }: Reported & { readonly faults?: ReadonlyArray<Fault> | undefined }) {
    super(reported);
    this.faults = faults;
  }
}

/** The run, the file or the account does not exist. */
export class NotFound extends ControlError {
  override readonly name = "NotFound";
}

/** It cannot be done in this state, or might do something twice; nothing was done. */
export class NotAllowed extends ControlError {
  override readonly name = "NotAllowed";
}

/** A person ended the run, and nobody has overridden that; nothing was done. */
export class EndedByPerson extends ControlError {
  override readonly name = "EndedByPerson";
}

/** Temporal, the ledger, or a worker cannot be reached or does not take the request. */
export class ConnectionFailed extends ControlError {
  override readonly name = "ConnectionFailed";
  readonly reason:
    | "cannotConnect"
    | "namespaceNotFound"
    | "temporalError"
    | "ledgerUnavailable"
    | "noWorker";
  /** `unknown` if an answer is missing: what was requested may have been done. To request it again is safe. */
  readonly carriedOut: "no" | "unknown";

  constructor({
    carriedOut,
    reason,
    ...reported
  }: Reported & Pick<ConnectionFailed, "carriedOut" | "reason">) {
    super(reported);
    this.reason = reason;
    this.carriedOut = carriedOut;
  }
}

/** Makes the error for invalid input, with each fault. */
export const invalidInput = (message: string, faults?: ReadonlyArray<Fault>): InvalidInput =>
  new InvalidInput({ message, faults });

/** Makes the error for fields that are invalid, whose message names each fault, too. */
export const invalidFields = (
  what: string,
  faults: ReadonlyArray<Fault>,
  nothing: string,
): InvalidInput => {
  const said = faults.map(({ field, problem }) => (field === "" ? problem : `${field} ${problem}`));
  return invalidInput(`${what}: ${said.join("; ")}. ${nothing}`, faults);
};

/** Makes the error for a missing object. */
export const notFound = (message: string, next?: NextAction): NotFound =>
  new NotFound({ message, next });

/** Makes the error for a failed connection. */
export const connectionFailed = (
  reason: ConnectionFailed["reason"],
  message: string,
  next?: NextAction,
  carriedOut: ConnectionFailed["carriedOut"] = "no",
): ConnectionFailed => new ConnectionFailed({ reason, message, next, carriedOut });

/** Makes the error for a request that the present state forbids; an id names the run or batch to look at. */
export const refused = (message: string, see?: NextAction | string): NotAllowed => {
  const next = typeof see === "string" ? ({ action: "show", workflowId: see } as const) : see;
  return new NotAllowed({ message, next });
};
