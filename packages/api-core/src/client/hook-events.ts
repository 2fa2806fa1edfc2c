/** What `onRequest` gets: one send, without any value of its path, query, headers or body. */
export interface RequestEvent {
  /** Name of the operation, as in the contract; `signIn` and `ping` where the client sends them itself. */
  readonly operation: string;
  /** HTTP method. */
  readonly method: string;
  /** Template of the path: `/api/v1/payouts/{payout_id}/retrieve`. */
  readonly path: string;
  /** Number of this send within its call, from 1. */
  readonly attempt: number;
}

/** What `onResponse` gets of the same send. */
export interface ResponseEvent extends RequestEvent {
  /** From `onRequest`, with the wait for a connection, to the last byte of the response. */
  readonly durationMs: number;
  /** HTTP status; absent where no whole response came. A refusal may come with 200. */
  readonly status?: number;
  /** The response's header `x-request-id` or `request-id`, if it has one. */
  readonly requestId?: string;
  /** Why no whole response came: connection refused, given up, not permitted by `BeforeSend`. */
  readonly problem?: string;
}

/** What a hook gets of each send. */
export interface Hooks {
  /**
   * Called before each send, retries and sign-ins included, before the wait for a connection. Not
   * awaited. What it throws is logged once as a warning, and changes nothing.
   */
  readonly onRequest?: (event: RequestEvent) => void;
  /**
   * Called exactly once after each `onRequest`: with a status, or with why no whole response came.
   * Not awaited. What it throws is logged once as a warning, and changes nothing.
   */
  readonly onResponse?: (event: ResponseEvent) => void;
}
