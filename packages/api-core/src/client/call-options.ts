/** What one call may be told beside its input. */
export interface CallOptions {
  /**
   * Ends a call, or a stream, that is under way, in a wait between sends too: it rejects with the
   * signal's reason, which does not say whether a write was carried out.
   */
  readonly signal?: AbortSignal;
  /**
   * Whether an earlier call may have sent the same request with the same `unique_request_id`: then
   * a refusal that speaks of a known key leaves the outcome unknown. Default false.
   */
  readonly isResend?: boolean;
}
