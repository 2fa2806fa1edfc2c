import { Clock, Deferred, Effect, Exit, Redacted } from "effect";
import { RateLimiter } from "effect/persistence";
import type { Assumptions } from "../contract/assumptions.ts";
import type { Token } from "../contract/auth.ts";
import { API_KEY_HEADER, CLIENT_ID_HEADER } from "../contract/signed-in.ts";
import type { ClientOptions } from "./config.ts";
import { NotAuthenticated, RateLimited, Unavailable } from "./errors.ts";
import { type Operation, operation } from "./operations.ts";
import { readAnswer } from "./read-answer.ts";
import { type Failed, readNoAnswer, type TokenRejected } from "./reading.ts";
import type { Send } from "./send.ts";
import { type SignInError, SignInPermit } from "./sign-in-permit.ts";

/** The one session of a client. */
export interface Session {
  /** The token in use; signs in when there is none or it is about to expire. One flight for all. */
  readonly token: Effect.Effect<Redacted.Redacted, SignInError>;
  /** Says that the service did not accept `token`; the next call of `token` signs in again. */
  readonly reject: (token: Redacted.Redacted) => Effect.Effect<void>;
  /** Whether it is still the token in use: nobody has said that it was not accepted. */
  readonly isInUse: (token: Redacted.Redacted) => boolean;
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

/** What a person is to check where HTTP 403 without an envelope leaves it open who said no. */
const WHOEVER_SAID_NO =
  "Either PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY were refused, or a filter or gateway on the way " +
  "to the service turned the request away: check both.";

const about = { operation: "signIn", carriedOut: "no" } as const;

const limitReached = (why: string, retryAfter: number): RateLimited =>
  new RateLimited({ ...about, message: `Signing in failed (${why}).`, retryAfter });

const toSignInError = (
  failure: Failed | TokenRejected,
  { signInLimitMessage }: Assumptions,
  status?: number,
): SignInError => {
  const error = failure._tag === "Failed" ? failure.error : undefined;
  const why = failure._tag === "Failed" ? failure.error.message : failure.reason;
  if (error?._tag === "RateLimited") return error;
  if (error?._tag === "Refused" && new RegExp(signInLimitMessage, "i").test(error.reason)) {
    return limitReached(why, 60_000 / SIGN_INS_A_MINUTE);
  }
  const isTurnedDown =
    status === 401 ||
    status === 403 ||
    failure._tag === "TokenRejected" ||
    error?._tag === "Refused";
  if (!isTurnedDown) return new Unavailable({ ...about, message: `Signing in failed (${why}).` });
  const isOpen = status === 403 && error?._tag !== "Refused";
  const check = isOpen ? WHOEVER_SAID_NO : "Check PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY.";
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
): Effect.Effect<Session, never, RateLimiter.RateLimiter> =>
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.RateLimiter;
    const permit = yield* SignInPermit;
    let current: Current | undefined;
    let flight: Deferred.Deferred<Current, SignInError> | undefined;
    /** Of the current token. */
    let lastUsedAt = 0;
    /** Why the last sign-in failed. */
    let lastFault: string | undefined;
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
              message: `No sign-in was sent: ${SIGN_INS_A_MINUTE} in a minute is the budget. Check the API key and why tokens are rejected.${lastFault === undefined ? "" : ` The last one: ${lastFault}`}`,
              retryAfter: 60_000 / SIGN_INS_A_MINUTE,
            }),
        ),
      );

    const signIn = Effect.fn("signIn")(function* () {
      yield* takeFromBudget;
      yield* permit;
      const answer = yield* send({
        method: signInOperation.method,
        path: signInOperation.path,
        headers: {
          [CLIENT_ID_HEADER]: options.clientId,
          [API_KEY_HEADER]: Redacted.value(options.apiKey),
        },
        body: undefined,
        isAlone: false,
      }).pipe(
        Effect.mapError((noAnswer) =>
          toSignInError(readNoAnswer(signInOperation, noAnswer), options.assumptions),
        ),
      );
      const now = yield* Clock.currentTimeMillis;
      const reading = readAnswer(
        {
          operation: signInOperation,
          assumptions: options.assumptions,
          secrets: [Redacted.value(options.apiKey)],
          ids: [],
          isResend: false,
          isKeyed: false,
        },
        answer,
        now,
      );
      if (reading._tag !== "Success") {
        return yield* toSignInError(reading, options.assumptions, answer.status);
      }
      // signIn's answer decodes to the contract's Token.
      const token = reading.value as typeof Token.Type;
      const assumedLife = options.assumptions.tokenLifetimeSeconds * 1000;
      const stated = token.expires_at === undefined ? assumedLife : token.expires_at - now;
      // An expiry in the past tells of differing clocks, not of a token that is useless at once.
      const life = stated > 0 ? stated : assumedLife;
      const next: Current = {
        token: Redacted.make(token.auth_token),
        renewAt: now + untilRenewal(life),
      };
      return next;
    });

    const takeOff = (landing: Deferred.Deferred<Current, SignInError>) =>
      signIn().pipe(
        Effect.tapError(({ _tag, message }) =>
          Effect.sync(() => {
            // The budget's own failure says nothing new.
            if (_tag !== "RateLimited") lastFault = message;
          }),
        ),
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            flight = undefined;
            if (Exit.isSuccess(exit)) current = exit.value;
            return Deferred.done(landing, exit);
          }),
        ),
        // Detached, so that one caller's interruption does not end the others' sign-in.
        Effect.forkDetach,
      );

    const token: Session["token"] = Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - lastUsedAt >= idleMs) current = undefined;
        lastUsedAt = now;
        if (current !== undefined && now < current.renewAt) return Effect.succeed(current.token);
        const flying = flight;
        const landing = flying ?? Deferred.makeUnsafe<Current, SignInError>();
        flight = landing;
        return Effect.andThen(
          flying === undefined ? takeOff(landing) : Effect.void,
          Effect.map(restore(Deferred.await(landing)), (signedIn) => signedIn.token),
        );
      }),
    );

    return {
      token,
      isInUse: (token) => current?.token === token,
      reject: (rejected) =>
        Effect.sync(() => {
          if (current?.token === rejected) current = undefined;
        }),
    };
  });
