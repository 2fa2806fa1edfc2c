/*
 * The language between an attempt and the ledger: an attempt reports a `WriteEvent`, and performs the `WriteAction` that
 * `advance` returns. So an attempt decides nothing.
 */
import type {
  JsonObject,
  KnownBy,
  Question,
  Root,
  WriteName,
  WriteOwner,
  WriteRequest,
  WriteRow,
} from "./row.ts";
import type { Limits } from "./limits.ts";
import type { Decision, NewEntry } from "../store/ledger.ts";

/** Whether the operation of a write may be sent again, and how its outcome is determined. */
export interface WritePolicy {
  /**
   * `keyed`: the service ignores a repeated key. `idempotent`: a repeat has no further effect. `none`: it takes effect
   * again.
   */
  readonly repeat: "none" | "keyed" | "idempotent";
  /** A list shows its result. */
  readonly isListed: boolean;
  /** If it is neither listed nor safe to repeat: whether it is sent again or a person is asked. */
  readonly whenLost: "resend" | "ask";
  /** How long the service remembers a key. */
  readonly keyLifetimeMs: number;
  /** Longest delay of a result in the list. */
  readonly listLagMs: number;
  /** Longest time that one request may take. */
  readonly requestTimeoutMs: number;
}

/** The outcome of a send. */
export type SendOutcome =
  | {
      readonly is: "made";
      readonly id: string;
      readonly result: JsonObject;
      /** The ledger already had the result, and nothing was sent. */
      readonly by?: "ledger";
    }
  /** The service refused: the same request would be refused again. */
  | { readonly is: "refused"; readonly message: string; readonly details: JsonObject }
  /** Certainly without effect, and a later attempt may succeed. */
  | { readonly is: "later"; readonly message: string; readonly retryAfterMs?: number }
  /** It may have taken effect. */
  | { readonly is: "lost"; readonly message: string }
  /** A response that contradicts the request. */
  | { readonly is: "contradiction"; readonly message: string }
  /** The last check forbade the send, and no byte left. */
  | { readonly is: "notDispatched"; readonly message: string };

/** The evidence of the list, or of the service, about a send with an unknown outcome. */
export type Verdict =
  | {
      readonly is: "found";
      readonly id: string;
      readonly result: JsonObject;
      readonly by: KnownBy;
    }
  /** A complete list has no possible match. Whether it was read late enough is decided here. */
  | {
      readonly is: "absent";
      /** Listed rows without a key and a known owner: each may be another request of this step. */
      readonly others?: ReadonlyArray<JsonObject>;
    }
  /** The list is not usable as evidence now: it does not add up (`isFaulty`), or could not be read. */
  | {
      readonly is: "later";
      readonly message: string;
      readonly isFaulty: boolean;
      readonly at: number;
    }
  /** Time will not help: it may be one of several, or was made by another request of this step. */
  | {
      readonly is: "unclear";
      readonly message: string;
      readonly candidates: ReadonlyArray<JsonObject>;
    };

/** Temporal's word about a row: none can exist, or the version at which it was left with nothing sent. */
export type Testimony =
  | { readonly is: "none" }
  | { readonly is: "version"; readonly version: number }
  | undefined;

/** An attempt of an activity, and its request. */
export interface Call extends WriteOwner {
  readonly name: WriteName;
  readonly operation: string;
  readonly request: WriteRequest;
  readonly runId: string;
  /** The root as Temporal itself says it, read if an approval is needed. The claim `rootId` can only forbid. */
  readonly root?: Root | undefined;
  readonly testimony: Testimony;
  /** `close`: its run is being cancelled, nothing new is sent. `settle`: its run has ended, nothing at all is sent. */
  readonly mode: "send" | "close" | "settle";
  /** Whether another request under this step is an amendment, not a mistake. */
  readonly mayAmend: boolean;
  /** Limit of the step itself, in the request's currency: above it a second person has to approve. */
  readonly approveAbove?: string | undefined;
  /** Limits of the worker itself: they only tighten those of the account. */
  readonly limits?: Limits | undefined;
  /** The payee's account, as read for an approval: a mark of it, and how it is described. */
  readonly payee?: { readonly mark: string; readonly shown: string } | undefined;
  /** Sequence of the decision to send again for which one more reading has shown nothing. */
  readonly reread?: number | undefined;
}

/** An event of a write. `version` is the version of the row that the evidence is about. */
export type WriteHappening =
  | { readonly is: "called"; readonly call: Call }
  /** The client is about to write the first byte. The token is `epoch:random`, new with each call of the client. */
  | {
      readonly is: "dispatching";
      readonly token: string;
      readonly call: Call;
      /** How the log names it, if nothing is sent: the ledger has the same already. */
      readonly what?: string;
    }
  /** `dispatching` took long, or its call sends once more: its permission is checked again, and nothing changes. */
  | { readonly is: "leaving"; readonly token: string; readonly call: Call }
  | {
      readonly is: "answered";
      readonly token: string;
      readonly generation: number;
      readonly outcome: SendOutcome;
      readonly call: Call;
    }
  /** `readFrom`: the ledger's clock before the reading began. */
  | {
      readonly is: "evidence";
      readonly version: number;
      readonly readFrom: number;
      readonly verdict: Verdict;
    }
  /** The id that a person gave was read at the service: `fault` says why it does not match, or is undefined. */
  | {
      readonly is: "checked";
      readonly version: number;
      readonly decision: Decision;
      readonly id: string;
      readonly result: JsonObject;
      readonly fault: string | undefined;
    }
  /** The last reading before a resend that a person wants. */
  | {
      readonly is: "reread";
      readonly version: number;
      readonly decision: Decision;
      readonly verdict: Verdict;
    }
  /** Its result was removed. */
  | { readonly is: "undone" };

/** An event of a write, and the worker or tool that reports it. */
export type WriteEvent = { readonly who: string } & WriteHappening;

/** The reason why a step fails. */
export type FailureKind =
  | "Refused"
  | "Ended"
  | "AlreadyCarriedOut"
  | "Cancelled"
  | "Rejected"
  | "MadeTwice";

/** The next action of the attempt. */
export type WriteAction =
  /** Call the client, whose hook brings `dispatching`; the key follows from the name and `generation`. */
  | { readonly is: "send"; readonly generation: number; readonly isResend: boolean }
  /** Dispatch permitted (answer to `dispatching` and `leaving`). */
  | { readonly is: "go" }
  /** Not permitted (answer to `dispatching` and `leaving`): nothing is sent. */
  | { readonly is: "stop"; readonly why: string }
  /** Read the list, for `row` as it is now; then `evidence`. */
  | { readonly is: "reconcile" }
  /** `found`: read the id that a person gave, then `checked`. Else read the list once more, then `reread`. */
  | { readonly is: "check"; readonly decision: Decision }
  /** `called` again at once: its testimony is the version that this change left if `isKnown`, else undefined. */
  | { readonly is: "again"; readonly isKnown: boolean; readonly reread?: number }
  /** Time helps: try again at `at`. `isUnsent`: nothing can have been sent, the version may be named. */
  | {
      readonly is: "wait";
      readonly at: number;
      readonly why: string;
      readonly isUnsent: boolean;
    }
  /** Only a person helps: return to the workflow, with the row's version. */
  | {
      readonly is: "person";
      readonly needs: "answer" | "approval" | "resume";
      readonly question: Question | null;
      readonly why: string;
    }
  | {
      readonly is: "return";
      readonly id: string;
      readonly result: JsonObject;
      readonly knownBy: KnownBy;
    }
  | {
      readonly is: "fail";
      readonly type: FailureKind;
      readonly message: string;
      readonly details: JsonObject;
    };

/** The change that an event makes to a row, and the next action. `row` is undefined if nothing changes. */
export interface Advanced {
  readonly row: WriteRow | undefined;
  readonly action: WriteAction;
  readonly entries: ReadonlyArray<NewEntry>;
}
