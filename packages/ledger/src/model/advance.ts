import type { JsonObject, KnownBy, Question, WriteRequest, WriteRow } from "./row.ts";
import type { Decision, Look, NewEntry } from "../store/ledger.ts";

/** How the operation of a write may be sent again, and how its outcome can be found out. */
export interface WritePolicy {
  /** `keyed`: the service ignores a repeat of its key. `idempotent`: twice is as once. `none`: twice is two. */
  readonly repeat: "none" | "keyed" | "idempotent";
  /** A list shows what it made. */
  readonly isListed: boolean;
  /** For one that is neither: whether it is sent again or a person is asked. */
  readonly whenLost: "resend" | "ask";
  /** How long the service remembers a key. */
  readonly keyLifetimeMs: number;
  /** How late a list may show what was made. */
  readonly listLagMs: number;
  /** Longest time that one request may take. */
  readonly requestTimeoutMs: number;
}

/** What Temporal says of the row: that none can exist, or the version that it was left at with nothing sent. */
export type Testimony =
  | { readonly is: "none" }
  | { readonly is: "version"; readonly version: number }
  | undefined;

/** What became of a send. */
export type SendOutcome =
  | { readonly is: "made"; readonly id: string; readonly result: JsonObject }
  /** The service said no: the same request would be refused again. */
  | { readonly is: "refused"; readonly message: string; readonly details: JsonObject }
  /** Certainly not carried out, and time may help. */
  | { readonly is: "later"; readonly message: string; readonly retryAfterMs?: number }
  /** It may have been carried out. */
  | { readonly is: "lost"; readonly message: string }
  /** An answer that names or shows something else than was sent. */
  | { readonly is: "contradiction"; readonly message: string }
  /** The guard said no after the row went to `sending`; no byte left. */
  | { readonly is: "notDispatched"; readonly message: string };

/** What the list, or the service, shows of a send in doubt. */
export type Verdict =
  | { readonly is: "found"; readonly id: string; readonly result: JsonObject; readonly by: KnownBy }
  /** Found under the key of an earlier generation. */
  | { readonly is: "foundEarlier"; readonly id: string; readonly result: JsonObject }
  /** A complete list, read after the lag, shows nothing that may be it. */
  | { readonly is: "absent" }
  /** The list is no evidence now: it does not add up, could not be read, or the lag is not over. */
  | { readonly is: "later"; readonly message: string; readonly isFaulty: boolean; readonly at: number }
  /** Time will not help. */
  | { readonly is: "unclear"; readonly message: string; readonly candidates: ReadonlyArray<JsonObject> };

export type WriteEvent =
  /** An attempt of the activity begins, or goes on. */
  | {
      readonly is: "called";
      readonly operation: string;
      readonly request: WriteRequest;
      readonly runId: string;
      readonly testimony: Testimony;
      /** `close`: the run is being cancelled; nothing new is sent. */
      readonly mode: "send" | "close";
      /** Whether another request under this step is an amendment, not a mistake. */
      readonly mayAmend: boolean;
      /** Why a second person has to approve it, and the mark of the payee's account as read now. */
      readonly approval: { readonly why: string; readonly account: string | null } | undefined;
    }
  /** The client is about to write the first byte. */
  | { readonly is: "dispatching"; readonly token: string; readonly runId: string; readonly build: number }
  | { readonly is: "answered"; readonly token: string; readonly generation: number; readonly outcome: SendOutcome }
  | { readonly is: "evidence"; readonly verdict: Verdict }
  /** A person's id was read at the service: undefined where it fits, else why not. */
  | {
      readonly is: "checked";
      readonly decision: Decision;
      readonly id: string;
      readonly result: JsonObject;
      readonly fault: string | undefined;
    }
  /** The last reading before a resend that a person wants. */
  | { readonly is: "reread"; readonly decision: Decision; readonly verdict: Verdict }
  /** What it made is being removed, or was. */
  | { readonly is: "undone" }
  /** The run was notified of the answer. */
  | { readonly is: "told" };

/** What the attempt does next. */
export type Effect =
  | { readonly is: "send"; readonly isResend: boolean }
  /** Dispatch permitted (answer to `dispatching`). */
  | { readonly is: "go" }
  /** Not permitted (answer to `dispatching`): nothing is sent. */
  | { readonly is: "stop"; readonly why: string }
  /** Read the list. */
  | { readonly is: "reconcile" }
  /** Read at the service what a person named, then `checked`; or read once more, then `reread`. */
  | { readonly is: "check"; readonly decision: Decision }
  /** Time helps: try again at `at`. `isUnsent`: nothing can have been sent, the version may be named. */
  | { readonly is: "wait"; readonly at: number; readonly why: string; readonly isUnsent: boolean }
  /** Only a person helps: return to the workflow. */
  | {
      readonly is: "person";
      readonly needs: "answer" | "approval" | "resume";
      readonly question: Question | null;
      readonly why: string;
    }
  | { readonly is: "return"; readonly id: string; readonly result: JsonObject; readonly knownBy: KnownBy }
  | {
      readonly is: "fail";
      readonly type: "Refused" | "Ended" | "AlreadyCarriedOut" | "Cancelled" | "Rejected" | "MadeTwice";
      readonly message: string;
      readonly details: JsonObject;
    };

/** What an event does to a row. `row` is undefined where nothing changes. */
export interface Advanced {
  readonly row: WriteRow | undefined;
  readonly effect: Effect;
  readonly entries: ReadonlyArray<NewEntry>;
}

/** The only place that decides about a write: pure and total. */
export declare const advance: (look: Look, event: WriteEvent, policy: WritePolicy) => Advanced;
