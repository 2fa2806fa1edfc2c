import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Redacted from "effect/Redacted";
import * as RateLimiter from "effect/persistence/RateLimiter";
import type { Token } from "../contract/auth.ts";
import { API_KEY_HEADER, CLIENT_ID_HEADER } from "../contract/signed-in.ts";
import { countAttempt, type Outcome } from "./attempt-metric.ts";
import type { ClientOptions } from "./config.ts";
import { currentApiKey } from "./current-credentials.ts";
import { NotAuthenticated, RateLimited, Unavailable } from "./errors.ts";
import { type Operation, operation } from "./operations.ts";
import type { Failed } from "./outcomes.ts";
import { parseNoResponse, parseResponse, type TokenRejected } from "./parse-response.ts";
import type { Say } from "./say.ts";
import type { Send } from "./wire.ts";
import { type SignInError, SignInLease } from "./client-references.ts";

/** The one session of a client. */
export interface Session {
  /**
   * The token in use; signs in when there is none or it is about to expire. One pendingRefresh for all. With another API
   * key than that of the last sign-in it signs in beside the requests, which go on with the token until then.
   */
  readonly token: Effect.Effect<Redacted.Redacted, SignInError>;
  /** Drops a token that the service did not accept; the next use of `token` signs in again. */
  readonly reject: (token: Redacted.Redacted) => Effect.Effect<void>;
  /** Whether it is still the token in use: nobody has rejected it. */
  readonly isInUse: (token: Redacted.Redacted) => boolean;
  /** Whether signing in again fails the same way until a person has done something. */
  readonly isLasting: (error: SignInError) => boolean;
}

/**
 * Tokens in the bucket of sign-ins. A full bucket emptied at once and then refilled for a minute
 * makes at most twice as many in any 60 seconds: less than the service's 50.
 */
const SIGN_INS_A_MINUTE = 24;

/** A token is renewed before it expires: this much earlier, but at most a tenth of its life. */
const RENEW_BEFORE_MS = 30_000;

const untilRenewal = (life: number): number => life - Math.min(RENEW_BEFORE_MS, life / 10);

const signInOperation = operation("signIn");

interface Current {
  readonly token: Redacted.Redacted;
  readonly renewAt: number;
}

/** What a person is to check where HTTP 403 without an envelope leaves it open who refused. */
const REFUSED_OR_FILTERED =
  "Either PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY were refused, or a filter or gateway on the way " +
  "to the service turned the request away: check both.";

const about = { operation: "signIn", carriedOut: "no" } as const;

const toSignInError = (failure: Failed | TokenRejected, status?: number): SignInError => {
  const error = failure._tag === "Failed" ? failure.error : undefined;
  const why = failure._tag === "Failed" ? failure.error.message : failure.reason;
  if (error?._tag === "RateLimited") return error;
  const isRefused =
    status === 401 ||
    status === 403 ||
    failure._tag === "TokenRejected" ||
    error?._tag === "Refused";
  if (!isRefused) return new Unavailable({ ...about, message: `Signing in failed (${why}).` });
  const isOpen = status === 403 && error?._tag !== "Refused";
  const check = isOpen ? REFUSED_OR_FILTERED : "Check PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY.";
  return new NotAuthenticated({ ...about, message: `Signing in failed (${why}). ${check}` });
};

/** The failed sign-in as the failure of the call that needed it. */
export const notSent = (called: Operation, error: SignInError): SignInError => {
  const { message } = error;
  const said = {
    operation: called.name,
    carriedOut: "no",
    message: `${called.name} was not sent. ${message}`,
  } as const;
  switch (error._tag) {
    case "NotAuthenticated":
      return new NotAuthenticated(said);
    case "RateLimited":
      return new RateLimited({ ...said, retryAfter: error.retryAfter });
    case "Unavailable":
      return new Unavailable(said);
  }
};

/** A session that signs in on first need, never while the client is built. */
export const makeSession = (
  options: ClientOptions,
  send: Send,
  say: Say,
): Effect.Effect<Session, never, RateLimiter.RateLimiter> =>
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.RateLimiter;
    const lease = yield* SignInLease;
    let current: Current | undefined;
    let pendingRefresh: Deferred.Deferred<Current, SignInError> | undefined;
    /** Of the current token. */
    let lastUsedAt = 0;
    /** Why the last sign-in failed. */
    let lastFault: string | undefined;
    /** What a person has to remedy. */
    const lasting = new WeakSet<SignInError>();
    const idleMs = untilRenewal(options.assumptions.tokenIdleSeconds * 1000);

    const takeFromBudget = limiter
      .consume({
        key: "signIn",
        algorithm: "token-bucket",
        onExceeded: "fail",
        limit: SIGN_INS_A_MINUTE,
        window: "1 minute",
      })
      .pipe(
        Effect.mapError(
          () =>
            new RateLimited({
              ...about,
              message: `No sign-in was sent: ${SIGN_INS_A_MINUTE} in a minute is the budget.${lastFault === undefined ? " Check the API key and why tokens are rejected." : ""}`,
              retryAfter: 60_000 / SIGN_INS_A_MINUTE,
            }),
        ),
      );

    /** A budget that is used up is what came of it; why the last sign-in failed is the cause. */
    const withCause = (error: SignInError): SignInError =>
      error._tag === "RateLimited" && lastFault !== undefined
        ? new RateLimited({
            ...about,
            message: `${lastFault} ${error.message}`,
            retryAfter: error.retryAfter,
          })
        : error;

    /** When the last sign-in was sent; undefined where it was not. */
    let sentAt: number | undefined;

    /** With which it was signed in last, or tried to. */
    let lastKey: Redacted.Redacted | undefined;

    const count = (outcome: Outcome): void =>
      countAttempt("signIn", outcome, sentAt === undefined ? 0 : performance.now() - sentAt);

    const signIn = Effect.fn("signIn")(function* () {
      sentAt = undefined;
      yield* Effect.mapError(Effect.andThen(takeFromBudget, lease), withCause);
      const apiKey = currentApiKey(options);
      lastKey = apiKey;
      sentAt = performance.now();
      const answer = yield* send({
        operation: signInOperation,
        attempt: 1,
        method: signInOperation.method,
        path: signInOperation.path,
        headers: {
          [CLIENT_ID_HEADER]: options.clientId,
          [API_KEY_HEADER]: Redacted.value(apiKey),
        },
        body: undefined,
        dedicatedConnection: false,
      }).pipe(
        Effect.mapError((noResponse) => {
          const failure = parseNoResponse(signInOperation, noResponse);
          const error = toSignInError(failure);
          if (noResponse.remedy !== undefined) lasting.add(error);
          return error;
        }),
      );
      const now = yield* Clock.currentTimeMillis;
      const reading = parseResponse(
        {
          operation: signInOperation,
          assumptions: options.assumptions,
          hidden: [Redacted.value(apiKey)],
          isResend: false,
        },
        answer,
        now,
      );
      if (reading._tag !== "Success") {
        return yield* toSignInError(reading, answer.status);
      }
      // signIn's answer decodes to the contract's Token.
      const token = reading.value as typeof Token.Type;
      const assumedLife = options.assumptions.tokenLifetimeSeconds * 1000;
      const stated = token.expires_at === undefined ? assumedLife : token.expires_at - now;
      // An expiry in the past is a sign of differing clocks, not of a token that is useless at once.
      const life = stated > 0 ? stated : assumedLife;
      const next: Current = {
        token: Redacted.make(token.auth_token),
        renewAt: now + untilRenewal(life),
      };
      return next;
    });

    const refresh = (pending: Deferred.Deferred<Current, SignInError>) =>
      signIn().pipe(
        Effect.tapError(({ _tag, message }) =>
          Effect.sync(() => {
            count(_tag);
            // A failure of the budget itself adds no reason.
            if (_tag !== "RateLimited") lastFault = message;
          }),
        ),
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            pendingRefresh = undefined;
            if (Exit.isSuccess(exit)) {
              count("Success");
              current = exit.value;
              lastFault = undefined;
            }
            return Deferred.done(pending, exit);
          }),
        ),
        // Detached, so that one caller's interruption does not end the others' sign-in.
        Effect.forkDetach,
      );

    /** The token, where it can still be used at this time. */
    const usable = (now: number): Redacted.Redacted | undefined => {
      if (now - lastUsedAt >= idleMs) current = undefined;
      lastUsedAt = now;
      return current !== undefined && now < current.renewAt ? current.token : undefined;
    };

    const renewed = Effect.uninterruptibleMask((restore) => {
      const isUnderWay = pendingRefresh !== undefined;
      const pending = (pendingRefresh ??= Deferred.makeUnsafe<Current, SignInError>());
      return Effect.andThen(
        isUnderWay ? Effect.void : refresh(pending),
        Effect.map(restore(Deferred.await(pending)), (signedIn) => signedIn.token),
      );
    });

    /** Once for each key: where the service refuses it, the token is as good as before. */
    const signInWithNewKey = Effect.suspend(() => {
      lastKey = currentApiKey(options);
      pendingRefresh = Deferred.makeUnsafe<Current, SignInError>();
      const pending = pendingRefresh;
      return Effect.andThen(
        refresh(pending),
        Effect.forkDetach(
          Deferred.await(pending).pipe(
            Effect.catch(({ message }) =>
              say.warn(
                `The API key has changed. ${message} Requests go on with the token of the one before until it ends.`,
              ),
            ),
          ),
        ),
      );
    });

    const token: Session["token"] = Effect.clockWith((clock) => {
      const inUse = usable(clock.currentTimeMillisUnsafe());
      if (inUse === undefined) return renewed;
      return pendingRefresh !== undefined || currentApiKey(options) === lastKey
        ? Effect.succeed(inUse)
        : Effect.as(signInWithNewKey, inUse);
    });

    return {
      token,
      isInUse: (token) => current?.token === token,
      isLasting: (error) => error._tag === "NotAuthenticated" || lasting.has(error),
      reject: (rejected) =>
        Effect.sync(() => {
          if (current?.token === rejected) current = undefined;
        }),
    };
  });
