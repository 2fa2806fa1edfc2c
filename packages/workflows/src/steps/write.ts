import type { JournalSend, Matches, SendIntent } from "@durable-payments/activities";
import type { OperationName } from "@durable-payments/api-core";
import type { HumanTask, OwnSend } from "@durable-payments/protocol";

/** By what a list is searched: what a step may have sent, under any of its keys. */
export interface ListSearch<A> {
  readonly step: string;
  /** From when on it may have been sent: milliseconds since 1970. */
  readonly since: number;
  readonly keys: ReadonlyArray<string>;
  /** The mark of what it makes, by which other runs are found that make the same. */
  readonly intentMark: string;
  /** What earlier reads showed that may be what was sent. */
  readonly seen: ReadonlyArray<A>;
}

/** How a write without an answer is reconciled with a list of the service. */
export interface Reconciler<Request extends object, A> {
  /** Reads the list, once. */
  readonly find: (request: Request, search: ListSearch<A>) => Promise<Matches<A>>;
  /** What a person is shown of something found. */
  readonly shown: (found: A) => HumanTask["candidates"][number];
  /**
   * The request of an earlier send that carried another one, as far as the journal has it; left out
   * where the journal keeps nothing of it by which a list could be searched.
   */
  readonly asSent?: (request: Request, sent: JournalSend) => Request;
}

/** A write, and how to find out what became of it. */
export interface Write<Request extends object, A> {
  /** The step it belongs to; its key is derived from it. */
  readonly step: string;
  /** Of the payment service, or of your own: see `defineOperation`. */
  readonly operation: OperationName | OwnSend;
  /** What is sent. */
  readonly request: Request;
  /** What it makes, without the key: equal for two writes that a list could show alike. */
  readonly intent: (request: Request) => string;
  /** Whether the request carries the step's key as `unique_request_id`. */
  readonly isKeyed: boolean;
  /** One send: one activity of the operation, with the step and the number of the send. */
  readonly send: (request: Request, intent: SendIntent) => Promise<A>;
  /** Left out where no list shows it. */
  readonly reconciler?: Reconciler<Request, A>;
  /** What follows on a lost answer. `resend` is for what may be sent again as it is. */
  readonly whenLost: "reconcile" | "resend" | "ask";
  /**
   * How long the service knows a key again, in milliseconds: later it is not sent again as it is, but a person is
   * asked. Default: for ever.
   */
  readonly keyLifetimeMs?: number;
  /** What a person is shown of the request. */
  readonly shown: (request: Request) => Readonly<Record<string, unknown>>;
  /** The ids that a person who found it gives, and how they become the result. */
  readonly idsWanted: ReadonlyArray<string>;
  /** Reads, by the ids that a person gives, what was made. */
  readonly fromIds: (
    ids: Readonly<Record<string, string>>,
    request: Request,
    /** What the person was asked about. */
    candidates?: HumanTask["candidates"],
    /** Who gave the ids, where a person did: the service has not confirmed them. */
    givenBy?: string,
  ) => Promise<A>;
  /** The ids of what it made, by the service's name of their field: what the step owns from then on. */
  readonly ids: (result: A) => Readonly<Record<string, string>>;
}
